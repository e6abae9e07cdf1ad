/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common declarations of walk.c (the loop), look.c (looking up a pc and checking a step), walk_plain.c (the
 * fast path), walk_entry.c, walk_start.c and walk_exec.c.
 */
#pragma once

#include "unwinder/step.h"
#include "unwinder/walk.h"

/* A walk under way. */
struct walk {
	struct walker *walker;
	struct space *space;
	pid_t pid;
	struct stack *stack;
	struct pc_entry here; /* a copy: walk_look_again may change it */
	const struct sample *sample;
	bool is_interrupted; /* the present frame made no call: innermost, or behind a signal */
	bool has_jit;        /* a frame's code is in no file */
	bool can_recall;     /* the last stack of the thread may be known: looks are noted */
	bool has_lost_regs;  /* a frame's code need not keep registers for its caller, or did not tell */
	bool has_guessed;    /* a frame pointer alone led on where it may have skipped a caller */
	uint64_t goroutine;  /* that is interrupted; 0 = it is not known */
	uint64_t
		elsewhere; /* address of the saved sp of an interrupted stack that was not copied; 0 = none */
};

struct step_input;
/* Sets has_sp_from_fp and sp_from_fp, for a recipe that wants sp where it is not known. */
void walk_find_sp_from_fp(const struct walk *walk, uint32_t recipe, struct step_input *ret);
/* A signal with a stack of its own: notes where the stack that it interrupted is, if that was not copied. */
void walk_note_elsewhere(struct walk *walk, const struct recipe *recipe, uint64_t cfa);
/* The true return address of the frame with this CFA, if the kernel's own stands in its place and it is
 * known. */
bool walk_uncover(const struct walk *walk, uint64_t cfa, uint64_t *ra);
/* A function that has just returned to the kernel's address instead of its own: where it was to return to. */
bool walk_leave_probe(struct walk *walk, uint64_t *pc);

/* What is known of a pc. It stays where it is until the next walk. */
struct pc_entry *walk_look(struct walker *walker, struct space *space, pid_t pid, uint64_t pc,
			   bool is_return);
/*
 * The same for code in no file, after reading it again: it may have been overwritten since the page was last
 * read; and for code that was not looked at so far, when it has been. False if nothing has changed.
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
 * Is this verdict not enough? Unwind entries are right where a function calls, because exceptions need that.
 * Where it was interrupted they may be wrong, unless they tell of its end, too: then the entry alone is
 * believed only if it leads to a call of this function.
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

	return (struct frame){ .pc = here->pc,
			       .vaddr = vaddr,
			       .image = here->image,
			       .is_return = here->is_return && !here->place.is_trampoline && vaddr > 0 };
}

/* cursor_held of the registers that the recipe restores. 0 if that is not the usual recipe of the place:
 * another one may restore others, and the two cannot be compared. */
uint64_t walk_held(const struct walk *walk, uint32_t recipe);
/* Code that is in no file leaves in registers what says nothing of its callers. */
static inline bool walk_is_told(const struct walk *walk)
{
	return !walk->has_jit && !walk->has_lost_regs;
}

/* What tells this call from others. Code that is in no file may be moved, and its frames replaced. */
static inline void walk_tell_apart(const struct pc_entry *here, uint64_t cfa, uint64_t held,
				   struct frame *ret)
{
	ret->cfa = here->is_jit ? 0 : cfa;
	ret->held = held;
}

/*
 * A function that saves all registers there are to save is often the way into code that keeps none (OCaml,
 * LuaJIT): what is in them while it has called is not its own.
 */
static inline bool walk_is_gateway(const struct isa *isa, uint64_t saved)
{
	uint64_t all = isa->callee_saved & ~(1ull << isa->ra);

	return (saved & all) == all;
}

/*
 * Makes plain steps for as long as possible; the frames that were left are on the stack. With can_recall,
 * makes at most one: true if it did.
 */
bool walk_plainly(struct walk *walk);

/* For code that has no recipe because it has not made a frame yet; RECIPE_NONE if that cannot be shown. */
uint32_t walk_find_entry_recipe(struct walk *walk);
/* What MANAGED_HOTSPOT_ENTERED, a possibility, turns out to be. */
enum managed_kind walk_confirm_entered(struct walk *walk);

/* Does a stack begin with the frame from which this step could not be checked? Then why; else NULL. */
const char *walk_start_note(struct walk *walk, uint32_t recipe, const struct step_result *step);
/* The present frame is interrupted: notes in which goroutine. */
void walk_note_goroutine(struct walk *walk);
/* All but the first n_before frames are the last stack's: notes whose they are now. */
void walk_check_goroutine(struct walk *walk, size_t n_before);
/* The stack begins here. No call leads to where a goroutine's does, nor a fiber's: that is noted. */
void walk_note_coroutine(struct walk *walk);

/* Before a walk: are there no user frames, because the kernel carries out an exec? After one: were there
 * none? Then those that were found are dropped. pc: of the sample. */
bool walk_is_in_exec(struct walk *walk, const struct sample *sample);
void walk_end_in_exec(struct walk *walk, uint64_t pc);
