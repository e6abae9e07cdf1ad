/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "binary/cfi/frames.h"
#include "binary/functions/stub.h"
#include "recipes/ahead.h"
#include "recipes/behind.h"
#include "recipes/cfi.h"
#include "recipes/findings.h"
#include "recipes/goroutine.h"
#include "recipes/template.h"

#define CALL_MAX 16 /* bytes before a return address that can belong to its call */
#define LEAVE_MAX_BYTES \
	(64u << 10) /* larger functions are taken to leave: decoding them would stall a sample */

enum leaves { LEAVES_UNKNOWN, LEAVES_NOT, LEAVES };

/* The rows of one unwind entry. */
struct compiled {
	uint64_t start, size;
	uint32_t first_row, n_rows;
	uint8_t leaves; /* enum leaves */
};

/* What is known of one image. */
struct code {
	struct image *image;
	struct findings *findings;
	/* Not before they are needed: */
	const struct frames *frames; /* NULL until then */
	struct go_stacks *go;        /* NULL but in Go programs */
	uint32_t *by_frame;          /* index into functions + 1, per unwind entry; 0 = not compiled yet */
	uint64_t entry_end;          /* of what may be the entry point */
	VEC(struct compiled) functions;
	struct recipe_rows rows; /* of all functions, one behind the other */
};

struct recipe_cache {
	struct images *images;
	const struct isa *isa;
	enum unwind_mode mode;
	struct store *store;
	struct recipes recipes;
	struct ahead *ahead;
	uint32_t frame_pointer;
	VEC(struct code *) codes; /* by image; NULL = not seen, or nothing to know */
	uint64_t n_compiled;
};

/*
 * Hand-written code may keep its return address in a register that it knows its helpers to leave alone: one
 * that neither takes an argument nor a result, nor belongs to the linker (x16, x17) or the platform (x18).
 * Whether those that are on the stack have left it alone is the walk's business.
 */
static uint64_t kept_by_hand(const struct isa *isa)
{
	uint64_t platform = isa->call_pushes_ra ? 0 : 7ull << 16;

	return ~(isa->argument_regs | 1ull << isa->ra | platform | 1);
}

struct recipe_cache *recipe_cache_new(struct images *images, const struct isa *isa, enum unwind_mode mode,
				      struct store *store)
{
	struct recipe_cache *cache = alloc_zero(1, sizeof(*cache));

	cache->images = images;
	cache->isa = isa;
	cache->mode = mode;
	cache->store = store;
	recipes_init(&cache->recipes);
	cache->ahead = ahead_new(isa, kept_by_hand(isa));
	cache->frame_pointer = template_frame_pointer(isa, &cache->recipes);
	return cache;
}

static void code_free(struct code *code)
{
	if (!code)
		return;
	findings_free(code->findings);
	go_stacks_free(code->go);
	free(code->by_frame);
	vec_done(&code->functions);
	vec_done(&code->rows.rows);
	free(code);
}

void recipe_cache_free(struct recipe_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->codes.n; i++)
		code_free(cache->codes.at[i]);
	vec_done(&cache->codes);
	ahead_free(cache->ahead);
	recipes_done(&cache->recipes);
	free(cache);
}

struct functions *recipe_cache_functions(struct recipe_cache *cache, image_id image)
{
	const struct code *code = image < cache->codes.n ? cache->codes.at[image] : NULL;

	return code ? findings_functions(code->findings) : NULL;
}

void recipe_cache_save(struct recipe_cache *cache)
{
	for (size_t i = 0; i < cache->codes.n; i++)
		if (cache->codes.at[i])
			findings_save(cache->codes.at[i]->findings);
}

const struct recipes *recipe_cache_recipes(const struct recipe_cache *cache)
{
	return &cache->recipes;
}

struct recipes *recipe_cache_store(struct recipe_cache *cache)
{
	return &cache->recipes;
}

uint32_t recipe_cache_frame_pointer(const struct recipe_cache *cache)
{
	return cache->frame_pointer;
}

uint64_t recipe_cache_compiled(const struct recipe_cache *cache)
{
	return cache->n_compiled;
}

