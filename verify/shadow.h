/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shadow: the true call stack of a thread, tracked by observing every instruction it executes.
 *
 * A call adds an entry, which is removed when its frame is: on machines that push the return address, when sp
 * is above its slot; on others, when control is back after the call or sp is above the caller's. So tail
 * calls add nothing, and longjmp and exceptions, which drop many frames at once, need only one rule: between
 * the change of sp and the following jump the stack is undefined (is_settled is false). A function may also
 * pop its return address only to read it, and push it again before it jumps on, as OCaml's calls of C do:
 * then the entry is restored.
 *
 * Each piece of memory that is used as a stack (a signal's, a coroutine's) has its own list, because
 * addresses of different stacks cannot be compared. Two stacks in one mapping, such as two arrays of a
 * program, cannot be distinguished: then the shadow itself is wrong.
 *
 * No side effects: the caller reports what happened, and nothing is read here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "binary/isa/isa.h"

struct shadow_entry {
	uint64_t ra;       /* return address; or where it was interrupted */
	uint64_t sp;       /* the slot of the return address, or sp at the call */
	uint64_t slot;     /* where the return address was saved; 0 = nowhere yet */
	uint64_t call;     /* a unique number */
	bool is_interrupt; /* ra was interrupted by a signal: it does not follow a call */
};

struct shadow_stack {
	uint64_t region;    /* identifies the memory */
	size_t interrupted; /* index of the stack that a signal interrupted; itself if none */
	VEC(struct shadow_entry) entries;
};

struct shadow {
	const struct isa *isa;
	struct {
		struct shadow_stack *at;
		size_t n, cap;
	} stacks;
	size_t current;
	uint64_t n_calls;
	bool is_settled;            /* false: in the middle of a non-local jump, the stack is undefined */
	struct shadow_entry popped; /* the entry whose return address was just popped; ra 0 = none */
};

void shadow_init(struct shadow *shadow, const struct isa *isa);
void shadow_done(struct shadow *shadow);
/* A new program: no frames, on the stack in that region. */
void shadow_reset(struct shadow *shadow, uint64_t region);

/* One instruction was executed. */
struct shadow_step {
	uint8_t flow;    /* enum insn_flow of the instruction */
	uint64_t next;   /* the address after it */
	uint64_t pc, sp; /* now */
	uint64_t region; /* of sp, now */
	uint64_t ra;     /* the return address: in its register, or the word at sp */
	bool is_moved;   /* sp is relative to the end of the stack, which may be moved */
};
void shadow_step(struct shadow *shadow, const struct shadow_step *step);

/* The return address was stored: that of the innermost call, if it is the same. To be called before
 * shadow_step. */
void shadow_saved(struct shadow *shadow, uint64_t ra, uint64_t slot);

/* A signal handler was entered: it will return to the trampoline, which resumes at pc with sp. */
struct shadow_signal {
	uint64_t pc, sp; /* interrupted */
	uint64_t trampoline;
	uint64_t handler_sp; /* now */
	uint64_t region;     /* of handler_sp */
};
void shadow_signal(struct shadow *shadow, const struct shadow_signal *signal);
/* The trampoline's system call was executed: the innermost signal is over, wherever it resumed. */
void shadow_signal_return(struct shadow *shadow, uint64_t pc, uint64_t sp, uint64_t region);

/* Return addresses, innermost first. */
struct shadow_walk {
	const struct shadow *shadow;
	size_t stack, left;
};
struct shadow_walk shadow_walk(const struct shadow *shadow);
const struct shadow_entry *shadow_walk_next(struct shadow_walk *walk);
