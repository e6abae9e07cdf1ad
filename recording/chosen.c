/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/chosen.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "binary/cfi/frames.h"
#include "binary/elf/symbols.h"
#include "binary/flow/cfg.h"
#include "binary/flow/flow.h"
#include "binary/functions/function.h"
#include "collector/bpf/trace_layout.h"
#include "symbolize/demangle.h"

void chosen_init(struct chosen *chosen, char *const *patterns, size_t n)
{
	*chosen = (struct chosen){ 0 };
	for (size_t i = 0; i < n; i++)
		chosen_add_pattern(chosen, patterns[i]);
}

void chosen_add_pattern(struct chosen *chosen, const char *pattern)
{
	vec_push(&chosen->patterns, alloc_text(pattern));
	vec_push(&chosen->found, ((struct chosen_pattern){ .distance = 2 + strlen(pattern) / 4 }));
	vec_clear(&chosen->looked_at);
}

void chosen_done(struct chosen *chosen)
{
	for (size_t i = 0; i < chosen->functions.n; i++) {
		free(chosen->functions.at[i].name);
		vec_done(&chosen->functions.at[i].exits);
		vec_done(&chosen->functions.at[i].ends);
	}
	vec_done(&chosen->functions);
	for (size_t i = 0; i < chosen->found.n; i++)
		free(chosen->found.at[i].nearest);
	vec_done(&chosen->found);
	vec_done(&chosen->looked_at);
	for (size_t i = 0; i < chosen->patterns.n; i++)
		free(chosen->patterns.at[i]);
	vec_done(&chosen->patterns);
}

/* ---- names ------------------------------------------------------------------------------------------- */

/* The part of a pattern after FILE: or FILE+, if that is this file; NULL if it is another. A name may contain
 * colons, so FILE: counts only if it names this file. */
static const char *chosen_behind_file(const char *pattern, const char *file, char mark)
{
	size_t len = strlen(file);

	return strncmp(pattern, file, len) == 0 && pattern[len] == mark ? pattern + len + 1 : NULL;
}

/* Without its parameters: up to the parenthesis that opens the last list. */
static size_t chosen_bare_length(const char *name)
{
	const char *open = strrchr(name, '(');

	/* "operator()(int)", "f(int) const": the list that is closed last, unless it is part of the name. */
	if (!open || open == name ||
	    (open - name >= 8 && strncmp(open - 8, "operator", 8) == 0 && open[1] == ')'))
		return strlen(name);
	int depth = 0;
	for (const char *at = strrchr(name, ')'); at && at > name; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (depth == 0)
			return (size_t)(at - name);
	}
	return strlen(name);
}

/* The name of a template instance starts with its return type: returns what follows the last space outside
 * brackets. */
static const char *chosen_behind_type(const char *bare)
{
	const char *name = bare;
	int depth = 0;

	for (const char *at = bare; *at; at++) {
		depth += *at == '<' || *at == '(';
		depth -= *at == '>' || *at == ')';
		if (*at == ' ' && depth == 0)
			name = at + 1;
	}
	return name;
}

bool chosen_fits(const char *pattern, const char *linkage, const char *readable)
{
	if (fnmatch(pattern, linkage, 0) == 0 || strcmp(pattern, linkage) == 0)
		return true;
	if (!readable)
		return false;
	CLEANUP(freep) char *bare = alloc_text_n(readable, chosen_bare_length(readable));
	return strcmp(pattern, readable) == 0 || fnmatch(pattern, readable, 0) == 0 ||
	       fnmatch(pattern, bare, 0) == 0 || fnmatch(pattern, chosen_behind_type(bare), 0) == 0;
}

/* The first pattern, starting with this one, that names the symbol; SIZE_MAX if none does. */
static size_t chosen_pattern(const struct chosen *chosen, size_t from, const struct image *image,
			     const struct symbol *symbol, const char *readable)
{
	for (size_t i = from; i < chosen->patterns.n; i++) {
		const char *name = chosen_behind_file(chosen->patterns.at[i], image_name(image), ':');
		if (chosen_fits(name ? name : chosen->patterns.at[i], symbol->name, readable))
			return i;
	}
	return SIZE_MAX;
}

/* ---- places ------------------------------------------------------------------------------------------ */

/* UINT64_MAX if the address is not in the file. */
static uint64_t chosen_offset(const struct image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		if (s->type == PT_LOAD && (s->flags & PF_X) && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->file_size)
			return vaddr - s->vaddr + s->offset;
	}
	return UINT64_MAX;
}

bool chosen_is_stepped(const struct image *image, uint64_t vaddr)
{
	const struct isa *isa = isa_for_machine(image->elf_machine);
	struct insn insn;

	return isa && isa->decode(image_bytes(image, vaddr), vaddr, &insn) == 0 &&
	       !isa_is_emulated(isa, &insn);
}