/* NULL for images without code of this machine. */
static struct code *code_of(struct recipe_cache *cache, image_id id)
{
	struct image *image = images_get(cache->images, id);

	if (!image || image->elf_machine != cache->isa->elf_machine)
		return NULL;
	while (cache->codes.n <= id)
		vec_push(&cache->codes, NULL);
	if (!cache->codes.at[id]) {
		struct code *code = alloc_zero(1, sizeof(*code));
		code->image = image;
		code->findings = findings_new(image, &cache->recipes, cache->store);
		cache->codes.at[id] = code;
	}
	return cache->codes.at[id];
}

/* For what the store does not know. */
static void read_code(struct code *code)
{
	if (code->frames)
		return;
	code->frames = findings_frames(code->findings);
	code->go = go_stacks_read(code->image);
	code->by_frame = alloc_zero(frames_count(code->frames), sizeof(*code->by_frame));
	code->entry_end = template_entry_end(code->image, code->frames);
}

/* ---- the witness of unwind entries -------------------------------------------------------------- */

static struct compiled *compile(struct recipe_cache *cache, struct code *code, const struct fde *fde,
				size_t index)
{
	struct recipe_rows rows = { 0 };
	struct compiled function = { .start = fde->start, .size = fde->size };

	cfi_compile(fde, cache->isa, &cache->recipes, &rows); /* damage is in the rows */
	function.first_row = (uint32_t)code->rows.rows.n;
	function.n_rows = (uint32_t)rows.rows.n;
	for (size_t i = 0; i < rows.rows.n; i++)
		vec_push(&code->rows.rows, rows.rows.at[i]);
	vec_done(&rows.rows);
	vec_push(&code->functions, function);
	code->by_frame[index] = (uint32_t)code->functions.n;
	cache->n_compiled++;
	return &code->functions.at[code->functions.n - 1];
}

/* The function whose unwind entry covers vaddr; NULL if none does. Valid until the next call. */
static struct compiled *compiled_at(struct recipe_cache *cache, struct code *code, uint64_t vaddr)
{
	struct fde fde;
	size_t index;

	read_code(code);
	size_t n = frames_count_up_to(code->frames, vaddr);
	uint32_t known = n ? code->by_frame[n - 1] : 0;

	if (known && vaddr - code->functions.at[known - 1].start < code->functions.at[known - 1].size)
		return &code->functions.at[known - 1]; /* the entry need not be read again */
	if (frames_find_index(code->frames, vaddr, &fde, &index) < 0)
		return NULL;
	if (code->by_frame[index])
		return &code->functions.at[code->by_frame[index] - 1];
	return compile(cache, code, &fde, index);
}

static uint32_t cfi_recipe(const struct code *code, const struct compiled *function, uint64_t vaddr)
{
	return recipe_rows_find(code->rows.rows.at + function->first_row, function->n_rows,
				vaddr - function->start);
}

/* ---- calls -------------------------------------------------------------------------------------- */

static void find_call(const struct recipe_cache *cache, const struct image *image, uint64_t vaddr,
		      struct place *ret)
{
	struct bytes before = { 0 };
	struct insn call = { 0 };

	/* Near the start of a segment there is less to look at. */
	for (uint64_t n = CALL_MAX; n >= 2 && !before.len; n--)
		if (vaddr >= n)
			before = bytes_slice(image_code(image, vaddr - n), 0, n);
	if (!before.len || !cache->isa->ends_in_call) {
		ret->call = CALL_UNKNOWN;
		return;
	}
	if (!cache->isa->ends_in_call(before, vaddr, &call)) {
		before = bytes_slice(image_code(image, vaddr - MADE_CALL_MAX), 0, MADE_CALL_MAX);
		bool is_made =
			before.len == MADE_CALL_MAX && template_is_made_call(cache->isa, before, vaddr);
		ret->call = is_made ? CALL_INDIRECT : CALL_NONE;
		return;
	}
	ret->call = call.flow == FLOW_CALL ? CALL_DIRECT : CALL_INDIRECT;
	ret->call_target = call.target;
}

