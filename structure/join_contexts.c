/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where regions are started. A call of the runtime always starts the same region: if the starting
 * thread was sampled in a region below that call, the region belongs to the call. Otherwise, for example if
 * it was only sampled while waiting for the others, the region belongs to the function that makes the call:
 * by the name that GCC gives the region, or because it is written between the lines of the function.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "structure/join_private.h"

/* A call of the runtime, and the region it starts; JOIN_NONE = not seen. */
struct join_site {
	uint64_t vaddr;
	image_id image;
	uint32_t region;
	uint32_t node; /* one of the nodes it was seen in */
	bool is_fork;
};

typedef VEC(struct join_site) join_sites;

static int join_compare_sites(const void *left, const void *right)
{
	const struct join_site *a = left, *b = right;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->region != b->region)
		return a->region < b->region ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Is it code of the program directly above the runtime, in a thread that is not a worker? */
static bool join_is_site(const struct joiner *j, uint32_t node)
{
	const struct cct_node *n = &j->input->cct->nodes.at[node];
	const struct join_node *parent = &j->nodes[n->parent];

	return openmp_is_runtime(j->nodes[node].role) && !openmp_is_runtime(parent->role) &&
	       n->parent > CCT_INCOMPLETE && !parent->is_incomplete && parent->root == JOIN_NONE;
}

static void join_add_site(const struct joiner *j, join_sites *sites, uint32_t anchor, uint32_t region,
			  bool is_fork)
{
	const struct cct_node *n = &j->input->cct->nodes.at[anchor];

	if (anchor > CCT_INCOMPLETE)
		vec_push(sites, (struct join_site){ n->vaddr, n->image, region, anchor, is_fork });
}

/* Sorts, and keeps each pair of call and region once; calls without a region are last in their group. */
static void join_settle_sites(join_sites *sites)
{
	size_t n = 0;

	if (sites->n)
		qsort(sites->at, sites->n, sizeof(*sites->at), join_compare_sites);
	for (size_t i = 0; i < sites->n; i++) {
		struct join_site *last = n ? &sites->at[n - 1] : NULL, *site = &sites->at[i];
		bool is_same = last && last->image == site->image && last->vaddr == site->vaddr;
		if (is_same && (site->region == last->region || site->region == JOIN_NONE))
			last->is_fork |= site->is_fork;
		else
			sites->at[n++] = *site;
	}
	sites->n = n;
}

static void join_find_sites(const struct joiner *j, join_sites *sites)
{
	for (uint32_t i = CCT_INCOMPLETE + 1; i < j->input->cct->nodes.n; i++) {
		const struct join_node *node = &j->nodes[i];
		uint32_t parent = j->input->cct->nodes.at[i].parent;
		if (join_is_site(j, i))
			join_add_site(j, sites, parent, JOIN_NONE, node->role == OPENMP_FORK);
		if (node->role == OPENMP_REGION && node->root == JOIN_NONE && node->is_forked &&
		    !node->is_incomplete && openmp_is_runtime(j->nodes[parent].role))
			join_add_site(j, sites, node->anchor, node->map, false);
	}
	join_settle_sites(sites);
}

/* ---- regions that were not seen below a call ---------------------------------------------------- */

static bool join_is_host_name(const struct intern *strings, uint32_t id, const char *region, size_t len)
{
	const char *name = intern_text(strings, id);

	return id && strlen(name) == len && strncmp(name, region, len) == 0;
}

