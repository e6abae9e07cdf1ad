/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "profile/check.h"
#include "profile/merge.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define N 7

/* Merges the profiles; the result has been written and read. */
static struct profile *spread_merge_any(struct profile *const *profiles, size_t n)
{
	struct merger *merger = merger_new(&(struct merge_options){ .reduces = true });
	CLEANUP(writer_done) struct writer file = { 0 };
	struct profile *again = NULL;
	struct diag diag = { 0 };

	for (size_t i = 0; i < n; i++)
		CHECK_EQ(merger_add(merger, profiles[i], "x", &diag), 0);
	OWNED struct profile *merged = merger_finish(merger);
	profile_pack(merged, &file);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &again, &diag), 0);
	return again;
}

/* The same, and the result is consistent. */
static struct profile *spread_merge(struct profile *const *profiles, size_t n)
{
	struct profile *merged = spread_merge_any(profiles, n);
	struct diag diag = { 0 };

	CHECK_EQ(profile_check(merged, "x", &diag), 0);
	return merged;
}

static void spread_make(struct profile **ret)
{
	for (uint32_t i = 0; i < N; i++) {
		ret[i] = random_profile(1 + i / 2, 80); /* some trees occur twice */
		for (size_t j = 0; j < ret[i]->processes.n; j++)
			ret[i]->processes.at[j].rank = 1 + i;
	}
}

static void spread_free(struct profile **profiles)
{
	for (size_t i = 0; i < N; i++)
		profile_free(profiles[i]);
}

static const struct profile_spread *spread_find(const struct profile *p, uint32_t node, uint32_t metric,
						uint32_t kind)
{
	for (size_t i = 0; i < p->spread.n; i++)
		if (p->spread.at[i].node == node && p->spread.at[i].metric == metric &&
		    p->spread.at[i].kind == kind)
			return &p->spread.at[i];
	return NULL;
}

/* The node of `p` with the same path as a node of `all`; UINT32_MAX: none. Both have the same images. */
static uint32_t spread_same_node(const struct profile *all, uint32_t node, const struct profile *p)
{
	if (node <= CCT_INCOMPLETE)
		return node;
	const struct cct_node *wanted = &all->cct.nodes.at[node];
	uint32_t parent = spread_same_node(all, wanted->parent, p);
	for (uint32_t i = CCT_INCOMPLETE + 1; i < p->cct.nodes.n; i++) {
		const struct cct_node *at = &p->cct.nodes.at[i];
		if (at->parent == parent && at->vaddr == wanted->vaddr && at->flags == wanted->flags &&
		    strcmp(intern_text(&p->strings, p->images.at[at->image].path),
			   intern_text(&all->strings, all->images.at[wanted->image].path)) == 0)
			return i;
	}
	return UINT32_MAX;
}

static bool spread_is_below(const struct cct *cct, uint32_t node, uint32_t above)
{
	while (node != above && node != CCT_ROOT)
		node = cct->nodes.at[node].parent;
	return node == above;
}

static uint64_t spread_value(const struct profile *p, uint32_t node, uint32_t metric, uint32_t kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; node != UINT32_MAX && i < p->cct.values.n; i++) {
		const struct cct_value *value = &p->cct.values.at[i];
		bool counts = kind == SPREAD_SELF ? value->node == node
						  : spread_is_below(&p->cct, value->node, node);
		sum += counts && value->metric == metric ? value->value : 0;
	}
	return sum;
}