/* A return or a jump that checks a signature, which no kernel can probe. */
static bool chosen_is_refused(const struct image *image, uint64_t vaddr)
{
	const struct isa *isa = isa_for_machine(image->elf_machine);
	struct insn insn;

	return isa && isa->decode(image_bytes(image, vaddr), vaddr, &insn) == 0 && insn.is_signed;
}

/*
 * endbr64 is single-stepped; the instruction after it is often emulated. sp is still the same there. But
 * nothing may jump there, or it would be counted as one more call. On AArch64 the mark may be paciasp: after
 * it the return address is signed, and one that a return probe puts in its place would not be.
 */
static uint32_t chosen_skip_mark(const struct image *image, const struct cfg *cfg, uint64_t vaddr)
{
	const struct isa *isa = isa_for_machine(image->elf_machine);
	struct insn insn;

	if (!isa || !isa->call_pushes_ra || isa->decode(image_bytes(image, vaddr), vaddr, &insn) != 0 ||
	    !insn.is_entry_mark || insn.len != TRACE_SKIP || chosen_is_stepped(image, vaddr + TRACE_SKIP))
		return 0;
	for (size_t i = 0; i < cfg->n_blocks; i++)
		if (cfg->blocks[i].start == vaddr + TRACE_SKIP)
			return 0;
	return TRACE_SKIP;
}

/* A function that this one jumps to returns in its place. False if its returns are unknown. */
static bool chosen_add_ends(struct functions *functions, const struct image *image, uint64_t target,
			    struct chosen_function *ret)
{
	uint32_t index = functions_find(functions, target);
	struct flow flow;
	struct cfg cfg;

	if (target == ret->vaddr)
		return true;
	if (index == FUNCTION_NONE || functions->at[index].start != target)
		return false;
	flow_init(&flow, functions_facts(functions));
	functions_analyse_alone(functions, index, &flow);
	cfg_build(&cfg, &flow);
	bool is_sure = flow.verdict == FLOW_PASSES;
	for (size_t i = 0; i < cfg.n_blocks && is_sure; i++) {
		const struct cfg_block *block = &cfg.blocks[i];
		is_sure &= block->end_kind != BLOCK_UNRESOLVED && block->end_kind != BLOCK_TAIL_CALLS;
		if (block->end_kind != BLOCK_RETURNS || (!block->is_reached && !block->is_guess))
			continue;
		is_sure &= !chosen_is_refused(image, block->last);
		vec_push(&ret->ends, chosen_offset(image, block->last));
	}
	cfg_done(&cfg);
	flow_done(&flow);
	return is_sure;
}

/* jumps: the blocks that end in one, to the same function or to different ones. */
static void chosen_follow_jumps(struct functions *functions, const struct image *image,
				const struct cfg_block *jumps, size_t n, struct chosen_function *ret)
{
	ret->has_all_ends = true;
	for (size_t i = 0; i < ret->exits.n; i++)
		vec_push(&ret->ends, ret->exits.at[i]);
	for (size_t i = 0; i < n; i++) {
		size_t same = 0;
		while (jumps[same].tail_target != jumps[i].tail_target)
			same++;
		vec_push(&ret->exits, chosen_offset(image, jumps[i].last));
		if (same == i)
			ret->has_all_ends &= chosen_add_ends(functions, image, jumps[i].tail_target, ret);
	}
	ret->n_jumps = n;
}

/* Returns, and jumps to other functions. None if one of them may be missing, or cannot be probed. */
static void chosen_find_exits(struct functions *functions, const struct image *image,
			      struct chosen_function *ret)
{
	uint32_t index = functions_find(functions, ret->vaddr);
	bool is_sure = index != FUNCTION_NONE && functions->at[index].start == ret->vaddr;
	struct flow flow;
	struct cfg cfg;

	ret->is_start = is_sure;
	ret->end = ret->vaddr;
	if (!is_sure)
		return;
	ret->end = functions->at[index].end;
	bool is_stepped = false;
	VEC(struct cfg_block) jumps = { 0 };
	/* Its runtime may give it a larger stack and start it again: that control flow makes no sense. */
	bool is_go = image_section(image, ".gopclntab") || image_section(image, ".go.buildinfo");
	flow_init(&flow, functions_facts(functions));
	functions_analyse_alone(functions, index, &flow);
	cfg_build(&cfg, &flow);
	for (size_t i = 0; i < cfg.n_blocks; i++) {
		const struct cfg_block *block = &cfg.blocks[i];
		bool leaves = block->end_kind == BLOCK_RETURNS || block->end_kind == BLOCK_TAIL_CALLS;
		if (is_go && block->tail_target == ret->vaddr)
			continue;
		is_sure &= block->end_kind != BLOCK_UNRESOLVED && (leaves || !block->tail_target);
		if (leaves && (block->is_reached || block->is_guess)) {
			if (block->end_kind == BLOCK_RETURNS)
				vec_push(&ret->exits, chosen_offset(image, block->last));
			else
				vec_push(&jumps, *block);
			is_stepped |= chosen_is_stepped(image, block->last);
			is_sure &= !chosen_is_refused(image, block->last);
		}
	}
	if (flow.verdict == FLOW_PASSES)
		ret->skip = chosen_skip_mark(image, &cfg, ret->vaddr);
	ret->entry += ret->skip;
	ret->n_stepped = chosen_is_stepped(image, ret->vaddr + ret->skip) + is_stepped;
	ret->is_exit_stepped = is_stepped;
	is_sure &= flow.verdict == FLOW_PASSES || is_go;
	cfg_done(&cfg);
	flow_done(&flow);
	if (is_sure)
		chosen_follow_jumps(functions, image, jumps.at, jumps.n, ret);
	else
		vec_clear(&ret->exits);
	vec_done(&jumps);
}