/* Is the region written in the function that makes the call? ret_far: how many lines are between. */
static bool join_is_host(const struct joiner *j, const struct join_site *site,
			 const struct function_map *region, uint32_t *ret_far)
{
	const struct join_input *input = j->input;
	const struct function_map *map =
		function_maps_find(input->functions, input->n_functions, site->image, site->vaddr - 1);
	struct location chain[LOCATION_MAX_DEPTH];

	if (!map || site->vaddr - 1 - map->vaddr > UINT32_MAX)
		return false;
	size_t n =
		function_map_locate(map, (uint32_t)(site->vaddr - 1 - map->vaddr), chain, LOCATION_MAX_DEPTH);
	const char *name = intern_text(input->strings, region->linkage ? region->linkage : region->name);
	size_t len = openmp_host_length(name);
	uint32_t line = chain[0].line;
	*ret_far = line > region->decl_line ? line - region->decl_line : region->decl_line - line;
	for (size_t i = 0; len && i < n; i++)
		if (join_is_host_name(input->strings, chain[i].linkage, name, len) ||
		    join_is_host_name(input->strings, chain[i].function, name, len))
			return true;
	return len == 0 && region->decl_file && region->decl_file == map->decl_file &&
	       region->decl_line >= map->decl_line && region->decl_line <= map->end_line;
}

/* The nearest call of its function that starts no other region. */
static struct join_site *join_guess_site(const struct joiner *j, const join_sites *sites, uint32_t region)
{
	struct join_site *best = NULL;
	uint32_t least = UINT32_MAX, far;

	for (size_t i = 0; i < sites->n; i++) {
		struct join_site *site = &sites->at[i];
		if (site->region == JOIN_NONE && site->is_fork &&
		    join_is_host(j, site, &j->input->functions[region], &far) && (!best || far < least)) {
			best = site;
			least = far;
		}
	}
	return best;
}

static void join_guess_sites(const struct joiner *j, join_sites *sites)
{
	CLEANUP(freep) bool *is_done = alloc_zero(j->input->n_functions + 1, sizeof(bool));

	for (size_t i = 0; i < sites->n; i++)
		if (sites->at[i].region != JOIN_NONE)
			is_done[sites->at[i].region] = true;
	for (uint32_t i = 0; i < j->input->cct->nodes.n; i++) {
		uint32_t region = j->nodes[i].map;
		if (j->nodes[i].root != i || is_done[region])
			continue;
		struct join_site *site = join_guess_site(j, sites, region);
		if (site)
			site->region = region;
		is_done[region] = true;
	}
}

/* ---- contexts ----------------------------------------------------------------------------------- */

static int join_compare_contexts(const void *left, const void *right)
{
	const struct join_context *a = left, *b = right;

	if (a->region != b->region)
		return a->region < b->region ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Every node with one of these calls starts the region of the call. */
static void join_add_contexts(struct joiner *j, const join_sites *sites)
{
	const struct cct *cct = j->input->cct;
	CLEANUP(freep) bool *is_added = alloc_zero(cct->nodes.n + 1, sizeof(bool));

	for (uint32_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++) {
		uint32_t anchor = cct->nodes.at[i].parent;
		const struct cct_node *at = &cct->nodes.at[anchor];
		if (!join_is_site(j, i) || is_added[anchor])
			continue;
		is_added[anchor] = true;
		size_t first =
			search_first(k, sites->n,
				     sites->at[k].image > at->image || (sites->at[k].image == at->image &&
									sites->at[k].vaddr >= at->vaddr));
		for (; first < sites->n && sites->at[first].image == at->image &&
		       sites->at[first].vaddr == at->vaddr;
		     first++)
			if (sites->at[first].region != JOIN_NONE)
				vec_push(&j->contexts,
					 (struct join_context){ sites->at[first].region, anchor });
	}
	if (j->contexts.n)
		qsort(j->contexts.at, j->contexts.n, sizeof(*j->contexts.at), join_compare_contexts);
}

void join_find_contexts(struct joiner *j)
{
	join_sites sites = { 0 };
	uint32_t at = 0;

	if (j->n_workers) {
		join_find_sites(j, &sites);
		join_guess_sites(j, &sites);
		join_add_contexts(j, &sites);
	}
	j->first_context = alloc_zero(j->input->n_functions + 2, sizeof(*j->first_context));
	for (uint32_t i = 0; i <= j->input->n_functions; i++) {
		while (at < j->contexts.n && j->contexts.at[at].region < i)
			at++;
		j->first_context[i] = at;
	}
	vec_done(&sites);
}
