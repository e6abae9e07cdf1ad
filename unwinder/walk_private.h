/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common declarations of walk.c (the loop), look.c (looking up a pc and checking a step), walk_plain.c (the
 * fast path), walk_entry.c, walk_find.c, walk_probe.c, walk_start.c and walk_exec.c.
 */
#pragma once

#include "unwinder/step.h"
#include "unwinder/walk.h"

/* The state of a walk. */
struct walk {
	struct walker *walker;
	struct space *space;
	pid_t pid;
	struct stack *stack;
	struct pc_entry here; /* a copy: walk_look_again may change it */
	const struct sample *sample;
	bool is_interrupted; /* the current frame made no call: it is the innermost, or was interrupted by a
				signal */
	bool has_jit;        /* a frame's code is JIT code */
	bool can_recall;     /* the last stack of the thread may be known: accesses are recorded */
	bool has_lost_regs; /* a frame's code need not preserve registers for its caller, or that is not known
			     */
	bool has_guessed;   /* a step used only the frame pointer and may have skipped a caller */
	uint64_t goroutine; /* the interrupted goroutine; 0 = not known */
	uint64_t
		elsewhere; /* address of the saved sp of an interrupted stack that was not copied; 0 = none */
};

struct step_input;
/* Sets has_sp_from_fp and sp_from_fp, for a recipe that needs sp when it is not known. */
void walk_find_sp_from_fp(const struct walk *walk, uint32_t recipe, struct step_input *ret);
/* A signal with an alternate stack: records where the interrupted stack is, if that was not copied. */
void walk_note_elsewhere(struct walk *walk, const struct recipe *recipe, uint64_t cfa);
/* The true return address of the frame with this CFA, if the kernel has replaced it for a return probe and it
 * is known. */
bool walk_uncover(const struct walk *walk, uint64_t cfa, uint64_t *ra);
/* The pc of the sample; if that is behind the breakpoint of a probe, the pc of the probed instruction. */
uint64_t walk_undo_break(const struct walk *walk, uint64_t pc);
/* In the kernel's code for probes: where that was called, or where the function that has returned to it was.
 */
bool walk_leave_probe(struct walk *walk, uint64_t *pc);

/* What is known about a pc. The entry does not move until the next walk. */
struct pc_entry *walk_look(struct walker *walker, struct space *space, pid_t pid, uint64_t pc,
			   bool is_return);
/*
 * The same after reading JIT code again, which may have been overwritten since the page was last read; or
 * after analysing code that was not analysed so far. False if nothing has changed.
 */
bool walk_look_again(struct walker *walker, struct space *space, pid_t pid, struct pc_entry *entry);

/*
 * The verdict of a step from callee to caller: do the bytes before the return address call the callee?
 * VALID: yes. LIKELY: they call something that may lead there. INVALID: they do not.
 */
struct callee {
	image_id image;
	uint64_t function;
};
enum verdict walk_judge(struct walker *walker, const struct callee *callee, struct pc_entry *caller);

/*
 * Is this verdict insufficient? Unwind entries are correct at calls, because exceptions need that. Where a
 * function was interrupted, an entry that does not cover the epilogue may be wrong: alone, it is accepted
 * only if it leads to a call of this function.
 */
static inline bool walk_is_doubtful(const struct walk *walk, const struct pc_entry *here,
				    enum verdict verdict)
{
	return here->place.is_early && !here->place.is_exact && walk->is_interrupted &&
	       verdict != VERDICT_VALID;
}

static inline struct frame walk_frame(const struct pc_entry *here)
{
	uint64_t vaddr = here->pc - here->bias;
	bool is_call = !here->place.is_trampoline && here->place.call != CALL_CONTINUED;

	return (struct frame){ .pc = here->pc,
			       .vaddr = vaddr,
			       .image = here->image,
			       .is_return = here->is_return && is_call && vaddr > 0 };
}

/* cursor_held of the registers that the recipe restores. 0 if it is not the usual recipe of the place:
 * another recipe may restore other registers, and the two cannot be compared. */
uint64_t walk_held(const struct walk *walk, uint32_t recipe);
/* Do register values distinguish calls? JIT code leaves values in registers that say nothing about its
 * callers. */
static inline bool walk_is_told(const struct walk *walk)
{
	return !walk->has_jit && !walk->has_lost_regs;
}

/* Sets what distinguishes this call from others. JIT code may be moved, and its frames replaced. */
static inline void walk_tell_apart(const struct pc_entry *here, uint64_t cfa, uint64_t held,
				   struct frame *ret)
{
	ret->cfa = here->is_jit ? 0 : cfa;
	ret->held = held;
}

/*
 * A function that saves all callee-saved registers is often the entry into code that preserves none (OCaml,
 * LuaJIT): the values in them during its calls are not its own.
 */
static inline bool walk_is_gateway(const struct isa *isa, uint64_t saved)
{
	uint64_t all = isa->callee_saved & ~(1ull << isa->ra);

	return (saved & all) == all;
}

/*
 * Makes plain steps as long as possible; the frames that were left are added to the stack. With can_recall,
 * makes at most one: true if it did.
 */
bool walk_plainly(struct walk *walk);

/* For code that has no recipe because it has not set up a frame yet; RECIPE_NONE if that cannot be shown. */
uint32_t walk_find_entry_recipe(struct walk *walk);
/* What MANAGED_HOTSPOT_ENTERED, a possibility, turns out to be. */
enum managed_kind walk_confirm_entered(struct walk *walk);

/* If this step could not be checked: is its frame the outermost of the stack? Returns the reason, or NULL if
 * it is not. */
const char *walk_start_note(struct walk *walk, uint32_t recipe, const struct step_result *step);
/* The current frame is interrupted: records in which goroutine. */
void walk_note_goroutine(struct walk *walk);
/* All frames except the first n_before were taken from the last stack: records which goroutine they belong to
 * now. */
void walk_check_goroutine(struct walk *walk, size_t n_before);
/* The current frame is the outermost one. The outermost frame of a goroutine or fiber was not called: this is
 * recorded. */
void walk_note_coroutine(struct walk *walk);

/* Before a walk: are there no user frames, because the kernel is executing an exec? After a walk: drops the
 * frames that were found if that was the case. pc: of the sample. */
bool walk_is_in_exec(struct walk *walk, const struct sample *sample);
void walk_end_in_exec(struct walk *walk, uint64_t pc);
