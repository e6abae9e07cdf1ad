/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "profile/check.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

static void check_contradiction(const struct profile *p, const char *why)
{
	struct diag diag = { 0 };

	CHECK_EQ(profile_check(p, "x", &diag), -EINVAL);
	CHECK_STR(diag.what, "profile 'x' is inconsistent");
	CHECK_STR(diag.why, why);
}

TEST(a_consistent_profile_passes)
{
	OWNED struct profile *p = sample_profile();
	OWNED struct profile *random = random_profile(1, 200);
	OWNED struct profile *none = profile_new();
	struct diag diag = { 0 };

	CHECK_EQ(profile_check(p, "x", &diag), 0);
	CHECK_EQ(profile_check(random, "x", &diag), 0);
	CHECK_EQ(profile_check(none, "x", &diag), 0);
}

TEST(samples_of_tree_and_tally_must_agree)
{
	OWNED struct profile *p = sample_profile();

	cct_add_value(&p->cct, 2, 1, 0, 1);
	check_contradiction(p, "the tree holds 101 samples, the quality tally 100");
	p->quality.samples++;
	check_contradiction(p, "100 stacks ended, of 101 samples");
	p->quality.by_end[STACK_NO_RECIPE]++;
	check_contradiction(p, "86 samples are below the root, 85 stacks were complete");
}

TEST(threads_of_tree_and_timeline_must_agree)
{
	OWNED struct profile *p = sample_profile();

	p->timeline.at[0].samples--;
	check_contradiction(p, "thread 4711 has 20 samples in the tree and 19 in the timeline");
}

TEST(ids_of_processes_and_threads_are_not_negative)
{
	OWNED struct profile *p = sample_profile();

	p->threads.at[1].tid = -5;
	check_contradiction(p, "thread 1 has the id -5");
	p->processes.at[0].pid = -1;
	check_contradiction(p, "process 0 has the id -1");
}

TEST(metric_0_must_be_samples)
{
	OWNED struct profile *p = sample_profile();

	p->metrics.at[0].name = p->metrics.at[1].name;
	check_contradiction(p, "metric 0 is not samples");
}

TEST(a_resolved_profile_must_cover_every_node)
{
	OWNED struct profile *p = sample_profile();

	p->functions.at[0].size = 8;
	check_contradiction(p, "node 2 at 0x101f of image 0 has no function");
}

TEST(values_that_cannot_be_added_are_refused)
{
	OWNED struct profile *p = sample_profile();
	uint64_t half = UINT64_C(1) << 62;

	cct_add_value(&p->cct, 2, 1, 1, half);
	cct_add_value(&p->cct, 3, 1, 1, half);
	check_contradiction(p, "the values of metric 1 are too large to be added");
}
