/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look: what a walk knows about a pc, and how it checks a step with it.
 */
#include <stdio.h>

#include "unwinder/walk_private.h"

/* Where a direct call leads to: possibly from its target to another function? */
enum leads { LEADS_UNKNOWN, LEADS_ON, LEADS_THERE };

/* The pseudo-image for addresses that belong to no file. */
static image_id look_pseudo_image(struct walker *walker, pid_t pid, bool is_mapped)
{
	char name[32];

	if (is_mapped) {
		snprintf(name, sizeof(name), "[jit %d]", (int)pid);
		return images_add_jit(walker->images, name, pid);
	}
	if (walker->unknown == IMAGE_NONE)
		walker->unknown = images_add_pseudo(walker->images, IMAGE_UNKNOWN, "[unknown]", NULL);
	return walker->unknown;
}

static uint32_t look_ask_runtime(struct walker *walker, struct space *space, pid_t pid,
				 const struct pc_entry *entry, bool is_anew)
{
	struct hotspot_place place = { pid, entry->pc, entry->is_return };

	return hotspot_recipe(walker->hotspot, space, &place, is_anew);
}

/*
 * Analysis comes first; then the runtime's description of the frame or, without one, the frame pointer, which
 * most JIT compilers maintain: a guess. Code that was interrupted, and for which analysis has a recipe, may
 * have left its frame already, or not set it up yet.
 */
static void look_at_jit(struct walker *walker, struct space *space, pid_t pid, struct pc_entry *entry)
{
	struct recipe_pair *recipes = &entry->place.recipes;
	uint32_t stated = RECIPE_NONE;

	jit_place(walker->jit, pid, entry->pc, entry->is_return, &entry->place);
	if (walker->mode == UNWIND_CFI || walker->mode == UNWIND_FP)
		recipes->recipe[0] = RECIPE_NONE;
	if (walker->mode != UNWIND_AUTO)
		return;
	if (entry->is_return || recipes->recipe[0] == RECIPE_NONE)
		stated = look_ask_runtime(walker, space, pid, entry, false);
	entry->is_stated = stated != RECIPE_NONE;
	recipes->recipe[1] = entry->is_stated ? stated : knowledge_frame_pointer(walker->knowledge);
}

static void look_fill(struct walker *walker, struct space *space, pid_t pid, struct pc_entry *entry)
{
	const struct space_map *map = space ? space_find(space, entry->pc) : NULL;

	entry->is_mapped = map && map->is_executable;
	entry->image = map ? map->image : IMAGE_NONE;
	entry->bias = map ? map->bias : 0;
	if (entry->image == IMAGE_NONE) {
		entry->bias = 0;
		entry->image = look_pseudo_image(walker, pid, entry->is_mapped);
	}
	bool is_jit = entry->is_mapped && images_peek(walker->images, entry->image)->kind == IMAGE_JIT;
	entry->is_jit = is_jit;
	entry->leads = LEADS_UNKNOWN;
	entry->asked_for = VADDR_NONE;
	entry->has_name = entry->is_stated = false;
	entry->epoch = is_jit ? code_pages_epoch(walker->code) : 0;
	entry->version = is_jit ? code_pages_version(walker->code, pid, entry->pc) : 0;
	if (is_jit)
		look_at_jit(walker, space, pid, entry);
	else
		knowledge_place(walker->knowledge, entry->image, entry->pc - entry->bias, entry->is_return,
				&entry->place);
}

struct pc_entry *walk_look(struct walker *walker, struct space *space, pid_t pid, uint64_t pc, bool is_return)
{
	uint64_t generation = space ? space->generation : 0;
	struct pc_entry *entry = pc_table_entry(&walker->pcs, pid, pc, is_return);

	if (entry->generation == generation && generation &&
	    (!entry->is_jit || entry->epoch == code_pages_epoch(walker->code))) {
		walker->stats.cache_hits++;
		return entry;
	}
	walker->stats.cache_misses++;
	entry->generation = generation;
	look_fill(walker, space, pid, entry);
	if (entry->place.is_early && !is_return)
		entry->generation = 0; /* to be looked up again: its function is analysed after some times */
	return entry;
}

static bool look_closer(struct walker *walker, const struct space *space, pid_t pid, struct pc_entry *entry)
{
	if (!entry->place.is_early)
		return false;
	knowledge_place_now(walker->knowledge, entry->image, entry->pc - entry->bias, entry->is_return,
			    &entry->place);
	entry->generation = space ? space->generation : 0;
	*pc_table_entry(&walker->pcs, pid, entry->pc, entry->is_return) = *entry;
	return true;
}

