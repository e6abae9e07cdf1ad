/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/waits.h"
#include "tests/test.h"

TEST(a_wait_is_from_out_to_in)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_out(&waits, 1, 11, 100);
	waits_out(&waits, 1, 12, 150);
	CHECK(waits_in(&waits, 11, 400, &wait));
	CHECK_EQ(wait.pid, 1);
	CHECK_EQ(wait.tid, 11);
	CHECK_EQ(wait.ns, 300);
	CHECK(waits_in(&waits, 12, 151, &wait));
	CHECK_EQ(wait.ns, 1);
	CHECK_EQ(waits.n_lost + waits.n_before, 0);
	waits_done(&waits);
}

TEST(an_end_that_is_missing_makes_no_wait)
{
	struct waits waits = { 0 };
	struct wait wait;

	CHECK(!waits_in(&waits, 11, 50, &wait)); /* it was away before we came */
	CHECK_EQ(waits.n_before, 1);
	waits_out(&waits, 1, 11, 100);
	waits_out(&waits, 1, 11, 200); /* the in between was lost */
	CHECK_EQ(waits.n_lost, 1);
	CHECK(waits_in(&waits, 11, 300, &wait));
	CHECK_EQ(wait.ns, 100);
	CHECK(!waits_in(&waits, 11, 400, &wait)); /* so was an out */
	CHECK_EQ(waits.n_lost, 2);
	waits_done(&waits);
}

TEST(no_wait_is_negative)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_out(&waits, 1, 11, 500);
	CHECK(waits_in(&waits, 11, 400, &wait));
	CHECK_EQ(wait.ns, 0);
	waits_done(&waits);
}

TEST(a_thread_that_ends_waits_no_more)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_out(&waits, 1, 11, 100);
	waits_out(&waits, 1, 12, 100);
	waits_out(&waits, 1, 13, 100);
	waits_forget(&waits, 11);
	waits_forget(&waits, 99);
	CHECK(waits_in(&waits, 13, 130, &wait)); /* which took its place */
	CHECK_EQ(wait.ns, 30);
	CHECK(waits_cut(&waits, 150, &wait));
	CHECK_EQ(wait.tid, 12);
	CHECK(!waits_cut(&waits, 150, &wait));
	waits_done(&waits);
}

TEST(waits_that_go_on_are_cut_at_the_end)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_out(&waits, 1, 11, 100);
	waits_out(&waits, 1, 12, 200);
	CHECK(waits_in(&waits, 11, 300, &wait));
	CHECK(waits_cut(&waits, 1000, &wait));
	CHECK_EQ(wait.tid, 12);
	CHECK_EQ(wait.ns, 800);
	CHECK(!waits_cut(&waits, 1000, &wait));
	waits_done(&waits);
}

TEST(a_wait_that_was_timed_has_a_place_only_if_its_sample_came)
{
	struct waits waits = { 0 };

	CHECK(!waits_saw(&waits, 11, 100));
	waits_see(&waits, 1, 11, 1000000);
	CHECK(waits_saw(&waits, 11, 999000));
	CHECK(!waits_saw(&waits, 11, 5000000)); /* a later one */
	CHECK_EQ(waits.n_lost, 2);
	waits_done(&waits);
}

TEST(a_wait_from_before_ends_when_the_thread_is_first_seen_to_run)
{
	struct waits waits = { 0 };
	struct wait wait;

	CHECK(!waits_runs(&waits, 11, 50, &wait));
	waits_before(&waits, 1, 11, 100);
	waits_before(&waits, 1, 12, 100);
	CHECK(waits_runs(&waits, 11, 400, &wait));
	CHECK_EQ(wait.ns, 300);
	CHECK(wait.is_before);
	CHECK(!waits_runs(&waits, 11, 500, &wait));
	waits_out(&waits, 1, 11, 600); /* from now on as any other */
	CHECK(!waits_runs(&waits, 11, 700, &wait));
	CHECK(waits_in(&waits, 11, 800, &wait));
	CHECK(!wait.is_before);
	CHECK_EQ(wait.ns, 200);
	CHECK(waits_cut(&waits, 1100, &wait)); /* was never seen */
	CHECK_EQ(wait.tid, 12);
	CHECK_EQ(wait.ns, 1000);
	CHECK_EQ(waits.n_lost, 0);
	waits_done(&waits);
}
