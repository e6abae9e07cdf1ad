/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/functions.h"

#include <string.h>

#include "base/cleanup.h"
#include "report/diff/stem.h"
#include "report/label.h"

/* A function of the profile that is being added, once for all frames that show it. */
struct function_item {
	uint32_t module, build, texts[N_FUNCTION_KEYS], file;
	uint64_t vaddr; /* for one without a name, otherwise 0 */
	uint32_t frame; /* the first one that shows it */
	uint32_t found; /* UINT32_MAX = not yet */
};

struct function_items {
	struct numbering numbers;
	VEC(struct function_item) all;
};

struct index_key {
	uint32_t module, text, file;
};

void functions_init(struct functions *functions, struct modules *modules)
{
	*functions = (struct functions){ .modules = modules };
	for (size_t k = 0; k < N_FUNCTION_KEYS; k++)
		numbering_init(&functions->by[k].keys, sizeof(struct index_key));
	positions_init(&functions->positions);
}

void functions_done(struct functions *functions)
{
	for (size_t k = 0; k < N_FUNCTION_KEYS; k++) {
		numbering_done(&functions->by[k].keys);
		vec_done(&functions->by[k].function);
		vec_done(&functions->by[k].count);
	}
	positions_done(&functions->positions);
	vec_done(&functions->all);
	vec_done(&functions->taken_by);
}

uint32_t functions_string(struct functions *functions, const struct functions_from *from, uint32_t id)
{
	if (id >= from->profile->strings.strings.n)
		return 0;
	if (from->strings[id] == UINT32_MAX)
		from->strings[id] = intern_add(&functions->modules->names->strings,
					       intern_text(&from->profile->strings, id));
	return from->strings[id];
}

/* ---- keys of a function --------------------------------------------------------------------------- */

static bool function_has_no_name(const struct scope_frame *frame)
{
	return frame->flags & SCOPE_RECOVERED_NAME;
}

static uint32_t function_text(struct functions *functions, const char *name, size_t len)
{
	return intern_add_n(&functions->modules->names->strings, name, len);
}

/* A user may rename a function by its linkage name or by its displayed name, with or without arguments. */
static const char *function_rename(const struct functions_from *from, const char *linkage, const char *name)
{
	CLEANUP(freep) char *bare = alloc_text_n(name, stem_arguments(name));
	const char *by_linkage = renames_apply(from->renames, linkage);
	const char *by_name = renames_apply(from->renames, name);
	const char *by_bare = renames_apply(from->renames, bare);

	return by_linkage != linkage ? by_linkage
	       : by_name != name     ? by_name
	       : by_bare != bare     ? by_bare
				     : NULL;
}

static struct function_item function_item_of(struct functions *functions, const struct functions_from *from,
					     const struct scope_frame *frame)
{
	bool has_image = frame->image < from->profile->images.n;
	struct module_place place =
		has_image ? from->places[frame->image] : (struct module_place){ UINT32_MAX, UINT32_MAX };
	struct function_item item = { .module = place.module, .build = place.build, .found = UINT32_MAX };
	const char *name = intern_text(&from->profile->strings, frame->name);
	const char *linkage =
		intern_text(&from->profile->strings, frame->linkage ? frame->linkage : frame->name);
	const char *file = intern_text(&from->profile->strings, frame->file);

	if (frame->kind == SCOPE_UNKNOWN) /* everything unknown in a module is one */
		return item;
	if (function_has_no_name(frame)) {
		item.vaddr = frame->vaddr;
		item.texts[BY_LINKAGE_AND_FILE] = functions_string(functions, from, frame->name);
		return item;
	}
	const char *renamed = from->renames ? function_rename(from, linkage, name) : NULL;
	if (renamed)
		linkage = name = renamed;
	item.file = function_text(functions, label_file(file), strlen(label_file(file)));
	item.texts[BY_LINKAGE] = item.texts[BY_LINKAGE_AND_FILE] =
		function_text(functions, linkage, stem_function(linkage));
	item.texts[BY_NAME] = function_text(functions, name, stem_function(name));
	item.texts[BY_NAME_WITHOUT_ARGUMENTS] = function_text(functions, name, stem_arguments(name));
	return item;
}

