/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/source_map.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"

struct rewriting {
	const struct source_map *rules;
	size_t n;
	struct intern *strings;
	struct map done; /* old id to new */
};

/* What follows the rule's prefix; NULL if the path does not start with it. */
static const char *source_map_rest_of(const char *path, const char *prefix)
{
	size_t len = strlen(prefix);

	while (len > 1 && prefix[len - 1] == '/')
		len--;
	if (strncmp(path, prefix, len) != 0)
		return NULL;
	return path[len] == '\0' || path[len] == '/' || prefix[len - 1] == '/' ? path + len : NULL;
}

static uint32_t rewrite(struct rewriting *r, uint32_t id)
{
	const char *path = intern_text(r->strings, id);

	for (size_t i = 0; i < r->n; i++) {
		const char *rest = source_map_rest_of(path, r->rules[i].from);
		if (!rest)
			continue;
		CLEANUP(freep) char *mapped = alloc_printf("%s%s", r->rules[i].to, rest);
		return intern_add(r->strings, mapped);
	}
	return id;
}

static void source_map_rewrite(struct rewriting *r, uint32_t *id)
{
	uint32_t known = map_find(&r->done, *id);

	if (known == MAP_NONE) {
		known = rewrite(r, *id);
		map_put(&r->done, *id, known);
	}
	*id = known;
}

void source_map_apply(const struct source_map *rules, size_t n, struct intern *strings, function_maps *maps,
		      size_t first)
{
	struct rewriting r = { .rules = rules, .n = n, .strings = strings };

	for (size_t i = first; i < maps->n && n > 0; i++) {
		struct function_map *map = &maps->at[i];
		source_map_rewrite(&r, &map->decl_file);
		for (size_t j = 0; j < map->lines.n; j++)
			source_map_rewrite(&r, &map->lines.at[j].file);
		for (size_t j = 0; j < map->inlines.n; j++) {
			source_map_rewrite(&r, &map->inlines.at[j].decl_file);
			source_map_rewrite(&r, &map->inlines.at[j].call_file);
		}
	}
	map_done(&r.done);
}
