/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/structurer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/search.h"
#include "binary/flow/flow.h"
#include "binary/functions/function.h"
#include "structure/contexts.h"

#define SLICE 2048u /* functions whose structures are in memory at once */

/* Identifies the procedures of one file. */
struct seal {
	uint32_t file;
	uint64_t hash;
};

struct structurer {
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
	struct functions *functions;
	bool is_lent; /* the functions belong to the caller */
	struct flow flow;
	struct procedures procedures;
	const struct function_map *known; /* the maps that procedures were made from */
	VEC(struct seal) seals;           /* of the files that procedures are written in, by file */
};

struct structurer *structurer_new(struct image *image)
{
	if (!isa_for_machine(image->elf_machine))
		return NULL;
	struct structurer *s = alloc_zero(1, sizeof(*s));
	s->image = image;
	return s;
}

void structurer_lend(struct structurer *s, struct functions *functions)
{
	s->functions = functions;
	s->is_lent = true;
	flow_init(&s->flow, functions_facts(functions));
}

struct functions *structurer_functions(struct structurer *s)
{
	if (s->functions)
		return s->functions;
	s->symbols = symbols_read(s->image);
	s->frames = frames_read(s->image);
	s->functions = functions_new(s->image, s->symbols, s->frames, NULL);
	flow_init(&s->flow, functions_facts(s->functions));
	return s->functions;
}

void structurer_free(struct structurer *s)
{
	if (!s)
		return;
	if (s->functions)
		flow_done(&s->flow);
	if (!s->is_lent)
		functions_free(s->functions);
	frames_free(s->frames);
	symbols_free(s->symbols);
	procedures_done(&s->procedures);
	vec_done(&s->seals);
	free(s);
}

void structurer_survey(struct structurer *s)
{
	functions_survey(structurer_functions(s));
}

static const struct function_map *structurer_map_at(const struct function_map *maps, size_t n, uint64_t vaddr)
{
	size_t behind = search_first(i, n, maps[i].vaddr > vaddr);

	return behind && vaddr - maps[behind - 1].vaddr < maps[behind - 1].size ? &maps[behind - 1] : NULL;
}

static void find_procedures(struct structurer *s, const struct function_map *maps, size_t n_maps)
{
	if (s->known != maps)
		procedures_find_all(&s->procedures, maps, n_maps);
	s->known = maps;
}

void structurer_finish(const struct structurer *s, const struct cfg *cfg, uint64_t vaddr,
		       const struct structure_source *source, const struct structure_options *options,
		       struct structure *ret)
{
	struct structure_options all = options ? *options : (struct structure_options){ 0 };
	VEC(const struct function_map *) maps = { 0 }; /* of the function */

	for (size_t i = 0; i < cfg->n_parts; i++) {
		const struct function_map *map =
			structurer_map_at(source->maps, source->n, i ? cfg->parts[i].start : vaddr);
		if (map)
			vec_push(&maps, map);
	}
	*ret = (struct structure){ .image = IMAGE_NONE };
	all.procedures = &s->procedures;
	structure_build(cfg, maps.at, maps.n, &all, ret);
	ret->function = vaddr;
	vec_done(&maps);
}

/* Its index; FUNCTION_NONE if there is nothing to analyse. */
static uint32_t structurer_find(const struct structurer *s, uint64_t vaddr)
{
	uint32_t index = functions_index(s->functions, vaddr);

	return index == FUNCTION_NONE || s->functions->at[index].kind == FUNCTION_STUB ? FUNCTION_NONE
										       : index;
}

/* The same; a start that was recovered, and has no name, is searched again, which may be expensive. */
static uint32_t structurer_find_recovered(struct structurer *s, uint64_t vaddr,
					  const struct function_map *map)
{
	uint32_t index = structurer_find(s, vaddr);
	bool is_known = index != FUNCTION_NONE && s->functions->at[index].start == vaddr;

	if (is_known || !map || map->source != MAP_FROM_NOTHING)
		return index;
	functions_find(s->functions, vaddr);
	return structurer_find(s, vaddr);
}

bool structurer_recover(struct structurer *s, uint64_t vaddr, const struct structure_source *source,
			struct cfg *ret)
{
	struct flow *flow = &s->flow;

	structurer_functions(s);
	uint32_t index =
		structurer_find_recovered(s, vaddr, structurer_map_at(source->maps, source->n, vaddr));
	find_procedures(s, source->maps, source->n);
	if (index == FUNCTION_NONE)
		return false;
	functions_analyse_alone(s->functions, index, flow);
	if (flow->verdict == FLOW_REFUSED)
		return false;
	cfg_build(ret, flow);
	return true;
}

bool structurer_build(struct structurer *s, uint64_t vaddr, const struct structure_source *source,
		      const struct structure_options *options, struct structure *ret)
{
	struct cfg cfg;

	*ret = (struct structure){ .function = vaddr, .image = IMAGE_NONE };
	if (!structurer_recover(s, vaddr, source, &cfg))
		return false;
	structurer_finish(s, &cfg, vaddr, source, options, ret);
	cfg_done(&cfg);
	return true;
}

bool structurer_is_part(struct structurer *s, uint64_t vaddr)
{
	const struct functions *functions = structurer_functions(s);
	uint32_t index = functions_index(functions, vaddr);
	const struct function *f = index == FUNCTION_NONE ? NULL : &functions->at[index];

	return f && f->start == vaddr && f->kind != FUNCTION_STUB &&
	       (f->kind == FUNCTION_PART || (!function_is_sure(f) && functions_looks_partial(functions, f)));
}

