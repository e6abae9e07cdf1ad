/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/burst_ways.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/writer.h"
#include "binary/flow/flow.h"
#include "binary/functions/function.h"
#include "recording/burst_intervals.h"
#include "symbolize/demangle.h"

#define FUNCTIONS_MAX 256
#define BURST_REFUSED (UINT32_MAX - 1) /* its ways are unknown, or not wanted */
#define FRAMES_MAX 512
#define BRANCH_BYTES 24  /* struct perf_branch_entry */
#define STRETCH_MAX 4096 /* instructions between two taken branches */

struct burst_image {
	image_id id;
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
	struct functions *functions; /* NULL = its code is unknown */
};

struct burst_frame {
	uint32_t function; /* BURST_REFUSED: ways are not followed */
	uint32_t block, number, began;
};

/* Where an address belongs. */
struct burst_place {
	struct burst_image *image; /* NULL = unknown */
	uint64_t vaddr;
	uint32_t function, block;
};

void burst_ways_init(struct burst_ways *ways, struct paths *paths, char *const *names, size_t n_names)
{
	*ways = (struct burst_ways){ .paths = paths, .names = names, .n_names = n_names };
	/* Plans must not move: their ways point to them. */
	vec_reserve(&paths->functions, FUNCTIONS_MAX);
	vec_reserve(&paths->chosen.functions, FUNCTIONS_MAX);
}

/* ---- code --------------------------------------------------------------------------------------------- */

static struct burst_image *burst_image_of(struct burst_ways *w, image_id id)
{
	for (size_t i = 0; i < w->images.n; i++)
		if (w->images.at[i]->id == id)
			return w->images.at[i];
	struct burst_image *image = alloc_zero(1, sizeof(*image));
	image->id = id;
	image->image = images_get(w->paths->images, id);
	if (image->image && isa_for_machine(image->image->elf_machine)) {
		image->symbols = symbols_read(image->image);
		image->frames = frames_read(image->image);
		image->functions = functions_new(image->image, image->symbols, image->frames, NULL);
	}
	vec_push(&w->images, image);
	return image;
}

static bool burst_is_wanted(const struct burst_ways *w, const char *linkage, const char *readable)
{
	bool wanted = !w->n_names;

	for (size_t i = 0; i < w->n_names; i++)
		wanted |= chosen_fits(w->names[i], linkage, readable);
	return wanted;
}

/* Adds a function that is met for the first time. */
static uint32_t burst_add_function(struct burst_ways *w, struct burst_image *image, uint32_t index)
{
	const struct function *found = &image->functions->at[index];
	struct paths *paths = w->paths;
	CLEANUP(text_done) struct text plain = { 0 };
	const char *readable = found->name && demangle(found->name, &plain) ? plain.at : NULL;
	struct flow flow;
	struct diag why = { 0 };

	if (paths->functions.n == FUNCTIONS_MAX || function_is_stub(found) ||
	    !burst_is_wanted(w, found->name ? found->name : "", readable))
		return BURST_REFUSED;
	struct paths_function *function = &paths->functions.at[paths->functions.n];
	*function = (struct paths_function){ 0 };
	char *name = readable      ? alloc_text(readable)
		     : found->name ? alloc_text(found->name)
				   : alloc_printf("0x%llx", (unsigned long long)found->start);
	vec_push(&paths->chosen.functions,
		 ((struct chosen_function){ .name = name, .image = image->id, .vaddr = found->start }));
	flow_init(&flow, functions_facts(image->functions));
	functions_analyse_alone(image->functions, index, &flow);
	cfg_build(&function->plan.cfg, &flow);
	flow_done(&flow);
	if (ways_init(&function->plan.ways, &function->plan.cfg, &why) < 0) {
		cfg_done(&function->plan.cfg);
		return BURST_REFUSED;
	}
	function->chosen = &paths->chosen.functions.at[paths->chosen.functions.n - 1];
	return (uint32_t)paths->functions.n++;
}

static uint32_t burst_function_at(struct burst_ways *w, struct burst_image *image, uint64_t vaddr)
{
	uint32_t index = functions_find(image->functions, vaddr);

	if (index == FUNCTION_NONE)
		return BURST_REFUSED;
	const struct function *found = &image->functions->at[index];
	if (found->kind == FUNCTION_PART && found->parent != FUNCTION_NONE)
		index = found->parent;
	uint64_t key = hash_u64(image->functions->at[index].start ^ (uint64_t)image->id << 48);
	uint32_t known = map_find(&w->function_of, key);
	if (known == MAP_NONE) {
		known = burst_add_function(w, image, index);
		map_put(&w->function_of, key, known);
	}
	return known;
}

static struct burst_place burst_locate(struct burst_ways *w, uint64_t pc)
{
	struct burst_place place = { .function = BURST_REFUSED };

