/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/waits_layout.h"
#include "collector/wait/wakings.h"
#include "tests/test.h"

static bool take(struct wakings *wakings, uint64_t waker, uint64_t thread, uint64_t at)
{
	struct waits_waking record = { WAITS_MAGIC_WAKING, thread, waker, at };

	return wakings_take(wakings, (struct bytes){ (const uint8_t *)&record, sizeof(record) });
}

static struct event sample_of(pid_t tid, uint64_t time_ns)
{
	return (struct event){
		.kind = EVENT_SAMPLE, .tid = tid, .time_ns = time_ns, .sample = { .n_kernel_pc = 5 }
	};
}

TEST(a_record_and_the_next_sample_of_its_thread_give_a_waker)
{
	struct wakings wakings = { 0 };
	struct event other = sample_of(8, 1001), sample = sample_of(7, 1002), next = sample_of(7, 1003);

	CHECK(take(&wakings, 7, 2ull << 32 | 9, 1000));
	CHECK(!wakings_join(&wakings, &other));
	CHECK(wakings_join(&wakings, &sample));
	CHECK_EQ(sample.sample.woken.pid, 2);
	CHECK_EQ(sample.sample.woken.tid, 9);
	CHECK_EQ(sample.sample.n_kernel_pc, 0);
	CHECK(!wakings_join(&wakings, &next)); /* a record belongs to one sample only */
	CHECK_EQ(next.sample.n_kernel_pc, 5);
	wakings_done(&wakings);
}

TEST(a_much_later_sample_does_not_belong_to_the_record)
{
	struct wakings wakings = { 0 };
	struct event sample = sample_of(7, 1000 + 20000000), before = sample_of(8, 900);

	CHECK(take(&wakings, 7, 9, 1000));
	CHECK(!wakings_join(&wakings, &sample));
	CHECK_EQ(sample.sample.woken.tid, 0);
	CHECK(take(&wakings, 8, 9, 1000));
	CHECK(!wakings_join(&wakings, &before));
	wakings_done(&wakings);
}

TEST(other_records_are_ignored)
{
	struct wakings wakings = { 0 };
	uint64_t words[8] = { WAITS_MAGIC };

	CHECK(!wakings_take(&wakings, (struct bytes){ (const uint8_t *)words, sizeof(words) }));
	words[0] = WAITS_MAGIC_WAKING;
	CHECK(!wakings_take(&wakings, (struct bytes){ (const uint8_t *)words, 24 })); /* truncated */
	CHECK(!wakings_take(&wakings, (struct bytes){ 0 }));
	CHECK_EQ(wakings.waiting.n, 0);
	wakings_done(&wakings);
}