bool walk_look_again(struct walker *walker, struct space *space, pid_t pid, struct pc_entry *entry)
{
	if (!entry->is_jit)
		return look_closer(walker, space, pid, entry);
	bool is_new = code_pages_renew(walker->code, pid, entry->pc);
	is_new |= entry->version != code_pages_version(walker->code, pid, entry->pc);
	/* Compiled since the runtime's tables were read? */
	if (!entry->is_stated && walker->mode == UNWIND_AUTO)
		is_new |= look_ask_runtime(walker, space, pid, entry, true) != RECIPE_NONE;
	if (!is_new)
		return false;
	look_fill(walker, space, pid, entry);
	*pc_table_entry(&walker->pcs, pid, entry->pc, entry->is_return) = *entry;
	return true;
}

/* Does the call lead through a stub to the function with the name of the stub's symbol? The answer for the
 * last callee is cached. */
static bool look_leads_by_name(struct walker *walker, const struct callee *callee, struct pc_entry *caller)
{
	if (caller->asked_for == callee->function && caller->asked_for_image == callee->image)
		return caller->has_name;
	caller->asked_for = callee->function;
	caller->asked_for_image = callee->image;
	caller->has_name = knowledge_stub_leads_to(
		walker->knowledge, caller->image, caller->place.call_target, callee->image, callee->function);
	return caller->has_name;
}

static enum verdict look_judge_direct(struct walker *walker, const struct callee *callee,
				      struct pc_entry *caller)
{
	uint64_t target = caller->place.call_target;

	if (callee->image == caller->image && callee->function == target)
		return VERDICT_VALID;
	if (caller->leads == LEADS_UNKNOWN)
		caller->leads = knowledge_number(walker->knowledge, ASK_MAY_LEAVE, caller->image, target, 0)
					? LEADS_ON
					: LEADS_THERE;
	if (caller->leads == LEADS_ON)
		return look_leads_by_name(walker, callee, caller) ? VERDICT_VALID : VERDICT_LIKELY;
	/* Unrolled loops are entered in the middle, depending on the number of remaining iterations. */
	bool is_inside =
		callee->image == caller->image &&
		knowledge_number(walker->knowledge, ASK_HOLDS, caller->image, callee->function, target);
	return is_inside ? VERDICT_LIKELY : VERDICT_INVALID;
}

enum verdict walk_judge(struct walker *walker, const struct callee *callee, struct pc_entry *caller)
{
	if (!caller->is_mapped)
		return VERDICT_INVALID;
	/* The kernel set the handler's return address; the handler may be anything. */
	if (caller->place.is_trampoline)
		return VERDICT_VALID;
	switch ((enum place_call)caller->place.call) {
	case CALL_NONE:
		return VERDICT_INVALID;
	case CALL_DIRECT:
		return look_judge_direct(walker, callee, caller);
	case CALL_INDIRECT:
	case CALL_UNKNOWN:
	case CALL_CONTINUED:
		break;
	}
	return VERDICT_LIKELY;
}

void walker_init(struct walker *walker, struct images *images, const struct isa *isa,
		 const struct unwinder_options *options)
{
	*walker =
		(struct walker){ .images = images, .isa = isa, .mode = options->mode, .unknown = IMAGE_NONE };
	walker->knowledge = knowledge_new(images, isa, options->mode, options->store);
	knowledge_set_patience(walker->knowledge, options->patience);
	walker->pcs.max =
		options->patience ? PC_TABLE_FEW : PC_TABLE_MAX; /* patience is for whole machines */
	walker->code = code_pages_new(options->read_code, options->read_context);
	walker->jit = jit_new(isa, walker->code, knowledge_recipes(walker->knowledge));
	walker->hotspot = hotspot_new(isa, images, walker->code, knowledge_recipes(walker->knowledge));
	for (unsigned kind = 0; kind < MANAGED_N; kind++)
		walker->managed[kind] =
			managed_recipe((enum managed_kind)kind, isa, knowledge_recipes(walker->knowledge));
	walker->recalls = options->walks_in_full ? NULL : recalls_new(isa);
	walker->depend = options->notes_words ? alloc_zero(1, sizeof(*walker->depend)) : NULL;
	cursor_init(&walker->cursor, options->read_memory, options->read_context);
}

void walker_done(struct walker *walker)
{
	jit_free(walker->jit);
	hotspot_free(walker->hotspot);
	code_pages_free(walker->code);
	knowledge_free(walker->knowledge);
	recalls_free(walker->recalls);
	if (walker->depend)
		depend_done(walker->depend);
	free(walker->depend);
	pc_table_done(&walker->pcs);
}
