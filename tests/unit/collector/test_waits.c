/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "collector/wait/perf_waits.h"
#include "collector/waits.h"
#include "tests/test.h"

TEST(a_wait_lasts_from_switch_out_to_switch_in)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_out(&waits, 1, 11, 100);
	waits_out(&waits, 1, 12, 150);
	CHECK(waits_in(&waits, 11, 400, &wait));
	CHECK_EQ(wait.pid, 1);
	CHECK_EQ(wait.tid, 11);
	CHECK_EQ(wait.sum.ns, 300);
	CHECK(waits_in(&waits, 12, 151, &wait));
	CHECK_EQ(wait.sum.ns, 1);
	CHECK_EQ(waits.n_lost + waits.n_before, 0);
	waits_done(&waits);
}

TEST(a_missing_record_gives_no_wait)
{
	struct waits waits = { 0 };
	struct wait wait;

	CHECK(!waits_in(&waits, 11, 50, &wait)); /* already off the CPU when recording began */
	CHECK_EQ(waits.n_before, 1);
	waits_out(&waits, 1, 11, 100);
	waits_out(&waits, 1, 11, 200); /* the switch-in record between was lost */
	CHECK_EQ(waits.n_lost, 1);
	CHECK(waits_in(&waits, 11, 300, &wait));
	CHECK_EQ(wait.sum.ns, 100);
	CHECK(!waits_in(&waits, 11, 400, &wait)); /* a switch-out record was lost, too */
	CHECK_EQ(waits.n_lost, 2);
	waits_done(&waits);
}

TEST(no_wait_is_negative)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_out(&waits, 1, 11, 500);
	CHECK(waits_in(&waits, 11, 400, &wait));
	CHECK_EQ(wait.sum.ns, 0);
	waits_done(&waits);
}

TEST(a_thread_that_ends_no_longer_waits)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_out(&waits, 1, 11, 100);
	waits_out(&waits, 1, 12, 100);
	waits_out(&waits, 1, 13, 100);
	CHECK(!waits_forget(&waits, 11, &wait));
	CHECK(!waits_forget(&waits, 99, &wait));
	CHECK(waits_in(&waits, 13, 130, &wait)); /* was moved to the slot of 11 */
	CHECK_EQ(wait.sum.ns, 30);
	CHECK(waits_cut(&waits, 150, &wait));
	CHECK_EQ(wait.tid, 12);
	CHECK(!waits_cut(&waits, 150, &wait));
	waits_done(&waits);
}

TEST(unfinished_waits_are_cut_at_the_end)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_out(&waits, 1, 11, 100);
	waits_out(&waits, 1, 12, 200);
	CHECK(waits_in(&waits, 11, 300, &wait));
	CHECK(waits_cut(&waits, 1000, &wait));
	CHECK_EQ(wait.tid, 12);
	CHECK_EQ(wait.sum.ns, 800);
	CHECK(!waits_cut(&waits, 1000, &wait));
	waits_done(&waits);
}

TEST(a_timed_wait_has_a_stack_only_if_its_sample_was_received)
{
	struct waits waits = { 0 };

	CHECK(!waits_saw(&waits, 11, 100));
	waits_see(&waits, 1, 11, 1000000);
	CHECK(waits_saw(&waits, 11, 999000));
	CHECK(!waits_saw(&waits, 11, 5000000)); /* a later switch, without a sample */
	CHECK_EQ(waits.n_lost, 2);
	waits_done(&waits);
}

TEST(a_wait_that_began_before_the_recording_ends_when_the_thread_first_runs)
{
	struct waits waits = { 0 };
	struct wait wait;

	CHECK(!waits_runs(&waits, 11, 50, &wait));
	waits_before(&waits, 1, 11, 100, false);
	waits_before(&waits, 1, 12, 100, true);
	CHECK(waits_runs(&waits, 11, 400, &wait));
	CHECK_EQ(wait.sum.ns, 300);
	CHECK(wait.is_before && !wait.is_placed);
	CHECK(!waits_runs(&waits, 11, 500, &wait));
	waits_out(&waits, 1, 11, 600); /* from now on like any other thread */
	CHECK(!waits_runs(&waits, 11, 700, &wait));
	CHECK(waits_in(&waits, 11, 800, &wait));
	CHECK(!wait.is_before);
	CHECK_EQ(wait.sum.ns, 200);
	CHECK(waits_cut(&waits, 1100, &wait)); /* never seen running */
	CHECK_EQ(wait.tid, 12);
	CHECK(wait.is_before && wait.is_placed);
	CHECK_EQ(wait.sum.ns, 1000);
	CHECK_EQ(waits.n_lost, 0);
	waits_done(&waits);
}