	for (size_t i = 0; i < w->paths->maps.n; i++) {
		const struct paths_map *map = &w->paths->maps.at[i];
		if (pc < map->start || pc >= map->end)
			continue;
		place.image = burst_image_of(w, map->image);
		place.vaddr = pc - map->bias;
		if (!place.image->functions)
			return place;
		place.function = burst_function_at(w, place.image, place.vaddr);
		if (place.function == BURST_REFUSED)
			return place;
		place.block = cfg_find(&w->paths->functions.at[place.function].plan.cfg, place.vaddr);
		if (place.block == UINT32_MAX)
			place.function = BURST_REFUSED;
		return place;
	}
	return place;
}

/* How control continues after the instruction there. */
static bool burst_decode(const struct burst_place *place, struct insn *ret)
{
	const struct isa *isa = place->image ? isa_for_machine(place->image->image->elf_machine) : NULL;

	return isa && isa->decode(image_code(place->image->image, place->vaddr), place->vaddr, ret) == 0;
}

/* ---- ways --------------------------------------------------------------------------------------------- */

/* Control enters a frame; its way is known only if it enters at the function's start. */
static void burst_enter(const struct burst_ways *w, const struct burst_place *place, uint32_t step,
			struct burst_frame *ret)
{
	*ret = (struct burst_frame){ place->function, place->block, WAYS_NONE, step };
	if (place->function == BURST_REFUSED)
		return;
	const struct paths_plan *plan = &w->paths->functions.at[place->function].plan;
	if (place->block == plan->cfg.entry && plan->cfg.blocks[place->block].start == place->vaddr)
		ret->number = plan->ways.blocks[place->block].start;
}

/* The way is complete. */
static void burst_count_way(struct burst_ways *w, const struct burst_frame *frame, uint32_t half)
{
	if (frame->function == BURST_REFUSED || frame->number == WAYS_NONE || frame->began > half)
		return;
	for (size_t i = w->counts.n; i-- > 0 && w->counts.at[i].burst == w->n_bursts;)
		if (w->counts.at[i].function == frame->function && w->counts.at[i].number == frame->number) {
			w->counts.at[i].count++;
			return;
		}
	vec_push(&w->counts,
		 ((struct burst_count){ frame->function, frame->number, (uint32_t)w->n_bursts, 0, 1 }));
}

/* From the end of a block to another one; WAYS_NONE: the function is left. */
static void burst_move(struct burst_ways *w, struct burst_frame *frame, uint32_t to, uint32_t step,
		       uint32_t half)
{
	const struct ways *ways = &w->paths->functions.at[frame->function].plan.ways;
	const struct way_block *at = &ways->blocks[frame->block];
	const struct way_edge *edge = NULL;

	for (uint32_t i = 0; i < at->n_edges && !edge; i++)
		if (ways->edges.at[at->first_edge + i].to == to)
			edge = &ways->edges.at[at->first_edge + i];
	if (edge && frame->number != WAYS_NONE)
		frame->number += edge->add;
	else if (!edge && to != WAYS_NONE)
		frame->number = WAYS_NONE; /* it is unknown how control came here */
	if (to == WAYS_NONE || (edge && edge->is_cut)) {
		burst_count_way(w, frame, half);
		frame->number = to == WAYS_NONE ? WAYS_NONE : ways->blocks[to].start;
		frame->began = step;
	}
	frame->block = to == WAYS_NONE ? frame->block : to;
}

/* One step within a frame: to the next instruction, to another block, or by a jump to another function. */
static void burst_go_on(struct burst_ways *w, const struct burst_place *before, const struct burst_place *now,
			uint32_t step, uint32_t half)
{
	struct burst_frame *top = &w->frames.at[w->frames.n - 1];

	if (top->function != now->function) {
		if (top->function != BURST_REFUSED)
			burst_move(w, top, WAYS_NONE, step, half);
		burst_enter(w, now, step, top);
		return;
	}
	if (top->function == BURST_REFUSED)
		return;
	bool was_last =
		w->paths->functions.at[top->function].plan.cfg.blocks[top->block].last == before->vaddr;
	if (was_last)
		burst_move(w, top, now->block, step, half);
	else if (top->block != now->block)
		*top = (struct burst_frame){ now->function, now->block, WAYS_NONE, step };
}

static void burst_return(struct burst_ways *w, const struct burst_place *now, uint32_t step, uint32_t half)
{
	struct burst_frame *top = &w->frames.at[w->frames.n - 1];

	if (top->function != BURST_REFUSED)
		burst_move(w, top, WAYS_NONE, step, half);
	if (--w->frames.n == 0)
		vec_push(&w->frames, ((struct burst_frame){ now->function, now->block, WAYS_NONE, step }));
	top = &w->frames.at[w->frames.n - 1];
	if (top->function != now->function || (top->function != BURST_REFUSED && top->block != now->block))
		*top = (struct burst_frame){ now->function, now->block, WAYS_NONE, step };
}