/* Does control leave [start, end) other than by returning? */
static bool leaves_range(const struct recipe_cache *cache, const struct image *image, uint64_t start,
			 uint64_t end)
{
	struct bytes code = bytes_slice(image_code(image, start), 0, end - start);
	struct insn insn = { .flow = FLOW_NEXT };

	if (!cache->isa->decode || end - start > LEAVE_MAX_BYTES)
		return true;
	for (uint64_t at = start; code.len; at += insn.len, code = bytes_from(code, insn.len)) {
		if (cache->isa->decode(code, at, &insn) < 0 || insn.len == 0)
			return true;
		bool is_jump = insn.flow == FLOW_JUMP || insn.flow == FLOW_BRANCH;
		if (insn.flow == FLOW_JUMP_INDIRECT ||
		    (is_jump && (insn.target < start || insn.target >= end)))
			return true;
	}
	return insn.flow == FLOW_NEXT; /* runs on into what follows */
}

bool recipe_cache_holds(struct recipe_cache *cache, image_id image, uint64_t function, uint64_t vaddr)
{
	struct code *code = code_of(cache, image);
	bool holds;

	if (!code || findings_find(code->findings, FINDING_HOLDS, function, vaddr, &holds))
		return code && holds;
	struct compiled *compiled = compiled_at(cache, code, vaddr);
	return findings_keep(code->findings, FINDING_HOLDS, function, vaddr,
			     compiled && compiled->start == function);
}

static bool may_leave(struct recipe_cache *cache, struct code *code, uint64_t vaddr)
{
	struct compiled *function = compiled_at(cache, code, vaddr);
	struct stub stub;

	if (!function || stub_match(code->image, vaddr, &stub))
		return true;
	if (function->leaves == LEAVES_UNKNOWN) {
		bool leaves =
			leaves_range(cache, code->image, function->start, function->start + function->size);
		function->leaves = leaves ? LEAVES : LEAVES_NOT;
	}
	return function->leaves == LEAVES;
}

bool recipe_cache_may_leave(struct recipe_cache *cache, image_id image, uint64_t vaddr)
{
	struct code *code = code_of(cache, image);
	bool may;

	if (!code || findings_find(code->findings, FINDING_MAY_LEAVE, vaddr, 0, &may))
		return !code || may;
	return findings_keep(code->findings, FINDING_MAY_LEAVE, vaddr, 0, may_leave(cache, code, vaddr));
}

bool recipe_cache_stub_leads_to(struct recipe_cache *cache, image_id image, uint64_t vaddr, image_id callee,
				uint64_t function)
{
	bool is_wanted = cache->mode == UNWIND_AUTO || cache->mode == UNWIND_ANALYSIS;
	struct code *from = is_wanted ? code_of(cache, image) : NULL,
		    *to = from ? code_of(cache, callee) : NULL;

	if (!to || function == VADDR_NONE)
		return false;
	uint64_t name = findings_stub_name(from->findings, vaddr);
	return name && findings_has_name(to->findings, function, name);
}

uint64_t recipe_cache_kept(struct recipe_cache *cache, image_id image, uint64_t vaddr)
{
	struct code *code = code_of(cache, image);

	return code ? findings_kept(code->findings, vaddr) : 0;
}

uint64_t recipe_cache_kept_since(struct recipe_cache *cache, image_id image, uint64_t called, uint64_t vaddr)
{
	struct code *code = code_of(cache, image);

	if (!code || !findings_leads_only_to(code->findings, called, vaddr))
		return 0;
	return findings_kept(code->findings, called) & findings_kept(code->findings, vaddr);
}

/* ---- places ------------------------------------------------------------------------------------- */

static uint32_t analysis_at(struct recipe_cache *cache, struct code *code, uint64_t vaddr, bool has_cfi,
			    struct place *ret)
{
	bool is_alone = !has_cfi || cache->mode == UNWIND_ANALYSIS;
	uint64_t start = VADDR_NONE;