/* ---- what a structure depends on --------------------------------------------------------------- */

static uint64_t hash_text(const struct intern *strings, uint32_t id)
{
	const char *text = intern_text(strings, id);

	return hash_bytes((struct bytes){ (const uint8_t *)text, strlen(text) });
}

static uint64_t hash_procedure(const struct procedure *p, const struct intern *strings)
{
	uint64_t hash = hash_u64((uint64_t)p->line << 32 | p->end_line);

	hash = hash_u64(hash ^ hash_text(strings, p->name));
	return hash_u64(hash ^ hash_text(strings, p->linkage));
}

static void seal_files(struct structurer *s, const struct intern *strings)
{
	const struct procedure *list = s->procedures.list.at;

	vec_clear(&s->seals);
	for (size_t i = 0; i < s->procedures.list.n; i++) {
		if (i == 0 || list[i].file != list[i - 1].file)
			vec_push(&s->seals, (struct seal){ list[i].file, 0 });
		struct seal *seal = &s->seals.at[s->seals.n - 1];
		seal->hash = hash_u64(seal->hash ^ hash_procedure(&list[i], strings));
	}
}

static uint64_t seal_of(const struct structurer *s, uint32_t file)
{
	size_t at = search_first(i, s->seals.n, s->seals.at[i].file >= file);

	return at < s->seals.n && s->seals.at[at].file == file ? s->seals.at[at].hash : 0;
}

/* If inlined calls are not described, foreign code is recognised by its lines: by the procedures of its
 * files. */
static uint64_t hash_procedures(const struct structurer *s, const struct function_map *map)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < map->lines.n; i++)
		if (i == 0 || map->lines.at[i].file != map->lines.at[i - 1].file)
			hash = hash_u64(hash ^ seal_of(s, map->lines.at[i].file));
	return hash;
}

static uint64_t hash_map(const struct structurer *s, const struct function_map *map)
{
	if (!map)
		return 0;
	uint64_t hash = hash_u64(hash_u64(map->vaddr) ^ map->size);
	return hash_u64(hash ^ map->source ^ (contexts_are_described(map) ? 0 : hash_procedures(s, map)));
}

uint64_t structurer_basis(struct structurer *s, const struct structure *structure,
			  const struct structure_source *source)
{
	if (s->known != source->maps || s->seals.n == 0) {
		find_procedures(s, source->maps, source->n);
		seal_files(s, source->strings);
	}
	uint64_t hash = hash_map(s, structurer_map_at(source->maps, source->n, structure->function));
	for (size_t i = 1; i < structure->extents.n; i++)
		hash = hash_u64(hash ^ hash_map(s, structurer_map_at(source->maps, source->n,
								     structure->extents.at[i].start)));
	return hash;
}

/* ---- many at once -------------------------------------------------------------------------- */

struct slice {
	const struct structurer *structurer;
	const struct structure_batch *batch;
	struct flow *flows; /* per thread */
	size_t first;
	struct structure *found; /* without scopes: not recovered */
};

static void build_one(void *context, unsigned worker, size_t index)
{
	const struct slice *slice = context;
	const struct structure_batch *batch = slice->batch;
	struct flow *flow = &slice->flows[worker];
	uint64_t vaddr = batch->vaddrs[slice->first + index];
	uint32_t function = structurer_find(slice->structurer, vaddr);

	slice->found[index] = (struct structure){ 0 };
	if (function == FUNCTION_NONE)
		return;
	functions_analyse_one(slice->structurer->functions, function, flow);
	struct structure_source source = { batch->maps, batch->n_maps, batch->strings };
	struct cfg cfg;
	if (flow->verdict == FLOW_REFUSED)
		return;
	cfg_build(&cfg, flow);
	structurer_finish(slice->structurer, &cfg, vaddr, &source, batch->options, &slice->found[index]);
	cfg_done(&cfg);
}

static void hand_over(const struct slice *slice, size_t n)
{
	const struct structure_batch *batch = slice->batch;

	for (size_t i = 0; i < n; i++) {
		struct structure *structure = &slice->found[i];
		if (structure->scopes.n) {
			structure_name(structure, batch->strings);
			batch->take(batch->context, slice->first + i, structure);
		}
		structure_done(structure);
	}
}

void structurer_build_all(struct structurer *s, const struct structure_batch *batch)
{
	unsigned n_threads = pool_threads(batch->n_threads);
	struct slice slice = { .structurer = s, .batch = batch };

	structurer_functions(s);
	find_procedures(s, batch->maps, batch->n_maps);
	functions_settle(s->functions, n_threads);
	slice.flows = alloc_zero(n_threads, sizeof(*slice.flows));
	slice.found = alloc_zero(SLICE, sizeof(*slice.found));
	for (unsigned i = 0; i < n_threads; i++)
		flow_init(&slice.flows[i], functions_facts(s->functions));
	for (; slice.first < batch->n; slice.first += SLICE) {
		size_t left = batch->n - slice.first, n = left < SLICE ? left : SLICE;
		pool_run(n_threads, n, build_one, &slice);
		hand_over(&slice, n);
	}
	for (unsigned i = 0; i < n_threads; i++)
		flow_done(&slice.flows[i]);
	free(slice.flows);
	free(slice.found);
}