/* Computed by adding up the ranks one by one. */
static void check_spread(const struct profile *all, struct profile *const *p, uint32_t node, uint32_t kind)
{
	struct profile_spread want = { .min = UINT64_MAX };

	for (uint32_t i = 0; i < N; i++) {
		uint64_t value = spread_value(p[i], spread_same_node(all, node, p[i]), 1, kind);
		if (!value)
			continue;
		want.n++;
		want.squares += value * value;
		want.max_rank = value > want.max ? i : want.max_rank;
		want.min_rank = value < want.min ? i : want.min_rank;
		want.max = value > want.max ? value : want.max;
		want.min = value < want.min ? value : want.min;
	}
	const struct profile_spread *got = spread_find(all, node, 1, kind);
	if (kind == SPREAD_INCLUSIVE && !got) /* a leaf: inclusive and self values are equal */
		got = spread_find(all, node, 1, SPREAD_SELF);
	CHECK_EQ(got != NULL, want.n != 0);
	if (!got)
		return;
	CHECK_EQ(got->n, want.n);
	CHECK_EQ(got->min, want.min);
	CHECK_EQ(got->max, want.max);
	CHECK_EQ(got->min_rank, want.min_rank);
	CHECK_EQ(got->max_rank, want.max_rank);
	CHECK_EQ(got->squares, want.squares);
	CHECK_EQ(got->squares_high, 0);
}

TEST(a_reduced_profile_has_statistics_of_the_ranks)
{
	struct profile *p[N];
	uint64_t samples = 0;

	spread_make(p);
	OWNED struct profile *all = spread_merge(p, N);
	CHECK_EQ(all->n_ranks, N);
	CHECK_EQ(all->threads.n, 1);
	CHECK_EQ(all->processes.n, 1);
	for (uint32_t node = 0; node < all->cct.nodes.n; node++) {
		check_spread(all, p, node, SPREAD_SELF);
		check_spread(all, p, node, SPREAD_INCLUSIVE);
	}
	for (size_t i = 0; i < N; i++)
		samples += p[i]->quality.samples;
	CHECK_EQ(profile_sum(all, 0), samples);
	spread_free(p);
}

TEST(reducing_in_steps_gives_the_same_bytes)
{
	struct profile *p[N];
	CLEANUP(writer_done) struct writer x = { 0 }, y = { 0 };

	spread_make(p);
	p[2]->run.start_unix_ns = 0;
	OWNED struct profile *all = spread_merge(p, N);
	OWNED struct profile *some = spread_merge(p + 3, 4);
	struct profile *rest[] = { some, p[1], p[0], p[2] };
	OWNED struct profile *steps = spread_merge(rest, 4);
	CHECK_EQ(all->threads.n, 2); /* one for the profiles with a known start, one for the others */
	profile_pack(all, &x);
	profile_pack(steps, &y);
	CHECK(bytes_equal(writer_bytes(&x), writer_bytes(&y)));
	spread_free(p);
}

TEST(sums_of_squares_saturate)
{
	OWNED struct profile *a = sample_profile(), *b = sample_profile(), *c = sample_profile();
	struct profile *const three[] = { a, b, c };

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < three[i]->cct.values.n; j++)
			if (three[i]->cct.values.at[j].metric == 1)
				three[i]->cct.values.at[j].value = UINT64_MAX >> 4;
	a->cct.values.at[1].value = b->cct.values.at[1].value = c->cct.values.at[1].value = UINT64_MAX;
	OWNED struct profile *all = spread_merge_any(three, 3); /* sums this large are refused by check */
	bool is_found = false;
	for (size_t i = 0; i < all->spread.n; i++)
		is_found |= all->spread.at[i].squares_high == UINT64_MAX &&
			    all->spread.at[i].squares == UINT64_MAX;
	CHECK(is_found);
}

TEST(merged_and_reduced_profiles_cannot_be_mixed)
{
	OWNED struct profile *a = sample_profile(), *b = sample_profile();
	struct profile *const both[] = { a, b };
	OWNED struct profile *reduced = spread_merge(both, 2);
	struct merger *merger = merger_new(&(struct merge_options){ 0 });
	struct diag diag = { 0 };

	CHECK_EQ(merger_add(merger, reduced, "r.data", &diag), -EINVAL);
	CHECK_STR(diag.hint, "add --reduce to reduce the others, too");
	merger_free(merger);
	profile_merge(a, b);
	merger = merger_new(&(struct merge_options){ .reduces = true });
	CHECK_EQ(merger_add(merger, a, "m.data", &diag), -EINVAL);
	CHECK_STR(diag.hint, "run merge --reduce on the files it was made from");
	CHECK_EQ(merger_count(merger), 0);
	merger_free(merger);
}
