/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/fallback.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "symbolize/demangle.h"
#include "symbolize/witness/witness.h"

#define MAX_CALLS 4096 /* inlined into one function; each is compared with the previous ones */

struct fallback {
	const struct testimony *testimony;
	struct intern *strings;
	bool demangles;
	struct function_map *map; /* the current one; NULL = none */
	bool has_lines;           /* it had rows from our own reader, which take precedence */
	size_t n_functions;
};

static uint32_t fallback_text(const struct fallback *fallback, uint32_t id)
{
	return intern_add(fallback->strings, intern_text(&fallback->testimony->strings, id));
}

/* As shown; the linkage name, if that is another, goes to ret_linkage. */
static uint32_t fallback_name(const struct fallback *fallback, uint32_t id, uint32_t *ret_linkage)
{
	const char *linkage = intern_text(&fallback->testimony->strings, id);
	struct text text = { 0 };
	uint32_t name = intern_add(fallback->strings, linkage[0] ? linkage : "??");

	*ret_linkage = 0;
	if (fallback->demangles && demangle(linkage, &text)) {
		*ret_linkage = name;
		name = intern_add_n(fallback->strings, text.at, text.len);
	}
	text_done(&text);
	return name;
}

static bool fallback_is_same(const struct inline_call *a, const struct inline_call *b)
{
	return a->parent == b->parent && a->name == b->name && a->call_file == b->call_file &&
	       a->call_line == b->call_line;
}

static uint32_t fallback_add_call(struct function_map *map, const struct inline_call *call)
{
	for (size_t i = 0; i < map->inlines.n; i++)
		if (fallback_is_same(&map->inlines.at[i], call))
			return (uint32_t)i;
	if (map->inlines.n == MAX_CALLS)
		return INLINE_NONE;
	vec_push(&map->inlines, *call);
	return (uint32_t)(map->inlines.n - 1);
}

/* frames: innermost first, the function itself last. */
static void fallback_add_chain(const struct fallback *fallback, uint32_t offset,
			       const struct witness_frame *frames, uint32_t n)
{
	struct function_map *map = fallback->map;
	uint32_t parent = INLINE_NONE;

	for (uint32_t i = n - 1; i-- > 0;) {
		struct inline_call call = { .parent = parent,
					    .call_file = fallback_text(fallback, frames[i + 1].file),
					    .call_line = frames[i + 1].line };
		call.name = fallback_name(fallback, frames[i].function, &call.linkage);
		parent = fallback_add_call(map, &call);
		if (parent == INLINE_NONE)
			return;
	}
	if (parent != INLINE_NONE)
		vec_push(&map->ranges, (struct inline_range){ offset, offset + 1, parent });
}

/* A map for which libdwarf has results. */
static void fallback_take_map(struct fallback *fallback, struct function_map *map, uint32_t function)
{
	fallback->map = map;
	fallback->has_lines = map->lines.n > 0;
	fallback->n_functions++;
	if (map->source == MAP_FROM_NOTHING)
		map->name = fallback_name(fallback, function, &map->linkage);
}

static void fallback_answer(struct fallback *fallback, function_maps *maps, image_id id, uint64_t vaddr,
			    const struct witness_answer *answer)
{
	if (!answer->n) /* in this case there may be no frames to point to */
		return;

	const struct witness_frame *frames = &fallback->testimony->frames.at[answer->first];
	uint32_t function = frames[answer->n - 1].function;
	const struct function_map *found = function_maps_find(maps->at, maps->n, id, vaddr);
	struct function_map *map = found ? &maps->at[found - maps->at] : NULL;

	if (!map || !function || (map != fallback->map && map->source == MAP_FROM_DWARF))
		return;
	if (map != fallback->map)
		fallback_take_map(fallback, map, function);
	uint32_t offset = (uint32_t)(vaddr - map->vaddr);
	if (!fallback->has_lines)
		vec_push(&map->lines, (struct line_row){ .offset = offset,
							 .file = fallback_text(fallback, frames[0].file),
							 .line = frames[0].line,
							 .is_statement = 1 });
	fallback_add_chain(fallback, offset, frames, answer->n);
	map->source = MAP_FROM_DWARF;
}

static int fallback_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Addresses that no other unit claims may be in units that were not even found. Sorted, each once. */
static void fallback_collect(struct subject *subject)
{
	uint32_t units[UNIT_INDEX_MAX];
	size_t n = 0;

	for (size_t i = 0; i < subject->wanted.n && subject->file.dwarf.n_damaged; i++)
		if (unit_index_find(&subject->index, subject->wanted.at[i], units) == 0)
			vec_push(&subject->refused, subject->wanted.at[i]);
	if (subject->refused.n)
		qsort(subject->refused.at, subject->refused.n, sizeof(uint64_t), fallback_compare);
	for (size_t i = 0; i < subject->refused.n; i++)
		if (n == 0 || subject->refused.at[i] != subject->refused.at[n - 1])
			subject->refused.at[n++] = subject->refused.at[i];
	subject->refused.n = n;
}

static void fallback_tell(struct subject *subject, const struct debug_search *search)
{
	const char *plural = subject->n_by_libdwarf == 1 ? "" : "s";
	CLEANUP(freep) char *how = subject->file.how;
	CLEANUP(freep)
	char *text = alloc_printf(
		"cpprof cannot read all debug information of '%s': %zu function%s named by libdwarf",
		subject->request->image->path, subject->n_by_libdwarf, plural);

	subject->file.how =
		alloc_printf("%s; %zu function%s by libdwarf", how, subject->n_by_libdwarf, plural);
	if (search->note)
		search->note(search->context, true, text);
}

void fallback_complete(struct subject *subject, const struct symbolizer_options *options,
		       struct intern *strings, function_maps *maps)
{
	const struct debugfile *file = &subject->file;
	struct testimony testimony;
	struct fallback fallback = { .testimony = &testimony,
				     .strings = strings,
				     .demangles = !options->keeps_mangled };

	fallback_collect(subject);
	if (!subject->refused.n || !file->debug || !witness_is_built(LIBRARY_LIBDWARF))
		return;
	struct witness_question question = { .path = file->debug->path,
					     .alt_path = file->alt_image ? file->alt_image->path : NULL,
					     .vaddrs = subject->refused.at,
					     .n = subject->refused.n };
	witness_ask(LIBRARY_LIBDWARF, &question, &testimony);
	for (size_t i = 0; i < question.n; i++)
		fallback_answer(&fallback, maps, subject->request->id, question.vaddrs[i],
				&testimony.answers.at[i]);
	testimony_done(&testimony);
	subject->n_by_libdwarf = fallback.n_functions;
	if (fallback.n_functions)
		fallback_tell(subject, &options->search);
}