static uint32_t function_item_add(struct function_items *items, struct function_item item, uint32_t frame)
{
	struct {
		uint64_t vaddr;
		uint32_t module, build, texts[2], file, zero;
	} key = { item.vaddr,
		  item.module,
		  item.vaddr ? item.build : 0,
		  { item.texts[BY_LINKAGE], item.texts[BY_NAME] },
		  item.file,
		  0 };

	uint32_t number = numbering_add(&items->numbers, &key);
	item.frame = frame;
	if (number == items->all.n)
		vec_push(&items->all, item);
	return number;
}

/* ---- finding a function --------------------------------------------------------------------------- */

static struct index_key function_key_of(const struct function_item *item, size_t k)
{
	return (struct index_key){ item->module, item->texts[k], k == BY_LINKAGE_AND_FILE ? item->file : 0 };
}

static uint32_t function_index_number(struct function_index *index, const struct function_item *item,
				      size_t k)
{
	struct index_key key = function_key_of(item, k);
	uint32_t number = numbering_add(&index->keys, &key);

	if (number == index->function.n) {
		vec_push(&index->function, UINT32_MAX);
		vec_push(&index->count, 0);
	}
	return number;
}

/* Except for the most reliable key, a function is matched only if it is unambiguous on both sides. */
static void functions_find(struct functions *functions, struct function_items *items, size_t k)
{
	struct function_index *index = &functions->by[k];
	CLEANUP(freep) uint32_t *number = alloc_zero(items->all.n + 1, sizeof(*number));

	for (size_t i = 0; i < items->all.n; i++)
		number[i] = function_index_number(index, &items->all.at[i], k);
	CLEANUP(freep) uint32_t *n_ours = alloc_zero(index->keys.n + 1, sizeof(*n_ours));
	for (size_t i = 0; i < items->all.n; i++)
		n_ours[number[i]] += items->all.at[i].found == UINT32_MAX && !items->all.at[i].vaddr;
	for (size_t i = 0; i < items->all.n; i++) {
		struct function_item *item = &items->all.at[i];
		uint32_t found = index->function.at[number[i]];
		if (item->vaddr || item->found != UINT32_MAX || found == UINT32_MAX)
			continue;
		if (k == BY_LINKAGE_AND_FILE || (n_ours[number[i]] == 1 && index->count.at[number[i]] == 1 &&
						 functions->taken_by.at[found] != functions->n_profiles))
			item->found = found;
	}
	for (size_t i = 0; i < items->all.n; i++)
		if (items->all.at[i].found != UINT32_MAX)
			functions->taken_by.at[items->all.at[i].found] = functions->n_profiles;
}

static struct position function_position(const struct functions_from *from, const struct scope_tree *tree,
					 const struct function_items *items, size_t i)
{
	const struct function_item *item = &items->all.at[i];
	const struct function_map *map =
		profile_function(from->profile, tree->frames.at[item->frame].image, item->vaddr);

	return (struct position){ .module = item->module,
				  .build = item->build,
				  .vaddr = item->vaddr,
				  .size = map ? map->size : 0,
				  .function = item->found,
				  .item = (uint32_t)i };
}

/* Functions without a name: the same address in the same build, otherwise by position. */
static void functions_find_places(struct functions *functions, const struct functions_from *from,
				  const struct scope_tree *tree, struct function_items *items)
{
	VEC(struct position) ours = { 0 };

	for (size_t i = 0; i < items->all.n; i++)
		if (items->all.at[i].vaddr)
			vec_push(&ours, function_position(from, tree, items, i));
	positions_find(&functions->positions, ours.at, ours.n);
	for (size_t i = 0; i < ours.n; i++)
		items->all.at[ours.at[i].item].found = ours.at[i].function;
	vec_done(&ours);
}

