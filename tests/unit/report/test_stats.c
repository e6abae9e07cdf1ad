/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/text.h"
#include "report/diff/stats.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

/* 40 runs: more than are summed up at once. */
#define RUNS 40

static void make_joint(struct joint *joint)
{
	joint_init(joint, &(struct joint_options){ .no_samples = true }, 0);
	for (uint32_t run = 0; run < RUNS; run++) {
		OWNED struct profile *profile = random_profile(run + 1, 100);
		uint32_t unit[16];
		for (size_t i = 0; i < 16; i++)
			unit[i] = run;
		joint_add(joint, &(struct joint_part){ profile, 1, unit, false });
	}
	joint->n_units = RUNS;
	joint_finish(joint);
}

TEST(each_run_has_its_own_total)
{
	struct joint joint;
	struct stats stats;

	make_joint(&joint);
	stats_init(&stats, &joint, &(struct stats_options){ .by = STATS_FUNCTION });
	for (uint32_t run = 0; run < RUNS; run++) {
		OWNED struct profile *profile = random_profile(run + 1, 100);
		double sum = 0;
		CHECK(stats.total.values[run] == (double)profile_sum(profile, 1));
		for (size_t i = 0; i < stats.rows.n; i++)
			sum += stats.rows.at[i].values[run];
		CHECK(sum == stats.total.values[run]);
	}
	stats_done(&stats);
	joint_done(&joint);
}

TEST(rows_are_sorted_by_range_over_sum)
{
	static const enum stats_rows all[] = { STATS_FUNCTION, STATS_LOOP, STATS_MODULE, STATS_PATH };
	struct joint joint;

	make_joint(&joint);
	for (size_t k = 0; k < 4; k++) {
		struct stats stats;
		stats_init(&stats, &joint, &(struct stats_options){ .by = all[k] });
		CHECK(stats.rows.n > 0 || all[k] == STATS_LOOP);
		for (size_t i = 0; i < stats.rows.n; i++) {
			const struct stats_row *row = &stats.rows.at[i];
			CHECK(fabs(row->range - (row->max - row->min) / row->sum) < 1e-12);
			CHECK(fabs(row->mean - row->sum / RUNS) < 1e-6 * row->sum);
			CHECK(row->values[row->min_unit] == row->min &&
			      row->values[row->max_unit] == row->max);
			CHECK(i == 0 || row->range <= stats.rows.at[i - 1].range);
		}
		stats_done(&stats);
	}
	joint_done(&joint);
}

TEST(small_rows_are_left_out_and_counted)
{
	struct joint joint;
	struct stats all, some;

	make_joint(&joint);
	stats_init(&all, &joint, &(struct stats_options){ .by = STATS_FUNCTION });
	stats_init(&some, &joint, &(struct stats_options){ .by = STATS_FUNCTION, .limit = 3 });
	CHECK_EQ(some.rows.n, 3);
	CHECK_EQ(some.n_left_out, all.rows.n - 3);
	stats_done(&all);
	stats_done(&some);
	joint_done(&joint);
}
