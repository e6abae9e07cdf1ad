/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wait/perf_waits.h"

#include <stddef.h>

#include "collector/bpf/waits_layout.h"
#include "tests/test.h"

/* A wait of 400 ns, for half of which the thread was runnable; it represents three, of 900 ns. */
static struct waits_record a_record(uint64_t magic)
{
	return (struct waits_record){ .magic = magic,
				      .thread = 5ull << 32 | 7,
				      .since = 1000,
				      .until = 1400,
				      .sum = { .n = 3, .ns = 900, .runnable = 300, .longest = 450 },
				      .place = 77,
				      .runnable = 200 };
}

static bool reads(const struct waits_record *record, size_t len, struct event *ret)
{
	return perf_waits_read((struct bytes){ (const uint8_t *)record, len }, ret);
}

TEST(a_record_of_a_wait_is_read)
{
	struct waits_record record = a_record(WAITS_MAGIC);
	struct event event;

	CHECK(reads(&record, sizeof(record), &event));
	CHECK_EQ(event.kind, EVENT_SWITCH);
	CHECK_EQ(event.pid, 5);
	CHECK_EQ(event.tid, 7);
	CHECK_EQ(event.sw.n, 3);
	CHECK_EQ(event.sw.waited_ns, 900);
	CHECK_EQ(event.sw.runnable_ns, 300);
	CHECK_EQ(event.sw.own_ns, 400);
	CHECK_EQ(event.sw.own_runnable_ns, 200);
	CHECK_EQ(event.sw.sort, 77);
	CHECK(!event.sw.is_rest);
}

/* They do not have what was added since; the bytes there have no meaning. */
TEST(records_of_older_versions_are_read)
{
	struct waits_record before = a_record(WAITS_MAGIC_3), first = a_record(WAITS_MAGIC_2);
	struct event event;

	CHECK(reads(&before, offsetof(struct waits_record, runnable), &event));
	CHECK_EQ(event.sw.sort, 77);
	CHECK_EQ(event.sw.own_runnable_ns, 133); /* a third, as of all */
	CHECK(reads(&before, sizeof(before), &event));
	CHECK_EQ(event.sw.own_runnable_ns, 133);
	CHECK(reads(&first, offsetof(struct waits_record, place), &event));
	CHECK_EQ(event.sw.sort, 0);
	CHECK_EQ(event.sw.own_ns, 400);
}

TEST(waits_of_which_none_was_sampled_have_no_duration_of_their_own)
{
	struct waits_record record = a_record(WAITS_MAGIC_3);
	struct event event;

	record.since = 0;
	CHECK(reads(&record, sizeof(record), &event));
	CHECK(event.sw.is_rest);
	CHECK_EQ(event.sw.own_ns, 0);
	CHECK_EQ(event.sw.own_runnable_ns, 0);
}

TEST(other_bytes_are_no_waits)
{
	struct waits_record record = a_record(WAITS_MAGIC + 1);
	struct event event;

	CHECK(!reads(&record, sizeof(record), &event));
	record = a_record(WAITS_MAGIC);
	CHECK(!reads(&record, offsetof(struct waits_record, place) - 1, &event));
	record.sum.n = 0;
	CHECK(!reads(&record, sizeof(record), &event));
	record = a_record(WAITS_MAGIC);
	record.until = record.since - 1;
	CHECK(!reads(&record, sizeof(record), &event));
}