/* ---- the program -------------------------------------------------------------------------------- */

/* The kernel's verifier must accept it; and the program reports how many of the frames are its own. */
static void check_program_loads(bool is_x86)
{
	struct perf_event_attr like = { 0 };
	struct perf_waits waits;
	struct perf_waits_want want = {
		.like = &like, .max_switches = 1000, .is_x86 = is_x86, .inherits = true, .deep = -1
	};
	struct diag diag = { 0 };
	int error = perf_waits_open(&waits, &want, &diag);

	if (error == -ENOSYS)
		SKIP("there is no bpf(2) here");
	if (error == -EOPNOTSUPP)
		SKIP("cpprof is built without libbpf");
	if (error == -EPERM)
		SKIP("no permission for BPF");
	if (error)
		print_error("%s: %s\n", diag.what, diag.why);
	CHECK_EQ(error, 0);
	CHECK(waits.n_own > 0 && waits.n_own < WAITS_OWN_FRAMES);
	perf_waits_close(&waits);
}

TEST(program_of_waits_is_accepted_by_the_kernel)
{
#ifdef __x86_64__
	SKIP("it reads AArch64's registers, of which this kernel has fewer");
#endif
	check_program_loads(false);
}

TEST(program_of_waits_for_x86_64_is_accepted_by_the_kernel)
{
	check_program_loads(true);
}

TEST(a_wait_that_began_before_the_recording_is_reported_once)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_before(&waits, 1, 11, 100, false);
	CHECK(waits_runs(&waits, 11, 400, &wait));
	CHECK_EQ(wait.sum.ns, 300);
	CHECK(!waits_in(&waits, 11, 400, &wait)); /* the switch-in record of the same run */
	CHECK_EQ(waits.n_lost, 0);
	CHECK(!waits_in(&waits, 11, 500, &wait));
	CHECK_EQ(waits.n_lost, 1);
	waits_done(&waits);
}

/* A switch that is not sampled is known only from its records. */
TEST(a_sampled_wait_represents_those_before_it)
{
	struct waits waits = { 0 };
	struct wait wait;

	for (uint64_t i = 0; i < 3; i++) {
		waits_leave(&waits, 1, 11, 100 + 100 * i, false);
		CHECK(!waits_in(&waits, 11, 110 + 100 * i, &wait));
	}
	waits_out(&waits, 1, 11, 400);
	waits_leave(&waits, 1, 11, 401, false); /* the record of the same switch */
	CHECK(waits_in(&waits, 11, 450, &wait));
	CHECK_EQ(wait.sum.n, 4);
	CHECK_EQ(wait.sum.ns, 80);
	CHECK_EQ(wait.sum.longest_ns, 50);
	CHECK(wait.is_sampled);
	waits_leave(&waits, 1, 11, 500, false);
	CHECK(!waits_in(&waits, 11, 520, &wait));
	CHECK(waits_forget(&waits, 11, &wait)); /* no sample represents it */
	CHECK_EQ(wait.sum.n, 1);
	CHECK_EQ(wait.sum.ns, 20);
	CHECK(!wait.is_sampled);
	CHECK_EQ(waits.n_lost, 0);
	waits_done(&waits);
}

TEST(waits_without_a_sample_are_reported_at_the_end)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_leave(&waits, 1, 11, 100, false);
	CHECK(!waits_in(&waits, 11, 130, &wait));
	waits_leave(&waits, 1, 12, 100, false);
	CHECK(waits_cut(&waits, 1000, &wait));
	CHECK_EQ(wait.tid, 11);
	CHECK_EQ(wait.sum.ns, 30);
	CHECK(!wait.is_cut);
	CHECK(waits_cut(&waits, 1000, &wait));
	CHECK_EQ(wait.tid, 12);
	CHECK_EQ(wait.sum.ns, 900);
	CHECK(wait.is_cut);
	CHECK(!waits_cut(&waits, 1000, &wait));
	/* A lost end: an old sample does not belong to this switch. */
	waits_out(&waits, 1, 13, 100);
	waits_leave(&waits, 1, 13, 100000000, false);
	CHECK_EQ(waits.n_lost, 1);
	CHECK(!waits_in(&waits, 13, 100000010, &wait));
	CHECK(waits_forget(&waits, 13, &wait));
	CHECK_EQ(wait.sum.ns, 10);
	waits_done(&waits);
}

