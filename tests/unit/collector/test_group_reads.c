/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/group_reads.h"
#include "tests/test.h"

/* Ids 100, 101, ... are events 0, 1, ... */
static uint32_t event_of(const void *context, uint64_t id)
{
	(void)context;
	return id >= 100 && id < 100 + 64 ? (uint32_t)(id - 100) : UINT32_MAX;
}

static const struct group_members members = { event_of, NULL, true };

/* A sample with the current counts of two events. */
static struct sample read_two(struct group_reads *reads, uint64_t stream, uint64_t first, uint64_t second)
{
	uint64_t words[] = { first, 100, second, 101 };
	struct perf_record record = { .stream = stream,
				      .id = 100,
				      .sample.counts = {
					      .n = 2,
					      .words = 2,
					      .has_ids = true,
					      .entries = { (const uint8_t *)words, sizeof(words) } } };
	struct sample sample = { .weight = 7 };

	group_reads_apply(reads, &record, &members, &sample);
	return sample;
}

TEST(a_sample_has_the_counts_since_the_last_one_of_its_thread)
{
	struct group_reads reads = { 0 };
	struct sample sample = read_two(&reads, 1, 1000, 5);

	CHECK_EQ(sample.weight, 1000);
	CHECK_EQ(sample.n_more, 1);
	CHECK_EQ(sample.more[0], 5);
	sample = read_two(&reads, 2, 300, 2); /* another thread */
	CHECK_EQ(sample.weight, 300);
	sample = read_two(&reads, 1, 1500, 5);
	CHECK_EQ(sample.weight, 500);
	CHECK_EQ(sample.more[0], 0);
	sample = read_two(&reads, 1, 100, 1); /* lower than before: the counter restarted */
	CHECK_EQ(sample.weight, 100);
	CHECK_EQ(sample.more[0], 1);
	group_reads_done(&reads);
}

TEST(events_of_unknown_groups_are_ignored)
{
	struct group_reads reads = { 0 };
	uint64_t words[] = { 10, 9999, 20, 100, 30, 100 + 1 + SAMPLE_VALUES_MAX };
	struct perf_record record = { .stream = 1,
				      .sample.counts = {
					      .n = 3,
					      .words = 2,
					      .has_ids = true,
					      .entries = { (const uint8_t *)words, sizeof(words) } } };
	struct sample sample = { .weight = 7 };

	group_reads_apply(&reads, &record, &members, &sample);
	CHECK_EQ(sample.weight, 20);
	CHECK_EQ(sample.n_more, 0);

	struct perf_record silent = { .stream = 1 };
	struct sample kept = { .weight = 7 };
	group_reads_apply(&reads, &silent, &members, &kept);
	CHECK_EQ(kept.weight, 7);
	group_reads_done(&reads);
}
