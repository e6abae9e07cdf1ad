/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shadow: the true call stack of a thread, tracked by observing every instruction it executes.
 *
 * A call adds an entry; the entry is gone when its frame is: on machines that push the return address
 * when sp has risen above its slot, on others when control is back behind the call or sp has risen
 * above the caller's. So tail calls add nothing, and longjmp and exceptions, which drop many frames
 * at once, need no rule but one: between the moment they move sp and the jump that follows the stack
 * is nobody's, which is_settled tells. A function may also pop its return address only to have a look at it,
 * and put it back before it jumps on, as OCaml's calls of C do: then the entry is back, too.
 *
 * Each piece of memory that serves as a stack (a signal's, a coroutine's) has its own list: addresses
 * of two stacks say nothing about each other. Two stacks in one mapping, as two arrays of a program are,
 * cannot be told apart: there the shadow itself is wrong.
 *
 * No side effects: it is informed of what happened and reads nothing itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "binary/isa/isa.h"

struct shadow_entry {
	uint64_t ra;       /* where it will return to; where it was interrupted */
	uint64_t sp;       /* the slot of the return address, or sp at the call */
	uint64_t slot;     /* where the return address was saved; 0 = nowhere yet */
	uint64_t call;     /* its number: no other has it */
	bool is_interrupt; /* ra was interrupted by a signal: it does not follow a call */
};

struct shadow_stack {
	uint64_t region;    /* identifies the memory */
	size_t interrupted; /* index of the stack a signal came from; itself if none */
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
	bool is_settled; /* false: a non-local jump is under way, nobody can say what the stack is */
	struct shadow_entry popped; /* the one whose return address was just popped; its ra is 0 = none */
};

void shadow_init(struct shadow *shadow, const struct isa *isa);
void shadow_done(struct shadow *shadow);
/* A new program: no frames, on the stack in that region. */
void shadow_reset(struct shadow *shadow, uint64_t region);

/* One instruction was executed. */
struct shadow_step {
	uint8_t flow;    /* enum insn_flow of the instruction */
	uint64_t next;   /* the address behind it */
	uint64_t pc, sp; /* now */
	uint64_t region; /* of sp, now */
	uint64_t ra;     /* the return address in its place: the register, or the word at sp */
};
void shadow_step(struct shadow *shadow, const struct shadow_step *step);

/* The return address was stored: the innermost call's, if it is the same. Before the step is told. */
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
