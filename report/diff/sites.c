/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/sites.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vec.h"

/* The known calls from one scope to another. */
struct site_list {
	VEC(struct order_place) places; /* site 1 + i */
	VEC(uint32_t) builds;           /* by site: the last build that has it */
};

struct site_key {
	uint32_t list, build, start;
};

struct sites {
	struct numbering pairs; /* caller and callee */
	VEC(struct site_list) lists;
	struct numbering keys; /* struct site_key of those that were seen ... */
	VEC(uint32_t) found;   /* ... by number: the site */
};

struct sites *sites_new(void)
{
	struct sites *sites = alloc_zero(1, sizeof(*sites));

	numbering_init(&sites->pairs, 2 * sizeof(uint32_t));
	numbering_init(&sites->keys, sizeof(struct site_key));
	return sites;
}

void sites_free(struct sites *sites)
{
	if (!sites)
		return;
	for (size_t i = 0; i < sites->lists.n; i++) {
		vec_done(&sites->lists.at[i].places);
		vec_done(&sites->lists.at[i].builds);
	}
	vec_done(&sites->lists);
	vec_done(&sites->found);
	numbering_done(&sites->pairs);
	numbering_done(&sites->keys);
	free(sites);
}

/* A call that is new in its build. */
struct news {
	uint32_t list, key;
	uint32_t build;
	struct order_place place;
};

static int news_compare(const void *left, const void *right)
{
	const struct news *a = left, *b = right;

	if (a->list != b->list)
		return a->list < b->list ? -1 : 1;
	if (a->build != b->build)
		return a->build < b->build ? -1 : 1;
	return a->place.start < b->place.start ? -1 : a->place.start > b->place.start;
}

/* Matches new calls of one list and one build with those that have no counterpart in the build yet. */
static void sites_match(struct sites *sites, const struct news *news, size_t m)
{
	struct site_list *list = &sites->lists.at[news->list];
	VEC(struct order_place) free_places = { 0 };
	VEC(uint32_t) free_sites = { 0 };
	CLEANUP(freep) struct order_place *ours = alloc_zero(m, sizeof(*ours));
	CLEANUP(freep) uint32_t *pairs = alloc_zero(m, sizeof(*pairs));

	for (uint32_t i = 0; i < list->places.n; i++)
		if (list->builds.at[i] != news->build) {
			vec_push(&free_places, list->places.at[i]);
			vec_push(&free_sites, i);
		}
	for (size_t i = 0; i < m; i++)
		ours[i] = news[i].place;
	order_match(free_places.at, free_places.n, ours, m, pairs);
	for (size_t i = 0; i < m; i++) {
		uint32_t site = pairs[i] != ORDER_NONE ? free_sites.at[pairs[i]] : (uint32_t)list->places.n;
		if (site == list->places.n) {
			vec_push(&list->places, ours[i]);
			vec_push(&list->builds, 0);
		}
		list->builds.at[site] = news->build;
		sites->found.at[news[i].key] = site + 1;
	}
	vec_done(&free_places);
	vec_done(&free_sites);
}

void sites_add(struct sites *sites, const struct site *seen, size_t n, uint32_t *ret)
{
	VEC(struct news) news = { 0 };

	for (size_t i = 0; i < n; i++) {
		const uint32_t pair[] = { seen[i].caller, seen[i].callee };
		uint32_t list = numbering_add(&sites->pairs, pair);
		if (list == sites->lists.n)
			vec_push(&sites->lists, (struct site_list){ 0 });
		struct site_key key = { list, seen[i].build, seen[i].place.start };
		ret[i] = numbering_add(&sites->keys, &key);
		if (ret[i] == sites->found.n) {
			vec_push(&sites->found, 0);
			vec_push(&news, (struct news){ list, ret[i], seen[i].build, seen[i].place });
		}
	}
	if (news.n)
		qsort(news.at, news.n, sizeof(*news.at), news_compare);
	for (size_t i = 0, end; i < news.n; i = end) {
		for (end = i; end < news.n && news.at[end].list == news.at[i].list &&
			      news.at[end].build == news.at[i].build;)
			end++;
		sites_match(sites, news.at + i, end - i);
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = sites->found.at[ret[i]];
	vec_done(&news);
}
