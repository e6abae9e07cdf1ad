/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_probe: what the kernel's probes (uprobes, uretprobes) change in a thread: return addresses are
 * replaced, and the thread executes code that the kernel has mapped into the process.
 */
#include "recipes/template.h"
#include "unwinder/walk_private.h"

#define BREAKPOINT_X86 0xcc /* one byte */

/*
 * The breakpoint of a probe is in memory, but not in the file: there it may be the program's own, or padding
 * before a function whose probe was hit, to which the kernel has already set pc back.
 */
uint64_t walk_undo_break(const struct walk *walk, uint64_t pc)
{
	struct walker *walker = walk->walker;

	if (!walk->sample->is_after_break)
		return pc;
	const struct pc_entry *entry = walk_look(walker, walk->space, walk->pid, pc - 1, false);
	const struct image *image = entry->is_mapped ? images_get(walker->images, entry->image) : NULL;
	struct bytes code = image ? image_bytes(image, entry->pc - entry->bias) : (struct bytes){ 0 };
	if (!code.len || code.at[0] == BREAKPOINT_X86)
		return pc;
	/* If both addresses are probed, it is not known which. */
	return walk->sample->is_at_break && (code.len < 2 || code.at[1] != BREAKPOINT_X86) ? pc : pc - 1;
}

/* The address that the kernel has recorded for the function that was entered with this sp. */
static bool walk_find_hidden(const struct walk *walk, uint64_t stack, uint64_t *ra)
{
	for (uint32_t i = 0; i < walk->sample->n_hidden; i++)
		if (walk->sample->hidden[i].stack == stack && !walk->sample->hidden[i].is_maybe) {
			*ra = walk->sample->hidden[i].address;
			return true;
		}
	return false;
}

static uint64_t walk_entry_sp(const struct walk *walk, uint64_t cfa)
{
	return cfa - (walk->walker->isa->call_pushes_ra ? sizeof(uint64_t) : 0);
}

/* Is it impossible that the frame is called from here, because this caller's own frame would not lead to a
 * call of it? False if that cannot be shown. */
static bool walk_is_dead_end(const struct walk *walk, const struct pc_entry *caller)
{
	struct walker *walker = walk->walker;
	uint32_t recipe = caller->place.recipes.recipe[0];
	struct cursor cursor;
	struct step_input input = { .isa = walker->isa,
				    .recipes = knowledge_recipes(walker->knowledge),
				    .cursor = &cursor,
				    .bias = caller->bias };
	struct step_result step;

	cursor_look_ahead(&walker->cursor, &cursor);
	if (caller->place.is_root || recipe == RECIPE_NONE || step_apply(&input, recipe, &step) != STEP_OK)
		return false;
	struct callee callee = { caller->image, caller->place.function };
	struct pc_entry *next = walk_look(walker, walk->space, walk->pid, step.ra, true);
	if (next->place.is_trampoline && walk_find_hidden(walk, walk_entry_sp(walk, step.cfa), &step.ra))
		next = walk_look(walker, walk->space, walk->pid, step.ra, true);
	return walk_judge(walker, &callee, next) == VERDICT_INVALID;
}

/*
 * Of all candidates for the return address, the only one that follows a call which leads here. There may be
 * old ones among them, of earlier calls of the same function, and addresses of data, which are no call's.
 */
static bool walk_choose(const struct walk *walk, uint64_t stack, uint64_t *ra)
{
	struct walker *walker = walk->walker;
	struct callee callee = { walk->here.image, walk->here.place.function };
	unsigned n = 0;

	for (uint32_t i = 0; i < walk->sample->n_hidden; i++) {
		const struct hidden_return *it = &walk->sample->hidden[i];
		if (!it->is_maybe || it->stack != stack || it->address == walk->here.pc)
			continue;
		struct pc_entry *caller = walk_look(walker, walk->space, walk->pid, it->address, true);
		if (caller->place.is_trampoline || caller->place.call == CALL_UNKNOWN ||
		    walk_judge(walker, &callee, caller) == VERDICT_INVALID || walk_is_dead_end(walk, caller))
			continue;
		*ra = it->address;
		n++;
	}
	return n == 1;
}

