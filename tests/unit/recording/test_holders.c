/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/holders.h"
#include "tests/test.h"

static struct holder ends(struct holders *holders, pid_t waker, uint64_t since_ns, uint64_t woken_ns)
{
	return holders_end(holders, &(struct holders_wait){ .pid = 1,
							    .futex = 0x1000,
							    .since_ns = since_ns,
							    .woken_ns = woken_ns,
							    .waker_pid = 1,
							    .waker = waker });
}

TEST(the_thread_that_ends_the_only_wait_was_the_holder)
{
	struct holders holders = { 0 };
	struct holder holder = ends(&holders, 7, 100, 150);

	CHECK_EQ(holder.tid, 7);
	CHECK_EQ(holder.ns, 50);
	holders_done(&holders);
}

/* 7 lets go of it at 180 and wakes 8, which lets go of it at 200 and wakes 9. */
TEST(the_longest_holder_need_not_be_the_last_one)
{
	struct holders holders = { 0 };

	ends(&holders, 7, 90, 180);
	struct holder holder = ends(&holders, 8, 100, 200);
	CHECK_EQ(holder.tid, 7);
	CHECK_EQ(holder.ns, 80);
	holders_done(&holders);
}

TEST(times_of_one_thread_are_added_up)
{
	struct holders holders = { 0 };

	ends(&holders, 7, 100, 130); /* 30 */
	ends(&holders, 8, 100, 170); /* 40 */
	ends(&holders, 7, 100, 200); /* 30 */
	struct holder holder = ends(&holders, 9, 100, 210);
	CHECK_EQ(holder.tid, 7);
	CHECK_EQ(holder.ns, 60);
	holders_done(&holders);
}

TEST(time_before_the_wait_does_not_count)
{
	struct holders holders = { 0 };

	ends(&holders, 7, 0, 1000);
	struct holder holder = ends(&holders, 8, 1500, 1600);
	CHECK_EQ(holder.tid, 8);
	CHECK_EQ(holder.ns, 100);
	holders_done(&holders);
}

TEST(other_futexes_and_processes_have_their_own_holders)
{
	struct holders holders = { 0 };
	struct holders_wait wait = {
		.pid = 2, .futex = 0x1000, .since_ns = 100, .woken_ns = 200, .waker = 5
	};

	ends(&holders, 7, 90, 180);
	CHECK_EQ(holders_end(&holders, &wait).tid, 5);
	wait.pid = 1;
	wait.futex = 0x1008;
	CHECK_EQ(holders_end(&holders, &wait).tid, 5);
	holders_done(&holders);
}

/* More hand-overs than are remembered: no holder is reported before the first of them. */
TEST(time_before_the_oldest_stored_hand_over_has_no_holder)
{
	struct holders holders = { 0 };

	ends(&holders, 3, 0, 100000);
	for (pid_t i = 0; i < HOLDERS_LAST; i++)
		ends(&holders, 10 + i, 0, 100010 + (uint64_t)i);
	struct holder holder = ends(&holders, 99, 0, 100013 + HOLDERS_LAST);
	CHECK_EQ(holder.tid, 99);
	CHECK_EQ(holder.ns, 4);
	holders_done(&holders);
}

TEST(invalid_times_give_no_holder)
{
	struct holders holders = { 0 };

	CHECK_EQ(ends(&holders, 7, 200, 100).ns, 0);
	CHECK_EQ(ends(&holders, 7, 100, 100).ns, 0);
	holders_done(&holders);
}