/* The stack of a sampled short sleep is not used for a long wait. */
TEST(a_sample_represents_waits_of_similar_length)
{
	const uint64_t ms = 1000000;
	struct waits waits = { 0 };
	struct wait wait;

	waits_leave(&waits, 1, 11, 1 * ms, false); /* 300 ms, not sampled */
	CHECK(!waits_in(&waits, 11, 301 * ms, &wait));
	waits_leave(&waits, 1, 11, 400 * ms, false); /* 1 ms, not sampled */
	CHECK(!waits_in(&waits, 11, 401 * ms, &wait));
	waits_out(&waits, 1, 11, 500 * ms); /* 2 ms, sampled */
	CHECK(waits_in(&waits, 11, 502 * ms, &wait));
	CHECK_EQ(wait.sum.ns, 3 * ms);
	uint32_t is_short = wait.sort;
	waits_out(&waits, 1, 11, 600 * ms); /* 400 ms, sampled */
	CHECK(waits_in(&waits, 11, 1000 * ms, &wait));
	CHECK_EQ(wait.sum.ns, 700 * ms);
	CHECK_EQ(wait.sum.n, 2);
	CHECK(wait.sort != is_short && wait.sort < WAIT_SORTS);
	CHECK(!waits_forget(&waits, 11, &wait));
	waits_done(&waits);
}

/* A program's first wait is always sampled; that says nothing about the hundred that were not. */
TEST(a_sample_does_not_represent_far_more_waits_than_earlier_ones)
{
	struct waits waits = { 0 };
	struct wait wait;
	uint64_t now = 1000;

	waits_out(&waits, 1, 11, now);
	CHECK(waits_in(&waits, 11, now += 10, &wait));
	for (int i = 0; i < 2; i++) {
		waits_leave(&waits, 1, 11, now += 1000000, false);
		CHECK(!waits_in(&waits, 11, now += 10, &wait));
	}
	waits_out(&waits, 1, 11, now += 1000000); /* represents three waits */
	CHECK(waits_in(&waits, 11, now += 10, &wait));
	CHECK_EQ(wait.sum.n, 3);
	for (int i = 0; i < 6; i++) {
		waits_leave(&waits, 1, 11, now += 1000000, false);
		CHECK(!waits_in(&waits, 11, now += 10, &wait));
	}
	waits_leave(&waits, 1, 12, now, false);
	CHECK(!waits_in(&waits, 12, now + 10, &wait));
	CHECK(waits_forget(&waits, 11, &wait));
	CHECK_EQ(wait.sum.n, 6);
	CHECK(!wait.is_unlike);
	CHECK(waits_forget(&waits, 12, &wait)); /* never sampled */
	CHECK(wait.is_unlike);
	waits_done(&waits);
}

/* Samples of preempted threads say nothing about where they wait, and vice versa. */
TEST(a_sample_represents_waits_of_its_own_sort)
{
	struct waits waits = { 0 };
	struct wait wait;

	waits_leave(&waits, 1, 11, 100, false); /* 300, not sampled */
	CHECK(!waits_in(&waits, 11, 400, &wait));
	waits_leave(&waits, 1, 11, 500, true); /* 10, not sampled */
	CHECK(!waits_in(&waits, 11, 510, &wait));
	waits_out(&waits, 1, 11, 600); /* 20, sampled; the record has its sort */
	waits_leave(&waits, 1, 11, 600, true);
	CHECK(waits_in(&waits, 11, 620, &wait));
	CHECK_EQ(wait.sum.ns, 30);
	CHECK_EQ(wait.sum.n, 2);
	CHECK_EQ(wait.sum.longest_ns, 20);
	CHECK(wait.is_sampled);
	uint32_t preempted = wait.sort;
	waits_leave(&waits, 1, 11, 700, true); /* 5, not sampled, and no later one is */
	CHECK(!waits_in(&waits, 11, 705, &wait));
	CHECK(waits_forget(&waits, 11, &wait));
	CHECK_EQ(wait.sum.ns, 5);
	CHECK(!wait.is_sampled && wait.sort == preempted);
	CHECK(waits_forget(&waits, 11, &wait));
	CHECK_EQ(wait.sum.ns, 300);
	CHECK(!wait.is_sampled && wait.sort != preempted);
	CHECK(!waits_forget(&waits, 11, &wait));
	CHECK_EQ(waits.threads.n, 0);
	CHECK_EQ(waits.n_lost, 0);
	waits_done(&waits);
}
