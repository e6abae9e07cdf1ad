/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function: the index of functions, and queries on it.
 */
#include "binary/functions/function_private.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "binary/flow/entry.h"
#include "binary/flow/noreturn.h"

#define MAX_ENDING 4096 /* functions that do not return, of a large text; 100 are usual */

/* --- merging ---------------------------------------------------------------------------------- */

static void functions_merge_into(struct function *f, const struct function_start *start)
{
	if (!f->end)
		f->end = start->end;
	if (!f->name)
		f->name = start->name;
	if (!function_is_stub(f)) {
		f->sources |= start->sources;
		if (start->kind == FUNCTION_PART && !(f->sources & FROM_SURE))
			f->kind = FUNCTION_PART;
	}
}

/* A start inside the previous interval: does it end that interval (true), or is it only a label? */
static bool functions_start_splits(const struct function *before, const struct function_start *start)
{
	if (start->preference == PREFER_STUB)
		return true;
	if (function_is_stub(before))
		return false;
	if (function_is_inferred(before))
		return true;
	return start->preference == PREFER_FRAME && !(before->sources & FROM_FRAME);
}

struct function_list {
	VEC(struct function) list;
};

static uint64_t functions_text_end(const struct functions *functions, uint64_t vaddr)
{
	const struct text_range *text = facts_text(functions_facts(functions), vaddr);

	return text ? text->end : vaddr + image_code(functions->image, vaddr).len;
}

/* next: the start of the first function after them. */
static void functions_close_open_ends(const struct functions *functions, struct function_list *list,
				      uint64_t next)
{
	struct function *at = list->list.at;
	size_t n = list->list.n;

	for (size_t i = 0; i < n; i++) {
		uint64_t end = functions_text_end(functions, at[i].start),
			 behind = i + 1 < n ? at[i + 1].start : next;
		if (behind < end)
			end = behind;
		if (!at[i].end || at[i].end > end)
			at[i].end = end;
	}
}

/* What is known about a function is kept if its bounds do not change. */
static void functions_carry_over(struct function_list *list, const struct function *old, size_t n_old)
{
	struct function *at = list->list.at;
	size_t k = 0;

	for (size_t i = 0; i < list->list.n; i++) {
		while (k < n_old && old[k].start < at[i].start)
			k++;
		if (k == n_old || old[k].start != at[i].start || old[k].end != at[i].end) {
			at[i].returns = noreturn_by_name(at[i].name) ? RETURNS_NEVER : RETURNS_UNKNOWN;
			continue;
		}
		at[i].is_analysed = old[k].is_analysed;
		at[i].holds_return = old[k].holds_return;
		at[i].clobbers = old[k].clobbers;
		at[i].writes = old[k].writes;
		at[i].returns = old[k].returns;
	}
}

void functions_make_pages(struct functions *functions)
{
	struct functions_private *p = functions->private;
	struct code_facts *facts = &p->facts;
	const struct function *at = functions->at;
	uint64_t span = functions->n ? at[functions->n - 1].start - at[0].start : 0;
	size_t k = 0;

	facts->page_shift = 6; /* or larger, so that there are about two pages per function */
	while (span >> facts->page_shift > functions->n * 2)
		facts->page_shift++;
	facts->n_pages = (span >> facts->page_shift) + 1;
	free(p->pages);
	p->pages = alloc_zero(facts->n_pages + 1, sizeof(*p->pages));
	for (size_t page = 0; page <= facts->n_pages; page++) {
		while (k < functions->n && (at[k].start - at[0].start) >> facts->page_shift < page)
			k++;
		p->pages[page] = (uint32_t)k;
	}
	facts->pages = p->pages;
	facts->at = at;
	facts->n = functions->n;
}

