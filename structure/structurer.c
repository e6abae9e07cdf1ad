/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/structurer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "binary/flow.h"

#define SLICE 2048u /* functions whose structures are held at once */

/* What one thread works with. */
struct bench {
	struct flow flow;
	VEC(const struct function_map *) maps; /* of the function at hand */
};

struct structurer {
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
	struct functions *functions;
	struct bench bench;
	struct procedures procedures;
	const struct function_map *known; /* the maps that procedures were made from */
};

static void bench_init(struct bench *bench, struct functions *functions)
{
	*bench = (struct bench){ 0 };
	flow_init(&bench->flow, functions);
}

static void bench_done(struct bench *bench)
{
	flow_done(&bench->flow);
	vec_done(&bench->maps);
}

struct structurer *structurer_new(struct image *image)
{
	struct structurer *s = alloc_zero(1, sizeof(*s));

	s->image = image;
	s->symbols = symbols_read(image);
	s->frames = frames_read(image);
	s->functions = functions_new(image, s->symbols, s->frames, NULL);
	if (!s->functions) {
		structurer_free(s);
		return NULL;
	}
	bench_init(&s->bench, s->functions);
	return s;
}

void structurer_free(struct structurer *s)
{
	if (!s)
		return;
	if (s->functions)
		bench_done(&s->bench);
	functions_free(s->functions);
	frames_free(s->frames);
	symbols_free(s->symbols);
	procedures_done(&s->procedures);
	free(s);
}

void structurer_survey(struct structurer *s)
{
	functions_survey(s->functions);
}

const struct functions *structurer_functions(const struct structurer *s)
{
	return s->functions;
}

static const struct function_map *map_at(const struct function_map *maps, size_t n, uint64_t vaddr)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (maps[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr - maps[low - 1].vaddr < maps[low - 1].size ? &maps[low - 1] : NULL;
}

static void find_procedures(struct structurer *s, const struct function_map *maps, size_t n_maps)
{
	if (s->known != maps)
		procedures_find_all(&s->procedures, maps, n_maps);
	s->known = maps;
}

/* The maps to look things up in. */
struct source {
	const struct function_map *maps;
	size_t n;
	const struct structure_options *options;
};

/* Of the function that the bench's flow has analysed. */
static void build(const struct structurer *s, struct bench *bench, uint64_t vaddr, const struct source *source, struct structure *ret)
{
	struct structure_options all = source->options ? *source->options : (struct structure_options){ 0 };
	struct cfg cfg;

	cfg_build(&cfg, &bench->flow);
	vec_clear(&bench->maps);
	for (size_t i = 0; i < cfg.n_parts; i++) {
		const struct function_map *map = map_at(source->maps, source->n, i ? cfg.parts[i].start : vaddr);
		if (map)
			vec_push(&bench->maps, map);
	}
	all.procedures = &s->procedures;
	structure_build(&cfg, bench->maps.at, bench->maps.n, &all, ret);
	ret->function = vaddr;
	cfg_done(&cfg);
}

/* Its index; FUNCTION_NONE if there is nothing to analyse. */
static uint32_t find(const struct structurer *s, uint64_t vaddr)
{
	uint32_t index = functions_index(s->functions, vaddr);

	return index == FUNCTION_NONE || s->functions->at[index].kind == FUNCTION_STUB ? FUNCTION_NONE : index;
}

/* The same; a start that was recovered, and not named, is looked for as it was then: with a survey, which is dear. */
static uint32_t find_recovered(struct structurer *s, uint64_t vaddr, const struct function_map *map)
{
	uint32_t index = find(s, vaddr);
	bool is_known = index != FUNCTION_NONE && s->functions->at[index].start == vaddr;

	if (is_known || !map || map->source != MAP_FROM_NOTHING)
		return index;
	structurer_survey(s);
	return find(s, vaddr);
}

bool structurer_build(struct structurer *s, uint64_t vaddr, const struct function_map *maps, size_t n_maps, struct intern *strings,
		      const struct structure_options *options, struct structure *ret)
{
	struct flow *flow = &s->bench.flow;
	uint32_t index = find_recovered(s, vaddr, map_at(maps, n_maps, vaddr));

	*ret = (struct structure){ .function = vaddr, .image = IMAGE_NONE };
	find_procedures(s, maps, n_maps);
	if (index == FUNCTION_NONE)
		return false;
	flow_analyse(flow, index);
	if (functions_learn_returns(s->functions, flow))
		flow_analyse(flow, index);
	if (flow->verdict == FLOW_REFUSED)
		return false;
	build(s, &s->bench, vaddr, &(struct source){ maps, n_maps, options }, ret);
	structure_name_aliens(ret, strings);
	return true;
}

/* ---- many at once -------------------------------------------------------------------------- */

struct slice {
	const struct structurer *structurer;
	const struct structure_batch *batch;
	struct bench *benches; /* per thread */
	size_t first;
	struct structure *found; /* no scopes: not recovered */
};

static void build_one(void *context, unsigned worker, size_t index)
{
	const struct slice *slice = context;
	const struct structure_batch *batch = slice->batch;
	struct bench *bench = &slice->benches[worker];
	uint64_t vaddr = batch->vaddrs[slice->first + index];
	uint32_t function = find(slice->structurer, vaddr);

	slice->found[index] = (struct structure){ 0 };
	if (function == FUNCTION_NONE)
		return;
	flow_analyse(&bench->flow, function);
	if (bench->flow.verdict != FLOW_REFUSED)
		build(slice->structurer, bench, vaddr, &(struct source){ batch->maps, batch->n_maps, batch->options },
		      &slice->found[index]);
}

static void hand_over(const struct slice *slice, size_t n)
{
	const struct structure_batch *batch = slice->batch;

	for (size_t i = 0; i < n; i++) {
		struct structure *structure = &slice->found[i];
		if (structure->scopes.n) {
			structure_name_aliens(structure, batch->strings);
			batch->take(batch->context, slice->first + i, structure);
		}
		structure_done(structure);
	}
}

void structurer_build_all(struct structurer *s, const struct structure_batch *batch)
{
	unsigned n_threads = pool_threads(batch->n_threads);
	struct slice slice = { .structurer = s, .batch = batch };

	find_procedures(s, batch->maps, batch->n_maps);
	functions_settle(s->functions, n_threads);
	slice.benches = alloc_zero(n_threads, sizeof(*slice.benches));
	slice.found = alloc_zero(SLICE, sizeof(*slice.found));
	for (unsigned i = 0; i < n_threads; i++)
		bench_init(&slice.benches[i], s->functions);
	for (; slice.first < batch->n; slice.first += SLICE) {
		size_t left = batch->n - slice.first, n = left < SLICE ? left : SLICE;
		pool_run(n_threads, n, build_one, &slice);
		hand_over(&slice, n);
	}
	for (unsigned i = 0; i < n_threads; i++)
		bench_done(&slice.benches[i]);
	free(slice.benches);
	free(slice.found);
}
