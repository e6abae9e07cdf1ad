/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/flow/facts.h"

#include <elf.h>

#include "base/search.h"
#include "binary/flow/noreturn.h"

bool function_is_sure(const struct function *function)
{
	return function->kind != FUNCTION_PART && (function->sources & FROM_SURE);
}

bool function_is_stub(const struct function *function)
{
	return function->kind == FUNCTION_STUB || function->kind == FUNCTION_STUB_HEAD;
}

bool function_is_inferred(const struct function *function)
{
	return !(function->sources & (FROM_FRAME | FROM_SYMBOL | FROM_STUB));
}

/* The number of functions that start at or before vaddr: the index of the first one after it. */
static size_t facts_count_up_to(const struct code_facts *facts, uint64_t vaddr)
{
	const struct function *at = facts->at;

	if (facts->n == 0 || vaddr < at[0].start)
		return 0;
	uint64_t page = (vaddr - at[0].start) >> facts->page_shift;
	size_t from = facts->pages[page < facts->n_pages ? page : facts->n_pages];
	size_t to = facts->pages[page < facts->n_pages ? page + 1 : facts->n_pages];
	return search_first_in(i, from, to, at[i].start > vaddr);
}

uint32_t facts_index(const struct code_facts *facts, uint64_t vaddr)
{
	size_t n = facts_count_up_to(facts, vaddr);

	return n && vaddr < facts->at[n - 1].end ? (uint32_t)(n - 1) : FUNCTION_NONE;
}

uint64_t facts_next_start(const struct code_facts *facts, uint64_t vaddr)
{
	size_t n = facts_count_up_to(facts, vaddr);

	return n < facts->n ? facts->at[n].start : UINT64_MAX;
}

const struct text_range *facts_text(const struct code_facts *facts, uint64_t vaddr)
{
	size_t at = search_first(i, facts->n_text, facts->text[i].end > vaddr);

	return at < facts->n_text && facts->text[at].start <= vaddr ? &facts->text[at] : NULL;
}

bool facts_returns(const struct code_facts *facts, uint32_t index, uint64_t vaddr)
{
	return index == FUNCTION_NONE || facts->at[index].start != vaddr ||
	       facts->at[index].returns != RETURNS_NEVER;
}

bool facts_slot_returns(const struct code_facts *facts, uint64_t slot)
{
	return !noreturn_by_name(relocs_slot_name(facts->relocs, slot));
}

/* Constant data, or data that only the loader writes. */
static bool facts_is_constant(const struct image *image, uint64_t vaddr)
{
	const struct section *got = image_section(image, ".got");
	bool is_written = true;

	if (got && vaddr >= got->vaddr && vaddr - got->vaddr < got->size)
		return true;
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		if (vaddr < s->vaddr || vaddr - s->vaddr >= s->mem_size)
			continue;
		if (s->type == PT_GNU_RELRO)
			return true;
		if (s->type == PT_LOAD)
			is_written = s->flags & PF_W;
	}
	return !is_written;
}

bool facts_slot_target(const struct code_facts *facts, uint64_t slot, uint64_t *ret)
{
	return !relocs_slot_name(facts->relocs, slot) && facts_is_constant(facts->image, slot) &&
	       relocs_read_pointer(facts->relocs, facts->image, slot, ret) && facts_text(facts, *ret);
}

bool facts_slot_is_probe(const struct code_facts *facts, uint64_t slot)
{
	return slot && probe_by_name(relocs_slot_name(facts->relocs, slot));
}

uint64_t facts_clobbers(const struct code_facts *facts, uint32_t index, uint64_t vaddr)
{
	if (index == FUNCTION_NONE || facts->at[index].start != vaddr)
		return UINT64_MAX;
	return facts->at[index].clobbers;
}

bool facts_is_jumped_to(const struct code_facts *facts, uint64_t vaddr)
{
	const struct text_range *range = facts_text(facts, vaddr);

	if (!range || !range->jumped || text_is_between(range, vaddr))
		return false;
	return range->jumped[text_bit(range, vaddr) / 64] >> (text_bit(range, vaddr) % 64) & 1;
}

uint64_t facts_next_reference(const struct code_facts *facts, uint64_t vaddr)
{
	size_t next = search_first(i, facts->n_references, facts->references[i] > vaddr);

	return next < facts->n_references ? facts->references[next] : UINT64_MAX;
}