/* One function for each address that starts one; addresses are in order. */
static void functions_list_start(struct function_list *ret, const struct function_start *start)
{
	struct function *last = ret->list.n ? &ret->list.at[ret->list.n - 1] : NULL;

	if (last && last->start == start->vaddr) {
		functions_merge_into(last, start);
		return;
	}
	if (last && last->end > start->vaddr) {
		if (!functions_start_splits(last, start))
			return;
		last->end = start->vaddr;
	}
	if (start->preference == PREFER_LABEL && last && !last->end)
		return; /* a label inside code with unknown end */
	vec_push(&ret->list, ((struct function){ .start = start->vaddr,
						 .end = start->end,
						 .name = start->name,
						 .parent = FUNCTION_NONE,
						 .kind = start->kind,
						 .sources = start->sources }));
}

/* Indices are about to change, so the parents of parts are no longer known. */
static void functions_forget_parents(struct functions_private *p)
{
	for (size_t i = 0; i < p->owned.n; i++)
		p->list.at[p->owned.at[i]].parent = FUNCTION_NONE;
	vec_clear(&p->owned);
}

/* Replaces n_old functions from `first` on. */
static void functions_put_in_place(struct functions *functions, size_t first, size_t n_old,
				   const struct function_list *list)
{
	struct functions_private *p = functions->private;
	size_t n_behind = functions->n - first - n_old, n = list->list.n;

	functions_forget_parents(p);
	p->has_ending = false;
	vec_reserve(&p->list, first + n + n_behind);
	struct function *at = p->list.at;
	if (n_behind)
		memmove(at + first + n, at + first + n_old, n_behind * sizeof(*at));
	if (n)
		memcpy(at + first, list->list.at, n * sizeof(*at));
	p->list.n = first + n + n_behind;
	functions->at = p->list.at;
	functions->n = p->list.n;
	functions_make_pages(functions);
}

/* The index of the starts that the image states. */
static void functions_make_index(struct functions *functions)
{
	struct functions_private *p = functions->private;
	struct function_list list = { 0 };
	struct stated_starts starts;
	struct function_start start;

	stated_starts_init(&starts, functions);
	vec_reserve(&list.list, stated_starts_count(&starts));
	while (stated_starts_next(&starts, &start))
		functions_list_start(&list, &start);
	stated_starts_done(&starts);
	functions_close_open_ends(functions, &list, UINT64_MAX);
	functions_carry_over(&list, NULL, 0);
	p->list.at = functions->at = list.list.at;
	p->list.n = functions->n = p->n_stated = list.list.n;
	p->list.cap = list.list.cap;
	functions_make_pages(functions);
}

void functions_merge(struct functions *functions, size_t first, size_t end, struct function_starts *starts)
{
	struct function_list list = { 0 };

	vec_reserve(&list.list, starts->list.n);
	for (size_t i = 0; i < starts->list.n; i++)
		functions_list_start(&list, &starts->list.at[i]);
	functions_close_open_ends(functions, &list,
				  end < functions->n ? functions->at[end].start : UINT64_MAX);
	functions_carry_over(&list, end > first ? functions->at + first : NULL, end - first);
	functions_put_in_place(functions, first, end - first, &list);
	vec_done(&list.list);
}

static struct function_start functions_start_of(const struct function *f)
{
	bool is_stated = f->sources & (FROM_FRAME | FROM_SYMBOL | FROM_STUB);
	uint8_t preference = function_is_stub(f)       ? PREFER_STUB
			     : f->sources & FROM_FRAME ? PREFER_FRAME
						       : PREFER_SYMBOL;

	return (struct function_start){ f->start,   is_stated || f->is_analysed ? f->end : 0,
					f->name,    f->kind,
					f->sources, is_stated ? preference : PREFER_OTHER };
}

void functions_starts(const struct functions *functions, size_t first, size_t end,
		      const struct function_starts *more, struct function_starts *ret)
{
	size_t k = 0;

	memset(ret, 0, sizeof(*ret));
	vec_reserve(&ret->list, end - first + more->list.n);
	for (size_t i = first; i < end; i++) {
		struct function_start start = functions_start_of(&functions->at[i]);
		while (k < more->list.n && function_start_compare(&more->list.at[k], &start) < 0)
			vec_push(&ret->list, more->list.at[k++]);
		vec_push(&ret->list, start);
	}
	while (k < more->list.n)
		vec_push(&ret->list, more->list.at[k++]);
}