bool walk_uncover(const struct walk *walk, uint64_t cfa, uint64_t *ra)
{
	uint64_t stack = walk_entry_sp(walk, cfa), chosen;

	if (walk_find_hidden(walk, stack, ra))
		return true;
	if (!walk_choose(walk, stack, &chosen))
		return false;
	*ra = chosen;
	return true;
}

/*
 * x86-64, since Linux 6.11: the kernel's code at its return address saves three registers, makes a system
 * call, and returns through a word that the call has written over the first of them. By offset in that code.
 */
#define PROBE_SAVES 3
#define PROBE_CALLED 13
#define PROBE_POPPED 15
#define PROBE_RETURNS 16

/* Is the pc in the kernel's page for probes? */
static bool walk_is_at_probe(const struct walk *walk)
{
	return walk->here.place.is_trampoline &&
	       template_is_uprobes(images_peek(walk->walker->images, walk->here.image));
}

/* If the system call is over: the offset of that word from sp. False if it is not. */
static bool walk_find_probe_word(const struct walk *walk, uint64_t *ret_distance)
{
	uint64_t at = walk->here.pc - walk->here.bias;

	*ret_distance = at == PROBE_CALLED ? 16 : at == PROBE_POPPED ? 8 : 0;
	return walk->walker->isa->call_pushes_ra && walk_is_at_probe(walk) &&
	       (at == PROBE_CALLED || at == PROBE_POPPED || at == PROBE_RETURNS);
}

/*
 * x86-64, since Linux 6.18: the code that a probed nop calls saves three registers, makes a system call,
 * restores them and returns. How many are on the stack, by offset in that code.
 */
static const uint8_t call_saves[] = { 0, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 1, 0 };

/* In that code: the offset of the return address from sp. False if it is elsewhere. */
static bool walk_find_nop_word(const struct walk *walk, uint64_t *ret_distance)
{
	uint64_t at = walk->here.pc - walk->here.bias;

	if (!walk->here.place.is_trampoline || at >= sizeof(call_saves) ||
	    !template_is_uprobes_call(images_peek(walk->walker->images, walk->here.image)))
		return false;
	*ret_distance = sizeof(uint64_t) * call_saves[at];
	return true;
}

/* sp as the function left it, after its return. */
static void walk_restore_sp(const struct walk *walk, uint64_t sp)
{
	struct cursor *cursor = &walk->walker->cursor;

	cursor_attempt(cursor);
	cursor_inherit(cursor, UINT64_MAX);
	cursor_give(cursor, walk->walker->isa->sp, sp);
	cursor_advance(cursor);
}

bool walk_leave_probe(struct walk *walk, uint64_t *pc)
{
	const struct isa *isa = walk->walker->isa;
	uint64_t sp, word, distance, popped = isa->call_pushes_ra ? sizeof(uint64_t) : 0;
	bool is_probe = walk_is_at_probe(walk), is_nop = walk_find_nop_word(walk, &distance);

	if ((walk->here.is_mapped && !is_probe && !is_nop) ||
	    !cursor_reg(&walk->walker->cursor, isa->sp, &sp))
		return false;
	for (uint64_t i = 0; !is_nop && walk->sample->n_hidden && i <= (is_probe && popped ? PROBE_SAVES : 0);
	     i++) {
		const struct hidden_return *last = &walk->sample->hidden[0];
		if (last->stack != sp + i * sizeof(uint64_t) - popped)
			continue;
		*pc = last->address;
		walk->is_interrupted = false;
		walk_restore_sp(walk, sp + i * sizeof(uint64_t));
		return true;
	}
	if ((!is_nop && !walk_find_probe_word(walk, &distance)) ||
	    cursor_read(&walk->walker->cursor, sp + distance, sizeof(word), &word) != MEMORY_OK)
		return false;
	*pc = word;
	walk->is_interrupted = false;
	walk_restore_sp(walk, sp + distance + popped);
	return true;
}