void burst_ways_add(struct burst_ways *w, struct bytes pcs)
{
	uint32_t n = (uint32_t)(pcs.len / sizeof(uint64_t)), half = n / 2;
	struct reader r = reader_of(pcs);
	struct burst_place before = { 0 };

	vec_clear(&w->frames);
	for (uint32_t i = 0; i < n; i++) {
		struct burst_place now = burst_locate(w, read_u64(&r));
		struct insn insn = { 0 };
		bool is_known = i && burst_decode(&before, &insn);
		bool is_call = is_known && (insn.flow == FLOW_CALL || insn.flow == FLOW_CALL_INDIRECT) &&
			       now.vaddr != before.vaddr + insn.len;
		if (!i || is_call) {
			struct burst_frame frame = { now.function, now.block, WAYS_NONE, i };
			if (i)
				burst_enter(w, &now, i, &frame);
			if (w->frames.n == FRAMES_MAX)
				break;
			vec_push(&w->frames, frame);
		} else if (is_known && insn.flow == FLOW_RETURN)
			burst_return(w, &now, i, half);
		else
			burst_go_on(w, &before, &now, i, half);
		before = now;
	}
	w->n_bursts++;
}

/* ---- branches ----------------------------------------------------------------------------------------- */

/* Steps from an address to a later branch; false if the code does not lead there. */
static bool burst_walk(struct burst_ways *w, uint64_t from, uint64_t to, struct writer *steps)
{
	struct insn insn;

	for (unsigned i = 0; i < STRETCH_MAX; i++) {
		struct burst_place place = burst_locate(w, from);
		write_u64(steps, from);
		if (from == to)
			return true;
		if (!burst_decode(&place, &insn) || !insn.len || from > to)
			return false;
		from += insn.len;
	}
	return false;
}

void burst_ways_add_branches(struct burst_ways *w, struct bytes branches)
{
	size_t n = branches.len / BRANCH_BYTES;
	struct writer steps = { 0 };

	for (size_t i = n; i-- > 1;) { /* the oldest first */
		struct reader newer = reader_of(bytes_from(branches, (i - 1) * BRANCH_BYTES));
		struct reader older = reader_of(bytes_from(branches, i * BRANCH_BYTES + sizeof(uint64_t)));
		if (!burst_walk(w, read_u64(&older), read_u64(&newer), &steps))
			writer_clear(&steps); /* a signal, or unknown code: drops what came before */
	}
	burst_ways_add(w, writer_bytes(&steps));
	writer_done(&steps);
}

/* ---- the end ------------------------------------------------------------------------------------------ */

static int burst_compare(const void *left, const void *right)
{
	const struct paths_function *a = left, *b = right;

	return a->n_ways > b->n_ways ? -1 : a->n_ways < b->n_ways;
}

static int burst_compare_counts(const void *left, const void *right)
{
	const struct paths_count *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void burst_sum(struct burst_ways *w)
{
	for (size_t i = 0; i < w->counts.n; i++) {
		const struct burst_count *from = &w->counts.at[i];
		struct paths_function *function = &w->paths->functions.at[from->function];
		size_t k = 0;
		while (k < function->counts.n && function->counts.at[k].number != from->number)
			k++;
		if (k == function->counts.n)
			vec_push(&function->counts, ((struct paths_count){ .number = from->number,
									   .caller_image = IMAGE_NONE }));
		function->counts.at[k].count += from->count;
		function->n_ways += from->count;
	}
}

void burst_ways_finish(struct burst_ways *w)
{
	struct paths *paths = w->paths;

	burst_sum(w);
	burst_intervals(w->counts.at, w->counts.n, (uint32_t)w->n_bursts, paths);
	for (size_t i = 0; i < paths->functions.n; i++)
		if (paths->functions.at[i].counts.n)
			qsort(paths->functions.at[i].counts.at, paths->functions.at[i].counts.n,
			      sizeof(struct paths_count), burst_compare_counts);
	if (paths->functions.n)
		qsort(paths->functions.at, paths->functions.n, sizeof(*paths->functions.at), burst_compare);
	for (size_t i = 0; i < paths->functions.n; i++)
		paths->functions.at[i].plan.ways.cfg = &paths->functions.at[i].plan.cfg;
	while (paths->functions.n && !paths->functions.at[paths->functions.n - 1].n_ways)
		paths_plan_done(&paths->functions.at[--paths->functions.n].plan);
	for (size_t i = 0; i < w->images.n; i++) {
		functions_free(w->images.at[i]->functions);
		frames_free(w->images.at[i]->frames);
		symbols_free(w->images.at[i]->symbols);
		free(w->images.at[i]);
	}
	vec_done(&w->images);
	vec_done(&w->counts);
	vec_done(&w->frames);
	map_done(&w->function_of);
}
