/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/functions/sketch.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "binary/flow/entry.h"

#define PAGE_SLOTS 1024u
#define MAX_PAGES 1024u /* 16 MB of them */
#define MAX_SPAN 65536u /* limit of the page table; text may be anywhere */
#define UNSEEN 255u     /* as a length */
#define MANY_INSNS 16   /* this many in a row are hardly data */

enum entry { UNKNOWN, PLAUSIBLE, IMPLAUSIBLE };

struct sketch_page {
	struct sketch slots[PAGE_SLOTS];
};

void sketches_init(struct sketches *sketches, const struct functions *functions, uint64_t start, uint64_t end)
{
	*sketches = (struct sketches){ .functions = functions, .start = start, .end = end };
}

void sketches_done(struct sketches *sketches)
{
	for (size_t i = 0; i < sketches->pages.n; i++)
		free(sketches->pages.at[i]);
	vec_done(&sketches->pages);
}

static struct sketch_page *sketch_page_new(void)
{
	struct sketch_page *page = alloc_zero(1, sizeof(*page));

	for (size_t i = 0; i < PAGE_SLOTS; i++)
		page->slots[i].len = UNSEEN;
	return page;
}

/* The cache entry of an address; NULL if it is not cached. */
static struct sketch *sketch_slot_at(struct sketches *sketches, uint64_t vaddr)
{
	unsigned step = sketches->functions->isa->min_insn;
	uint64_t number = (vaddr - sketches->start) / step, page = number / PAGE_SLOTS;

	if (vaddr < sketches->start || vaddr >= sketches->end || vaddr % step || page >= MAX_SPAN)
		return NULL;
	while (sketches->pages.n <= page)
		vec_push(&sketches->pages, NULL);
	if (!sketches->pages.at[page]) {
		if (sketches->n_pages == MAX_PAGES)
			return NULL;
		sketches->pages.at[page] = sketch_page_new();
		sketches->n_pages++;
	}
	return &sketches->pages.at[page]->slots[number % PAGE_SLOTS];
}

static struct sketch sketch_decode(const struct sketches *sketches, uint64_t vaddr)
{
	const struct isa *isa = sketches->functions->isa;
	struct bytes code = image_code(sketches->functions->image, vaddr);
	struct insn insn;

	if (isa->decode(code, vaddr, &insn) < 0 || insn.len > code.len)
		return (struct sketch){ 0 };
	return (struct sketch){ .target = insn.target,
				.len = insn.len,
				.flow = insn.flow,
				.is_padding = insn.is_padding,
				.is_entry_mark = insn.is_entry_mark,
				.is_prologue = entry_is_prologue(isa, &insn) };
}

bool sketch_at(struct sketches *sketches, uint64_t vaddr, uint64_t end, struct sketch *ret)
{
	struct sketch *slot = sketch_slot_at(sketches, vaddr);

	if (slot && slot->len != UNSEEN)
		*ret = *slot;
	else
		*ret = sketch_decode(sketches, vaddr);
	if (slot && slot->len == UNSEEN) {
		uint8_t entry = slot->entry;
		*slot = *ret;
		slot->entry = entry;
	}
	return ret->len && ret->len <= end - vaddr;
}

bool sketch_is_entry(struct sketches *sketches, uint64_t vaddr)
{
	struct sketch *slot = sketch_slot_at(sketches, vaddr);

	if (!slot)
		return entry_is_plausible(sketches->functions->isa, sketches->functions->image, vaddr);
	if (slot->entry == UNKNOWN)
		slot->entry = entry_is_plausible(sketches->functions->isa, sketches->functions->image, vaddr)
				      ? PLAUSIBLE
				      : IMPLAUSIBLE;
	return slot->entry == PLAUSIBLE;
}

bool sketch_runs_into_data(struct sketches *sketches, uint64_t vaddr, uint64_t end)
{
	struct sketch insn = { .flow = FLOW_NEXT };

	for (; vaddr < end && (insn.flow == FLOW_NEXT || insn.flow == FLOW_BRANCH); vaddr += insn.len)
		if (!sketch_at(sketches, vaddr, end, &insn))
			return true;
	return false;
}

bool sketch_is_code(struct sketches *sketches, uint64_t vaddr)
{
	struct sketch insn;

	for (unsigned n = 0; n < MANY_INSNS; n++, vaddr += insn.len)
		if (!sketch_at(sketches, vaddr, UINT64_MAX, &insn))
			return false;
	return true;
}

uint64_t sketch_closed_end(struct sketches *sketches, uint64_t start, uint64_t end)
{
	struct sketch insn;

	for (uint64_t at = start, furthest = start; at < end;) {
		if (!sketch_at(sketches, at, end, &insn) || insn.flow == FLOW_JUMP_INDIRECT)
			return end;
		at += insn.len;
		bool leads = insn.flow == FLOW_JUMP || insn.flow == FLOW_BRANCH;
		bool is_inside = leads && insn.target >= start && insn.target < end;
		if (is_inside && insn.target > furthest)
			furthest = insn.target;
		bool stops = insn.flow == FLOW_RETURN || insn.flow == FLOW_STOP ||
			     (insn.flow == FLOW_JUMP && is_inside);
		if (stops && furthest < at)
			return at;
	}
	return end;
}
