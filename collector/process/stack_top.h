/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_top: where each thread's stack ends, so that a snapshot can be cut there.
 *
 * The kernel copies the memory above sp, whatever it is: the snapshot of a thread near the top of its stack
 * also contains neighbouring memory. The mapping that contains sp is looked up once per thread (the callback
 * reads a file) and cached until the thread ends, execs or leaves it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stack_range {
	uint64_t start, end; /* end 0 = not known */
};

/* The mapping of the thread's process that contains sp; end 0 if there is none. */
typedef struct stack_range (*stack_finder)(void *context, pid_t tid, uint64_t sp);

struct stack_tops;
struct stack_tops *stack_tops_new(stack_finder find, void *context);
void stack_tops_free(struct stack_tops *tops);

/* How many of len bytes copied from sp upwards belong to the thread's stack; len if its mapping is not known.
 */
uint64_t stack_tops_clip(struct stack_tops *tops, pid_t tid, uint64_t time_ns, uint64_t sp, uint64_t len);
/* The thread is new, has ended, or executes another program. */
void stack_tops_forget(struct stack_tops *tops, pid_t tid);
