/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starts: the function starts that an image states: unwind entries, symbols, stubs, entry points.
 *
 * The first two are numerous and already sorted by address. So they are merged while they are read, instead
 * of collected and sorted.
 */
#include "binary/functions/function_private.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

int function_start_compare(const struct function_start *a, const struct function_start *b)
{
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return a->preference != b->preference ? a->preference - b->preference : 0;
}

static int starts_compare(const void *left, const void *right)
{
	return function_start_compare(left, right);
}

void function_starts_sort(struct function_starts *starts)
{
	if (starts->list.n)
		qsort(starts->list.at, starts->list.n, sizeof(*starts->list.at), starts_compare);
}

/* --- few: stubs and entry points -------------------------------------------------------------- */

static void starts_add_start(struct function_starts *starts, struct function_start start)
{
	vec_push(&starts->list, start);
}

static void starts_add_stubs(struct function_starts *starts, const struct functions *functions)
{
	const struct plt *plt = &functions->private->plt;

	for (size_t i = 0; i < plt->stubs.n; i++) {
		const struct plt_stub *stub = &plt->stubs.at[i];
		starts_add_start(starts,
				 (struct function_start){ stub->start, stub->end, stub->name,
							  stub->is_head ? FUNCTION_STUB_HEAD : FUNCTION_STUB,
							  FROM_STUB, PREFER_STUB });
	}
}

static void starts_add_entry(struct function_starts *starts, const struct functions *functions,
			     uint64_t vaddr)
{
	if (vaddr && image_is_code(functions->image, vaddr))
		starts_add_start(starts, (struct function_start){ vaddr, 0, NULL, FUNCTION_WHOLE, FROM_ENTRY,
								  PREFER_OTHER });
}

static void starts_add_entry_array(struct function_starts *starts, const struct functions *functions,
				   int64_t tag, int64_t size_tag)
{
	uint64_t vaddr, size, pointer;

	if (!image_dynamic(functions->image, tag, &vaddr) ||
	    !image_dynamic(functions->image, size_tag, &size))
		return;
	for (uint64_t at = 0; at + 8 <= size && at < 65536; at += 8)
		if (relocs_read_pointer(&functions->private->relocs, functions->image, vaddr + at, &pointer))
			starts_add_entry(starts, functions, pointer);
}

static void starts_add_entries(struct function_starts *starts, const struct functions *functions)
{
	static const char *const sections[] = { ".init", ".fini" };
	uint64_t vaddr;

	starts_add_entry(starts, functions, functions->image->entry);
	if (image_dynamic(functions->image, DT_INIT, &vaddr))
		starts_add_entry(starts, functions, vaddr);
	if (image_dynamic(functions->image, DT_FINI, &vaddr))
		starts_add_entry(starts, functions, vaddr);
	starts_add_entry_array(starts, functions, DT_INIT_ARRAY, DT_INIT_ARRAYSZ);
	starts_add_entry_array(starts, functions, DT_FINI_ARRAY, DT_FINI_ARRAYSZ);
	starts_add_entry_array(starts, functions, DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ);
	for (size_t i = 0; i < functions->private->relocs.resolvers.n; i++)
		starts_add_entry(starts, functions, functions->private->relocs.resolvers.at[i]);
	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		const struct section *section = image_section(functions->image, sections[i]);
		if (section && section->size && image_is_code(functions->image, section->vaddr))
			starts_add_start(starts, (struct function_start){
							 section->vaddr, section->vaddr + section->size, NULL,
							 FUNCTION_WHOLE, FROM_ENTRY, PREFER_OTHER });
	}
}

/* --- many: the next of each kind; false if there is none ---------------------------------------- */

static bool starts_next_frame(struct stated_starts *starts, struct function_start *ret)
{
	const struct functions *functions = starts->functions;
	size_t n = functions->frames ? frames_count(functions->frames) : 0;
	struct fde fde;

	while (starts->n_frames < n) {
		if (frames_get_next(functions->frames, starts->n_frames++, &starts->memo, &fde) < 0 ||
		    fde.size == 0 || !image_is_code(functions->image, fde.start))
			continue;
		*ret = (struct function_start){ fde.start,      fde.start + fde.size, NULL,
						FUNCTION_WHOLE, FROM_FRAME,           PREFER_FRAME };
		return true;
	}
	return false;
}

static bool starts_is_hidden(const struct function_options *options, const struct symbol *symbol)
{
	return options->hide_dynamic || (options->hide_symbols && symbol->source != SYMBOL_DYNSYM);
}

/* gcc's name.cold and name.cold.N: the part of `name` that is rarely executed. */
static bool starts_is_part_name(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (cold[5] == '\0' || cold[5] == '.');
}

static bool starts_next_symbol(struct stated_starts *starts, struct function_start *ret)
{
	const struct functions *functions = starts->functions;
	size_t n = functions->symbols ? functions->symbols->n : 0;

	while (starts->n_symbols < n) {
		const struct symbol *symbol = &functions->symbols->at[starts->n_symbols++];
		bool is_label = symbol->size == 0 && symbol->type == STT_NOTYPE;

		if (starts_is_hidden(&functions->private->options, symbol) ||
		    !image_is_code(functions->image, symbol->vaddr))
			continue;
		bool is_part = starts_is_part_name(symbol->name);
		*ret = (struct function_start){ symbol->vaddr,
						symbol->size ? symbol->vaddr + symbol->size : 0,
						symbol->name,
						is_part ? FUNCTION_PART : FUNCTION_WHOLE,
						is_part || is_label ? 0 : FROM_SYMBOL,
						is_label ? PREFER_LABEL : PREFER_SYMBOL };
		return true;
	}
	return false;
}

static bool starts_next_other(struct stated_starts *starts, struct function_start *ret)
{
	if (starts->n_others == starts->others.list.n)
		return false;
	*ret = starts->others.list.at[starts->n_others++];
	return true;
}

/* --- all --------------------------------------------------------------------------------------- */

static bool (*const next_of[STATED_N])(struct stated_starts *, struct function_start *) = {
	[STATED_FRAME] = starts_next_frame,
	[STATED_SYMBOL] = starts_next_symbol,
	[STATED_OTHER] = starts_next_other,
};

void stated_starts_init(struct stated_starts *starts, const struct functions *functions)
{
	*starts = (struct stated_starts){ .functions = functions };
	starts_add_stubs(&starts->others, functions);
	starts_add_entries(&starts->others, functions);
	function_starts_sort(&starts->others);
	for (size_t i = 0; i < STATED_N; i++)
		starts->has_next[i] = next_of[i](starts, &starts->next[i]);
}

void stated_starts_done(struct stated_starts *starts)
{
	vec_done(&starts->others.list);
}

size_t stated_starts_count(const struct stated_starts *starts)
{
	const struct functions *functions = starts->functions;

	return (functions->frames ? frames_count(functions->frames) : 0) +
	       (functions->symbols ? functions->symbols->n : 0) + starts->others.list.n;
}

bool stated_starts_next(struct stated_starts *starts, struct function_start *ret)
{
	size_t first = STATED_N;

	for (size_t i = 0; i < STATED_N; i++)
		if (starts->has_next[i] &&
		    (first == STATED_N || function_start_compare(&starts->next[i], &starts->next[first]) < 0))
			first = i;
	if (first == STATED_N)
		return false;
	*ret = starts->next[first];
	starts->has_next[first] = next_of[first](starts, &starts->next[first]);
	return true;
}
