/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/structurer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "binary/flow.h"

struct structurer {
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
	struct functions *functions;
	struct flow flow;
	VEC(const struct function_map *) maps; /* of the function at hand */
	struct procedures procedures;
	const struct function_map *known; /* the maps that procedures were made from */
};

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
	flow_init(&s->flow, s->functions);
	return s;
}

void structurer_free(struct structurer *s)
{
	if (!s)
		return;
	if (s->functions)
		flow_done(&s->flow);
	functions_free(s->functions);
	frames_free(s->frames);
	symbols_free(s->symbols);
	vec_done(&s->maps);
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

bool structurer_build(struct structurer *s, uint64_t vaddr, const struct function_map *maps, size_t n_maps, struct intern *strings,
		      const struct structure_options *options, struct structure *ret)
{
	uint32_t index = functions_index(s->functions, vaddr);
	struct cfg cfg;

	*ret = (struct structure){ .function = vaddr, .image = IMAGE_NONE };
	if (s->known != maps)
		procedures_find_all(&s->procedures, maps, n_maps);
	s->known = maps;
	if (index == FUNCTION_NONE || s->functions->at[index].kind == FUNCTION_STUB)
		return false;
	flow_analyse(&s->flow, index);
	if (functions_learn_returns(s->functions, &s->flow))
		flow_analyse(&s->flow, index);
	if (s->flow.verdict == FLOW_REFUSED)
		return false;
	cfg_build(&cfg, &s->flow);
	vec_clear(&s->maps);
	for (size_t i = 0; i < cfg.n_parts; i++) {
		const struct function_map *map = map_at(maps, n_maps, i ? cfg.parts[i].start : vaddr);
		if (map)
			vec_push(&s->maps, map);
	}
	struct structure_options all = options ? *options : (struct structure_options){ 0 };
	all.procedures = &s->procedures;
	structure_build(&cfg, s->maps.at, s->maps.n, strings, &all, ret);
	ret->function = vaddr;
	cfg_done(&cfg);
	return true;
}
