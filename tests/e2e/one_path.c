/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_path: checks that every stack in a profile of `paths` is possible: all its frames are of one path, and
 * a complete stack that ends in a leaf has as many frames as the path is deep.
 *
 *     one_path PROFILE DEPTH
 *
 * Prints counts; exit status 1 if a stack is impossible.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

struct tally {
	uint64_t samples, complete, whole, mixed, short_of;
	uint64_t deepest;
};

/* The letter of a path's function; 0 for others. */
static char path_of(const struct profile *p, const struct cct_node *node, bool *is_leaf)
{
	bool is_return = node->flags & CCT_IS_RETURN;
	const struct function_map *map = profile_function(p, node->image, node->vaddr - is_return);
	const char *name = map ? intern_text(&p->strings, map->name) : "";

	*is_leaf = strncmp(name, "leaf_", 5) == 0;
	if (!*is_leaf && strncmp(name, "way_", 4) != 0)
		return 0;
	return strrchr(name, '_')[1];
}

static void check(const struct profile *p, uint32_t at, uint64_t samples, uint64_t depth, struct tally *tally)
{
	uint64_t n_ways = 0;
	char path = 0;
	bool is_mixed = false, has_leaf = false;

	for (; at > CCT_INCOMPLETE; at = p->cct.nodes.at[at].parent) {
		bool is_leaf;
		char letter = path_of(p, &p->cct.nodes.at[at], &is_leaf);
		is_mixed |= letter && path && letter != path;
		path = letter ? letter : path;
		has_leaf |= is_leaf;
		n_ways += letter && !is_leaf;
	}
	bool is_complete = at == CCT_ROOT;
	tally->samples += samples;
	tally->complete += is_complete ? samples : 0;
	tally->whole += is_complete && n_ways == depth ? samples : 0;
	tally->mixed += is_mixed ? samples : 0;
	tally->short_of += is_complete && (n_ways > depth || (has_leaf && n_ways != depth)) ? samples : 0;
	tally->deepest = n_ways > tally->deepest ? n_ways : tally->deepest;
}

int main(int argc, char **argv)
{
	struct profile *p = NULL;
	struct diag diag = { 0 };
	struct tally tally = { 0 };

	if (argc != 3 || profile_read(argv[1], &p, &diag) < 0) {
		printf("unreadable: %s: %s\n", diag.what, diag.why);
		return 1;
	}
	for (size_t i = 0; i < p->cct.values.n; i++)
		if (p->cct.values.at[i].metric == 0)
			check(p, p->cct.values.at[i].node, p->cct.values.at[i].value,
			      strtoull(argv[2], NULL, 10), &tally);
	printf("samples %" PRIu64 "\ncomplete %" PRIu64 "\nwhole %" PRIu64 "\nmixed %" PRIu64
	       "\nshort %" PRIu64 "\ndeepest %" PRIu64 "\n",
	       tally.samples, tally.complete, tally.whole, tally.mixed, tally.short_of, tally.deepest);
	profile_free(p);
	return tally.mixed || tally.short_of;
}