static void functions_learn_places(struct functions *functions, const struct functions_from *from,
				   const struct scope_tree *tree, const struct function_items *items)
{
	for (size_t i = 0; i < items->all.n; i++)
		if (items->all.at[i].vaddr) {
			struct position position = function_position(from, tree, items, i);
			positions_learn(&functions->positions, &position);
		}
}

/* ---- a new one ------------------------------------------------------------------------------------ */

static struct scope_frame functions_frame(struct functions *functions, const struct functions_from *from,
					  const struct scope_frame *frame, const struct function_item *item)
{
	struct scope_frame joint = *frame;

	joint.image = item->module;
	joint.name = functions_string(functions, from, frame->name);
	joint.linkage = functions_string(functions, from, frame->linkage);
	joint.file = functions_string(functions, from, frame->file);
	if (frame->kind == SCOPE_UNKNOWN) {
		const struct profile *names = functions->modules->names;
		CLEANUP(freep)
		char *name = item->module < names->images.n
				     ? alloc_printf("[unknown in %s]", label_image(names, item->module))
				     : alloc_text("[unknown]");
		joint.name = intern_add(&functions->modules->names->strings, name);
		joint.vaddr = 0;
	}
	return joint;
}

static void functions_new(struct functions *functions, const struct functions_from *from,
			  const struct scope_frame *frame, struct function_item *item)
{
	item->found = (uint32_t)functions->all.n;
	vec_push(&functions->all, functions_frame(functions, from, frame, item));
	vec_push(&functions->taken_by, functions->n_profiles);
	for (size_t k = 0; k < N_FUNCTION_KEYS && !item->vaddr; k++) {
		struct function_index *index = &functions->by[k];
		uint32_t number = function_index_number(index, item, k);
		if (index->count.at[number]++ == 0)
			index->function.at[number] = item->found;
	}
}

/* Items with the same most reliable key are one function, even if it is new. */
static void functions_find_or_new(struct functions *functions, const struct functions_from *from,
				  const struct scope_frame *frame, struct function_item *item)
{
	uint32_t number = item->vaddr ? 0 : function_index_number(&functions->by[0], item, 0);

	if (!item->vaddr && functions->by[0].function.at[number] != UINT32_MAX)
		item->found = functions->by[0].function.at[number];
	else
		functions_new(functions, from, frame, item);
}

void functions_add(struct functions *functions, const struct functions_from *from,
		   const struct scope_tree *tree, uint32_t *ret)
{
	struct function_items items = { 0 };

	functions->n_profiles++;
	numbering_init(&items.numbers, 8 + 6 * sizeof(uint32_t));
	for (size_t i = 0; i < tree->frames.n; i++) {
		const struct scope_frame *frame = &tree->frames.at[i];
		bool is_function = frame->kind == SCOPE_FUNCTION || frame->kind == SCOPE_INLINE ||
				   frame->kind == SCOPE_UNKNOWN;
		ret[i] = UINT32_MAX;
		if (is_function)
			ret[i] = function_item_add(&items, function_item_of(functions, from, frame),
						   (uint32_t)i);
	}
	for (size_t k = 0; k < N_FUNCTION_KEYS; k++)
		functions_find(functions, &items, k);
	functions_find_places(functions, from, tree, &items);
	for (size_t i = 0; i < items.all.n; i++) {
		struct function_item *item = &items.all.at[i];
		if (item->found == UINT32_MAX)
			functions_find_or_new(functions, from, &tree->frames.at[item->frame], item);
	}
	functions_learn_places(functions, from, tree, &items);
	for (size_t i = 0; i < tree->frames.n; i++)
		if (ret[i] != UINT32_MAX)
			ret[i] = items.all.at[ret[i]].found;
	numbering_done(&items.numbers);
	vec_done(&items.all);
}