	if (cache->mode == UNWIND_CFI || cache->mode == UNWIND_FP)
		return RECIPE_NONE;
	uint32_t recipe = findings_recipe(code->findings, vaddr, is_alone, &start);
	if (ret->function == VADDR_NONE)
		ret->function = start;
	return recipe;
}

/* Nobody need keep these for the frame; sp is what the step below found. */
static void find_wants(const struct recipe_cache *cache, struct place *ret)
{
	const struct recipe_pair *pair = &ret->recipes;
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_LEN(pair->recipe); i++)
		if (pair->recipe[i] != RECIPE_NONE)
			mask |= recipe_reads(&cache->recipes, &cache->recipes.recipes.at[pair->recipe[i]]);
	ret->wants = mask & ~(cache->isa->callee_saved | 1ull << cache->isa->sp);
	ret->has_wants = ret->wants != 0;
}

static struct bytes code_ahead(void *context, uint64_t vaddr)
{
	return image_code(context, vaddr);
}

/*
 * Where no function is known to be, the code still says where it leads, or where it comes from. On a machine
 * whose calls push the return address what stands behind a call that does not come back would be believed
 * too.
 */
static uint32_t find_ahead(struct recipe_cache *cache, struct code *code, uint64_t vaddr, bool is_return,
			   struct place *ret)
{
	bool is_wanted = cache->mode == UNWIND_AUTO || cache->mode == UNWIND_ANALYSIS;

	if (!is_wanted || !cache->isa->decode || (is_return && cache->isa->call_pushes_ra))
		return RECIPE_NONE;
	uint32_t recipe =
		ahead_recipe(cache->ahead, code_ahead, code->image, vaddr, is_return, &cache->recipes);
	if (recipe == RECIPE_NONE)
		recipe = findings_marked_recipe(code->findings, vaddr - is_return, &ret->function);
	if (recipe == RECIPE_NONE)
		recipe =
			behind_recipe(cache->isa, code_ahead, code->image, vaddr, is_return, &cache->recipes);
	return recipe;
}

/* Is there no more than a guess that the return address is in a register which a call has overwritten since?
 */
static bool is_spent(const struct recipe_cache *cache, uint32_t recipe, bool is_return)
{
	if (recipe == RECIPE_NONE)
		return true;
	const struct recipe *it = &cache->recipes.recipes.at[recipe];
	const struct rule *ra = recipe_rule(&cache->recipes, it, cache->isa->ra);

	return is_return && !cache->isa->call_pushes_ra && it->trust == TRUST_GUESS &&
	       (!ra || ra->kind == RULE_SAME);
}

/* A stub is known by its bytes; where no unwind entry says more, it comes first. */
static void find_recipes(struct recipe_cache *cache, struct code *code, uint64_t vaddr, struct place *ret)
{
	uint32_t stub = RECIPE_NONE, cfi = RECIPE_NONE;
	struct compiled *function = compiled_at(cache, code, vaddr);

	if (!function && stub_home(code->image, vaddr, &vaddr))
		function = compiled_at(cache, code, vaddr);
	if (function) {
		ret->function = function->start;
		cfi = cfi_recipe(code, function, vaddr);
	}
	if ((cfi == RECIPE_NONE || cache->mode == UNWIND_ANALYSIS) && cache->mode != UNWIND_FP)
		stub = template_stub(code->image, cache->isa, vaddr, &cache->recipes, &ret->function);
	if (stub != RECIPE_NONE) {
		ret->recipes.recipe[0] = stub;
		return;
	}
	uint32_t analysis = analysis_at(cache, code, vaddr, cfi != RECIPE_NONE, ret);
	ret->recipes = recipe_choose(&cache->recipes, cache->isa, cache->mode, analysis, cfi);
	find_wants(cache, ret);
}

#define FIBER_END_INSNS 4

