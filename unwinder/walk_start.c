/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_start: stacks whose outermost frame has a return address of zero.
 */
#include "unwinder/walk_private.h"

#define MAX_ARGUMENTS (1u << 16)

/*
 * Are the arguments at the CFA, as the kernel leaves them for a new program: their number, that many
 * addresses above it, a zero? If calls push nothing, a program may jump from its entry point to C code, which
 * then returns to the zero that the kernel left in the register.
 */
static bool start_is_program(struct walk *walk, const struct step_result *step)
{
	struct cursor *cursor = &walk->walker->cursor;
	uint64_t cfa = step->cfa, n = 0, first = 0, behind = 0;

	if (step->ra || walk->walker->isa->call_pushes_ra || cursor_read(cursor, cfa, 8, &n) != MEMORY_OK)
		return false;
	return n && n < MAX_ARGUMENTS && cursor_read(cursor, cfa + 8, 8, &first) == MEMORY_OK &&
	       first > cfa && cursor_read(cursor, cfa + 8 * (n + 1), 8, &behind) == MEMORY_OK && !behind;
}

#define PAGE 4096u

/*
 * Does a coroutine's stack begin here? Its first function has no caller and no frame pointer to restore: both
 * are zero, or the frame pointer is the end of the stack (D), and above it is the end of the allocated
 * memory, whole pages. Blank memory also contains zeros: if functions keep frame records, this one's must be
 * the end of the chain that led here.
 */
static bool start_is_coroutine(struct walk *walk, uint32_t recipe, const struct step_result *step)
{
	struct walker *walker = walk->walker;
	struct cursor *cursor = &walker->cursor;
	uint64_t cfa = step->cfa, sp, fp, next = 1, ra = 1;
	enum trust trust = knowledge_recipes(walker->knowledge)->recipes.at[recipe].trust;

	if (step->ra || !cfa || cfa % PAGE || walk->is_interrupted || trust == TRUST_GUESS ||
	    walker->mode == UNWIND_FP || !cursor_caller_reg(cursor, walker->isa->fp, &next) ||
	    (next && next != cfa) || !cursor_reg(cursor, walker->isa->sp, &sp))
		return false;
	if (walker->isa->call_pushes_ra)
		return true;
	return cursor_reg(cursor, walker->isa->fp, &fp) && fp >= sp && fp < cfa &&
	       cursor_read(cursor, fp, 8, &next) == MEMORY_OK && !next &&
	       cursor_read(cursor, fp + 8, 8, &ra) == MEMORY_OK && !ra;
}

const char *walk_start_note(struct walk *walk, uint32_t recipe, const struct step_result *step)
{
	if (start_is_program(walk, step))
		return "this is the outermost frame: the program's arguments lie above it";
	return start_is_coroutine(walk, recipe, step) ? "this is the outermost frame of a coroutine" : NULL;
}

void walk_note_goroutine(struct walk *walk)
{
	struct walker *walker = walk->walker;

	if (!walk->here.place.has_goroutine ||
	    !cursor_reg(&walker->cursor, walker->isa->goroutine, &walk->goroutine))
		walk->goroutine = 0;
}

void walk_note_coroutine(struct walk *walk)
{
	struct frame *frame = &walk->stack->frames.at[walk->stack->frames.n - 1];

	if (!walk->here.place.is_trampoline)
		return;
	frame->cfa = FRAME_OF_COROUTINE;
	frame->held = walk->here.place.has_goroutine ? walk->goroutine : 0;
}

/* The last interrupted goroutine is known, unless it was interrupted by a signal in the part that is
 * recalled. */
void walk_check_goroutine(struct walk *walk, size_t n_before)
{
	struct stack *stack = walk->stack;
	size_t last = stack->frames.n - 1;

	if (stack->frames.at[last].cfa != FRAME_OF_COROUTINE ||
	    stack->frames.at[last].held == walk->goroutine)
		return;
	stack->frames.at[last].held = walk->goroutine;
	for (size_t i = n_before + 1; i < last; i++)
		if (!stack->frames.at[i].is_return)
			stack->frames.at[last].held = 0;
}