/* ---- images ------------------------------------------------------------------------------------------ */

/* The state of the search of an image; its code is read only if something is found. */
struct chosen_search {
	struct chosen *chosen;
	image_id id;
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
	struct functions *functions;
	size_t first, max;
	uint64_t left_out; /* the last function that there was no room for: two patterns may name it */
};

static bool chosen_has(const struct chosen_search *search, uint64_t vaddr)
{
	for (size_t i = 0; i < search->chosen->functions.n; i++)
		if (search->chosen->functions.at[i].image == search->id &&
		    search->chosen->functions.at[i].vaddr == vaddr)
			return true;
	return false;
}

static void chosen_add(struct chosen_search *search, uint64_t vaddr, const char *name, size_t pattern)
{
	struct chosen *chosen = search->chosen;
	struct chosen_function it = { .image = search->id,
				      .vaddr = vaddr,
				      .entry = chosen_offset(search->image, vaddr),
				      .pattern = pattern };

	if (it.entry == UINT64_MAX)
		return;
	chosen->found.at[pattern].n++;
	if (chosen_has(search, vaddr))
		return;
	if (chosen->functions.n >= search->max) {
		chosen->n_more += search->left_out != vaddr;
		search->left_out = vaddr;
		return;
	}
	if (!search->functions) {
		search->frames = frames_read(search->image);
		search->functions = functions_new(search->image, search->symbols, search->frames, NULL);
	}
	it.name = alloc_text(name);
	if (search->functions)
		chosen_find_exits(search->functions, search->image, &it);
	vec_push(&chosen->functions, it);
}

/* A name that matches nothing may be misspelt. */
static void chosen_compare(struct chosen *chosen, const char *name)
{
	for (size_t i = 0; i < chosen->patterns.n; i++) {
		struct chosen_pattern *found = &chosen->found.at[i];
		bool is_name = !found->n && !strpbrk(chosen->patterns.at[i], "*?[+");
		size_t distance = is_name ? text_distance(chosen->patterns.at[i], name) : SIZE_MAX;
		if (distance >= found->distance)
			continue;
		free(found->nearest);
		found->nearest = alloc_text(name);
		found->distance = distance;
	}
}

static void chosen_look_at_symbols(struct chosen_search *search)
{
	for (size_t i = 0; i < search->symbols->n; i++) {
		const struct symbol *symbol = &search->symbols->at[i];
		CLEANUP(text_done) struct text readable = { 0 };
		bool is_mangled = demangle(symbol->name, &readable);
		const char *name = is_mangled ? readable.at : NULL;
		for (size_t pattern = 0; (pattern = chosen_pattern(search->chosen, pattern, search->image,
								   symbol, name)) != SIZE_MAX;
		     pattern++)
			chosen_add(search, symbol->vaddr, name ? name : symbol->name, pattern);
		CLEANUP(freep)
		char *bare = is_mangled ? alloc_text_n(readable.at, chosen_bare_length(readable.at)) : NULL;
		chosen_compare(search->chosen, bare ? bare : symbol->name);
	}
}

static void chosen_look_at_addresses(struct chosen_search *search)
{
	for (size_t i = 0; i < search->chosen->patterns.n; i++) {
		const char *text =
			chosen_behind_file(search->chosen->patterns.at[i], image_name(search->image), '+');
		char *end;
		uint64_t vaddr = text ? strtoull(text, &end, 16) : 0;
		if (text && *text && !*end)
			chosen_add(search, vaddr, search->chosen->patterns.at[i], i);
	}
}

size_t chosen_look(struct chosen *chosen, struct images *images, image_id image, size_t max)
{
	struct chosen_search search = {
		.chosen = chosen, .id = image, .first = chosen->functions.n, .max = max
	};

	for (size_t i = 0; i < chosen->looked_at.n; i++)
		if (chosen->looked_at.at[i] == image)
			return search.first;
	vec_push(&chosen->looked_at, image);
	search.image = images_get(images, image);
	if (!search.image || search.image->kind != IMAGE_ELF)
		return search.first;
	search.symbols = symbols_read(search.image);
	chosen_look_at_symbols(&search);
	chosen_look_at_addresses(&search);
	functions_free(search.functions);
	frames_free(search.frames);
	symbols_free(search.symbols);
	return search.first;
}
