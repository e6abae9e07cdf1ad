/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_entry: JIT code that was interrupted before it had set up a frame, and code that has none of its own.
 */
#include "unwinder/walk_private.h"

#define JUST_CALLED_MAX 256 /* bytes of code from an entry in which nothing changes the stack */

/*
 * A runtime's stub that ends in a jump to the method it has found: the call before the address in the return
 * address register leads to code just before this pc, which has changed neither the stack nor that register.
 */
static bool walk_is_just_called(struct walk *walk)
{
	struct walker *walker = walk->walker;
	const struct isa *isa = walker->isa;
	uint64_t ra;

	if (isa->call_pushes_ra || walker->mode != UNWIND_AUTO || !walk->is_interrupted ||
	    !walk->here.is_jit || walk->here.place.recipes.recipe[0] != RECIPE_NONE ||
	    !cursor_reg(&walker->cursor, isa->ra, &ra))
		return false;
	ra = isa->strip_pc(ra);
	const struct pc_entry *caller = walk_look(walker, walk->space, walk->pid, ra, true);
	uint64_t entry = caller->place.call_target;
	return caller->is_jit && caller->place.call == CALL_DIRECT &&
	       walk->here.pc - entry < JUST_CALLED_MAX &&
	       jit_is_untouched(walker->jit, walk->pid, entry, walk->here.pc);
}

/* Code of a file that has no return address of its own: it runs in the frame of the code that has jumped or
 * returned to it. */
static uint32_t walk_find_continued(const struct walk *walk)
{
	const struct pc_entry *here = &walk->here;
	uint64_t at = here->pc - here->bias - here->is_return;

	if (here->is_jit || here->place.recipes.recipe[1] != RECIPE_NONE ||
	    here->place.call == CALL_CONTINUED)
		return RECIPE_NONE;
	return knowledge_ask(walk->walker->knowledge, ASK_CONTINUED, here->image, at, false).recipe;
}

uint32_t walk_find_entry_recipe(struct walk *walk)
{
	struct walker *walker = walk->walker;
	struct hotspot_place place = { walk->pid, walk->here.pc, false };
	uint32_t continued = walk_find_continued(walk);

	if (continued != RECIPE_NONE)
		return continued;

	if (walk_is_just_called(walk))
		return walker->managed[MANAGED_HOTSPOT_ENTERED];
	if (!walk->is_interrupted || !walk->here.is_jit || walker->mode != UNWIND_AUTO ||
	    walk->here.place.recipes.recipe[0] != RECIPE_NONE)
		return RECIPE_NONE;
	return hotspot_entry_recipe(walker->hotspot, walk->space, &place);
}

#define RETURN_ENTRY_MAX 64 /* bytes in which a method that was returned to restores its own frame */

/*
 * What is left of a possibility: does a new method return to the interpreter? Or has one just done so, which
 * has not restored its register yet? x86-64: or does the interpreter use that register for something else?
 */
enum managed_kind walk_confirm_entered(struct walk *walk)
{
	struct walker *walker = walk->walker;
	uint64_t ra;

	if (walker->isa->call_pushes_ra)
		return walk->here.is_jit && jit_uses_frame(walker->jit, walk->pid, walk->here.pc)
			       ? MANAGED_HOTSPOT_INTERPRETED
			       : MANAGED_NONE;
	if (!cursor_reg(&walker->cursor, walker->isa->ra, &ra))
		return MANAGED_NONE;
	ra = walker->isa->strip_pc(ra);
	const struct pc_entry *caller = walk_look(walker, walk->space, walk->pid, ra, true);
	if (!caller->is_jit || caller->place.call != CALL_NONE)
		return MANAGED_NONE;
	return walk->here.pc - ra < RETURN_ENTRY_MAX ? MANAGED_HOTSPOT_INTERPRETED : MANAGED_HOTSPOT_ENTERED;
}