/* Fiber libraries make a fiber's function return to a few instructions that end the process. */
static bool is_fiber_end(const struct recipe_cache *cache, const struct code *code, uint64_t vaddr)
{
	static const char *const names[] = {
		"_exit", "_Exit", "exit", "quick_exit", "pthread_exit", "abort"
	};
	struct insn insn = { .flow = FLOW_NEXT };

	if (!cache->isa->decode)
		return false;
	for (unsigned n = 0; n < FIBER_END_INSNS && insn.flow == FLOW_NEXT; n++, vaddr += insn.len)
		if (cache->isa->decode(image_code(code->image, vaddr), vaddr, &insn) < 0 || insn.len == 0)
			return false;
	uint64_t name = insn.flow == FLOW_CALL ? findings_name(code->findings, insn.target) : 0;
	for (size_t i = 0; name && i < ARRAY_LEN(names); i++)
		if (name == analysis_name_number(names[i]))
			return true;
	return false;
}

/*
 * at: in the call that a goroutine's stack, or the runtime's own, may begin with. Go's tables call them
 * all outermost; the code may know better.
 */
static void find_go_role(struct recipe_cache *cache, struct code *code, uint64_t at, struct place *ret)
{
	enum go_role role = go_stacks_role(code->go, at);
	uint32_t stated = ret->recipes.recipe[0];

	ret->is_root |= role == GO_EXIT || role == GO_BEGIN;
	ret->is_trampoline |= role == GO_EXIT;
	if (role != GO_SWITCH)
		return;
	ret->ends_thread = true;
	uint32_t analysis = analysis_at(cache, code, at, false, ret);
	if (analysis != RECIPE_NONE && analysis != stated)
		ret->recipes = (struct recipe_pair){ { analysis, stated } };
}

static void find_place(struct recipe_cache *cache, struct code *code, uint64_t vaddr, bool is_return,
		       struct place *ret)
{
	read_code(code);
	uint32_t signal = template_signal(code->image, cache->isa, vaddr, &cache->recipes);
	if (signal != RECIPE_NONE) {
		ret->recipes.recipe[0] = signal;
		ret->is_trampoline = true;
		return;
	}
	/*
	 * A call may be the last instruction of its function: what holds is what held for the call. What
	 * stands behind it may even be the entry point, and is no root for that.
	 */
	uint64_t at = is_return ? vaddr - 1 : vaddr;
	find_recipes(cache, code, at, ret);
	if (is_spent(cache, ret->recipes.recipe[0], is_return) && ret->recipes.recipe[1] == RECIPE_NONE) {
		ret->recipes.recipe[0] = find_ahead(cache, code, vaddr, is_return, ret);
		find_wants(cache, ret);
	}
	ret->is_root = at < code->entry_end && template_is_entry(code->image, code->frames, at);
	enum go_role role = go_stacks_role(code->go, at);
	ret->is_between = !is_return && (role == GO_BETWEEN || role == GO_BEGIN);
	if (ret->is_between) /* before the change, or behind it? */
		ret->recipes = (struct recipe_pair){ { RECIPE_NONE, RECIPE_NONE } };
	if (!is_return)
		return;
	find_call(cache, code->image, vaddr, ret);
	if (ret->call == CALL_NONE &&
	    (template_is_context_start(code->image, cache->isa, vaddr) || is_fiber_end(cache, code, vaddr)))
		ret->is_trampoline = ret->is_root = true;
	ret->ends_thread =
		ret->call == CALL_INDIRECT && template_is_thread_start(code->image, cache->isa, vaddr);
	find_go_role(cache, code, at, ret);
}

void recipe_cache_place(struct recipe_cache *cache, image_id image, uint64_t vaddr, bool is_return,
			struct place *ret)
{
	struct code *code = code_of(cache, image);
	const struct image *known = images_get(cache->images, image);

	*ret = (struct place){ .recipes = { { RECIPE_NONE, RECIPE_NONE } },
			       .function = VADDR_NONE,
			       .call = CALL_UNKNOWN,
			       .is_trampoline = is_return && known && template_is_uprobes(known) };
	if (!code)
		return;
	ret->has_code = true;
	if (cache->mode == UNWIND_AUTO && findings_place(code->findings, vaddr, is_return, ret))
		return;
	find_place(cache, code, vaddr, is_return, ret);
	if (cache->mode == UNWIND_AUTO)
		findings_keep_place(code->findings, vaddr, is_return, ret);
}
