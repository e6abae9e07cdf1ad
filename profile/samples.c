/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void samples_init(struct samples *s, const struct cct *cct)
{
	*s = (struct samples){ .cct = cct };
	s->has_below = alloc_zero(cct->nodes.n + 1, sizeof(*s->has_below));
	s->first = alloc_resize(NULL, cct->nodes.n + 1, sizeof(*s->first));
	memset(s->first, 0xff, (cct->nodes.n + 1) * sizeof(*s->first));
	for (size_t i = SAMPLES_FIRST_NODE; i < cct->nodes.n; i++)
		s->has_below[cct->nodes.at[i].parent] = true;
}

void samples_done(struct samples *s)
{
	vec_done(&s->rows);
	vec_done(&s->rounds);
	vec_done(&s->calls);
	vec_done(&s->pairs);
	free(s->first);
	free(s->has_below);
}

/* ---- who has how much below a node -------------------------------------------------------------- */

uint32_t samples_find(struct samples *s, uint32_t **link, uint32_t thread)
{
	while (**link != SAMPLES_NONE && s->pairs.at[**link].thread < thread) {
		*link = &s->pairs.at[**link].next;
		s->n_steps++;
	}
	return **link != SAMPLES_NONE && s->pairs.at[**link].thread == thread ? **link : SAMPLES_NONE;
}

/* Adds to a node's list a list that is sorted as well. */
static inline void samples_add_pair(struct samples *s, uint32_t node, uint32_t *after, uint32_t thread,
				    uint64_t n)
{
	uint32_t *link = *after == SAMPLES_NONE ? &s->first[node] : &s->pairs.at[*after].next;
	uint32_t before = *after;

	while (*link != SAMPLES_NONE && s->pairs.at[*link].thread < thread) {
		before = *link;
		link = &s->pairs.at[before].next;
		s->n_steps++;
	}
	if (*link != SAMPLES_NONE && s->pairs.at[*link].thread == thread) {
		s->pairs.at[*link].samples += n;
		*after = before;
		return;
	}
	uint32_t made = (uint32_t)s->pairs.n;
	struct sample_pair pair = { .thread = thread, .next = *link, .samples = n };
	*link = made; /* before the list may move */
	vec_push(&s->pairs, pair);
	*after = made;
}

bool samples_sum(struct samples *s)
{
	size_t row = s->rows.n;

	vec_reserve(&s->pairs, s->cct->nodes.n); /* most nodes have a single one */
	for (uint32_t node = (uint32_t)s->cct->nodes.n; node-- > SAMPLES_FIRST_NODE;) {
		uint32_t parent = s->cct->nodes.at[node].parent, after = SAMPLES_NONE;
		size_t end = row;
		while (row > 0 && s->rows.at[row - 1].node >= node)
			row--;
		for (size_t i = row; i < end; i++)
			samples_add_pair(s, node, &after, s->rows.at[i].thread, s->rows.at[i].samples);
		after = SAMPLES_NONE;
		for (uint32_t i = s->first[node]; parent >= SAMPLES_FIRST_NODE && i != SAMPLES_NONE;
		     i = s->pairs.at[i].next)
			samples_add_pair(s, parent, &after, s->pairs.at[i].thread, s->pairs.at[i].samples);
		if (s->pairs.n > SAMPLES_PAIRS_MAX || s->n_steps > SAMPLES_STEPS_MAX)
			return false;
	}
	return true;
}

bool samples_follows(struct samples *s, uint32_t node, uint32_t **link, uint32_t thread)
{
	uint32_t parent = s->cct->nodes.at[node].parent;

	if (parent < SAMPLES_FIRST_NODE)
		return false;
	if (!*link)
		*link = &s->first[parent];
	uint32_t above = samples_find(s, link, thread);
	return above != SAMPLES_NONE && s->pairs.at[above].old == 0;
}