/* --- creation and queries ----------------------------------------------------------------------- */

static int text_compare(const void *left, const void *right)
{
	const struct text_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Sorted, and those that overlap become one: an address is in one range at most. */
static void functions_order_text(struct functions_private *p)
{
	size_t kept = 0;

	qsort(p->text.at, p->text.n, sizeof(*p->text.at), text_compare);
	for (size_t i = 0; i < p->text.n; i++) {
		struct text_range *last = kept ? &p->text.at[kept - 1] : NULL, *next = &p->text.at[i];
		if (!last || next->start >= last->end)
			p->text.at[kept++] = *next;
		else if (next->end > last->end)
			last->end = next->end;
	}
	p->text.n = kept;
}

static void functions_find_text(struct functions *functions)
{
	const struct image *image = functions->image;
	struct functions_private *p = functions->private;

	for (size_t i = 0; i < image->n_sections; i++) {
		const struct section *s = &image->sections[i];
		if ((s->flags & SHF_EXECINSTR) && s->type != SHT_NOBITS && s->size &&
		    image_code(image, s->vaddr).len >= s->size)
			vec_push(&p->text,
				 ((struct text_range){ .start = s->vaddr, .end = s->vaddr + s->size }));
	}
	for (size_t i = 0; p->text.n == 0 && i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		size_t len = image_code(image, s->vaddr).len;
		if (s->type == PT_LOAD && (s->flags & PF_X) && len)
			vec_push(&p->text, ((struct text_range){ .start = s->vaddr, .end = s->vaddr + len }));
	}
	if (p->text.n > 1)
		functions_order_text(p);
}

static void functions_begin_facts(struct functions *functions)
{
	functions->private->facts = (struct code_facts){ .image = functions->image,
							 .isa = functions->isa,
							 .frames = functions->frames,
							 .relocs = &functions->private->relocs,
							 .text = functions->private->text.at,
							 .n_text = functions->private->text.n };
}

struct functions *functions_begin(struct image *image, const struct frames *frames,
				  const struct function_options *options)
{
	const struct isa *isa = isa_for_machine(image->elf_machine);

	if (!isa)
		return NULL;
	struct functions *functions = alloc_zero(1, sizeof(*functions));
	functions->private = alloc_zero(1, sizeof(*functions->private));
	functions->image = image;
	functions->isa = isa;
	if (options)
		functions->private->options = *options;
	functions->frames = functions->private->options.hide_frames ? NULL : frames;
	relocs_read(&functions->private->relocs, image);
	plt_read(&functions->private->plt, image, isa, &functions->private->relocs);
	functions_find_text(functions);
	functions_begin_facts(functions);
	return functions;
}

struct functions *functions_new(struct image *image, const struct symbols *symbols,
				const struct frames *frames, const struct function_options *options)
{
	struct functions *functions = functions_begin(image, frames, options);

	if (!functions)
		return NULL;
	functions->symbols = symbols;
	functions_make_index(functions);
	return functions;
}

/* There may be a thousand pieces, and a million functions. */
static void functions_find_ending(const struct functions *whole)
{
	struct functions_private *p = whole->private;

	if (p->has_ending)
		return;
	p->has_ending = true;
	vec_clear(&p->ending);
	for (size_t i = 0; i < whole->n && p->ending.n < MAX_ENDING; i++)
		if (whole->at[i].returns == RETURNS_NEVER && noreturn_by_name(whole->at[i].name))
			vec_push(&p->ending, (uint32_t)i);
}

/* Those with names that say that they do not return, except for the functions from `first` to `behind`. Code
 * after a call of them is not reached: another function may start there. */
static void functions_find_noreturn(const struct functions *whole, size_t first, size_t behind,
				    struct function_starts *ret)
{
	const struct functions_private *p = whole->private;

	functions_find_ending(whole);
	for (size_t i = 0; i < p->ending.n; i++)
		if (p->ending.at[i] < first || p->ending.at[i] >= behind)
			vec_push(&ret->list, functions_start_of(&whole->at[p->ending.at[i]]));
}

struct functions *functions_piece(const struct functions *whole, uint64_t start, uint64_t end)
{
	struct functions *piece = alloc_zero(1, sizeof(*piece));
	struct functions_private *p = alloc_zero(1, sizeof(*p));
	size_t first = search_first(i, whole->n, whole->at[i].end > start);
	size_t behind = search_first(i, whole->n, whole->at[i].start >= end);
	struct function_starts starts, others = { 0 };

	*piece = *whole;
	piece->at = NULL;
	piece->n = 0;
	piece->is_surveyed = false;
	piece->private = p;
	pointers_sort(whole);
	p->whole = whole->private;
	p->relocs = whole->private->relocs;
	p->plt = whole->private->plt;
	p->options = whole->private->options;
	for (size_t i = 0; i < whole->private->text.n; i++) {
		struct text_range text = whole->private->text.at[i];
		struct vaddr_range part = { text.start > start ? text.start : start,
					    text.end < end ? text.end : end };
		if (part.start < part.end)
			vec_push(&p->text, ((struct text_range){ .start = part.start, .end = part.end }));
	}
	functions_begin_facts(piece);
	behind = behind > first ? behind : first;
	functions_find_noreturn(whole, first, behind, &others);
	functions_starts(whole, first, behind, &others, &starts);
	functions_merge(piece, 0, 0, &starts);
	vec_done(&starts.list);
	vec_done(&others.list);
	/* A function with an inferred end that starts in front of the piece may extend over all of the text.
	 * It is kept, so that no other is looked for inside it, but it is not analysed again. */
	for (size_t i = 0; i < p->list.n && p->list.at[i].start < start; i++)
		p->list.at[i].is_analysed = function_is_inferred(&p->list.at[i]);
	return piece;
}

void functions_free(struct functions *functions)
{
	if (!functions)
		return;
	struct functions_private *p = functions->private;
	for (size_t i = 0; i < p->text.n; i++)
		free(p->text.at[i].called); /* one block for all of them */
	vec_done(&p->text);
	vec_done(&p->list);
	free(p->pages);
	vec_done(&p->references);
	vec_done(&p->jumps);
	vec_done(&p->arrays);
	vec_done(&p->seen);
	vec_done(&p->inferred);
	vec_done(&p->pointed);
	vec_done(&p->owned);
	vec_done(&p->ending);
	if (!p->whole) {
		relocs_done(&p->relocs);
		plt_done(&p->plt);
	}
	free(p);
	free(functions);
}

const struct code_facts *functions_facts(const struct functions *functions)
{
	return &functions->private->facts;
}

uint32_t functions_index(const struct functions *functions, uint64_t vaddr)
{
	return facts_index(functions_facts(functions), vaddr);
}

bool functions_text_range(const struct functions *functions, size_t i, uint64_t *ret_start, uint64_t *ret_end)
{
	if (i >= functions->private->text.n)
		return false;
	*ret_start = functions->private->text.at[i].start;
	*ret_end = functions->private->text.at[i].end;
	return true;
}

uint64_t functions_next_start(const struct functions *functions, uint64_t vaddr)
{
	return facts_next_start(functions_facts(functions), vaddr);
}

uint64_t functions_last_end(const struct functions *functions, uint64_t vaddr)
{
	const struct text_range *range = functions_text(functions, vaddr);
	uint64_t start = range ? range->start : vaddr;
	size_t behind = search_first(i, functions->n, functions->at[i].end > vaddr);

	return behind > 0 && functions->at[behind - 1].end > start ? functions->at[behind - 1].end : start;
}

bool functions_returns(const struct functions *functions, uint64_t vaddr)
{
	return facts_returns(functions_facts(functions), functions_index(functions, vaddr), vaddr);
}

bool functions_looks_partial(const struct functions *functions, const struct function *function)
{
	struct fde fde;

	if (!entry_is_plausible(functions->isa, functions->image, function->start))
		return true;
	return functions->frames && (function->sources & FROM_FRAME) &&
	       frames_find(functions->frames, function->start, &fde) == 0 && fde.start == function->start &&
	       fde_starts_in_frame(&fde);
}
