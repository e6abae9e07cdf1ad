/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_top: where each thread's stack ends, so that a snapshot can be cut there.
 *
 * The kernel copies what lies above sp, whatever it is: the snapshot of a thread near the top of its
 * stack runs on into its neighbours. The mapping that holds sp is looked up once a thread (the
 * callback reads a file) and remembered until the thread ends, execs or leaves it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stack_range {
	uint64_t start, end; /* end 0 = not known */
};

/* The mapping of the thread's process that holds sp; end 0 if there is none. */
typedef struct stack_range (*stack_finder)(void *context, pid_t tid, uint64_t sp);

struct stack_tops;
struct stack_tops *stack_tops_new(stack_finder find, void *context);
void stack_tops_free(struct stack_tops *tops);

/* How many of len bytes copied from sp upwards are the thread's stack; len if its mapping is not known. */
uint64_t stack_tops_clip(struct stack_tops *tops, pid_t tid, uint64_t time_ns, uint64_t sp, uint64_t len);
/* The thread is new, gone, or runs another program. */
void stack_tops_forget(struct stack_tops *tops, pid_t tid);
