/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/wait_shares.h"

#include "tests/support/random.h"
#include "tests/test.h"

#define OFF_CPU 1
#define RUNNABLE 2
#define WALL 3
#define WOKEN 4
#define HELD 5
#define TID 7
#define ROW 3

/* n waits of the thread took ns. */
static void add(struct wait_shares *shares, struct cct *cct, uint64_t ns, struct wait_share wait)
{
	wait_shares_add(shares, cct, (struct wait_shares_thread){ .tid = TID, .row = ROW, .ns = ns }, &wait);
}

struct totals {
	uint64_t brief, longer, all;
};

static uint64_t value_of(const struct cct *cct, uint32_t node, uint32_t metric)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < cct->values.n; i++)
		if (cct->values.at[i].node == node && cct->values.at[i].metric == metric)
			sum += cct->values.at[i].value;
	return sum;
}

/* A thread waits at two places at random, at the second for longer; of 10 waits, about one is sampled. ret:
 * the truth. */
static struct totals wait_often(struct wait_shares *shares, struct cct *cct, const uint32_t *nodes,
				uint64_t longer)
{
	uint64_t state = 1, gap = 0;
	struct totals totals = { 0 }, since = { 0 };

	for (int i = 0; i < 40000; i++) {
		bool is_longer = next_random(&state) % 4 == 0;
		uint64_t ns = is_longer ? longer : 1000;
		*(is_longer ? &totals.longer : &totals.brief) += ns;
		totals.all += ns;
		since.all += ns;
		since.brief++;
		if (gap-- > 0)
			continue;
		add(shares, cct, since.all,
		    (struct wait_share){ .node = nodes[is_longer],
					 .n = (double)since.brief,
					 .ns = (double)(since.brief * ns),
					 .longest_ns = (double)longer });
		since = (struct totals){ 0 };
		gap = next_random(&state) % 19;
	}
	wait_shares_settle_all(shares, cct);
	totals.all -= since.all;
	return totals;
}

TEST(places_with_waits_of_different_length_get_their_share)
{
	struct wait_shares shares = { .metrics = { OFF_CPU, RUNNABLE, WALL } };
	struct cct cct;

	cct_init(&cct);
	uint32_t nodes[] = { cct_child(&cct, 0, 1, 0x10, 0), cct_child(&cct, 0, 1, 0x20, 0) };
	for (uint64_t longer = 1000; longer <= 7000; longer += 2000) {
		cct_clear_values(&cct);
		struct totals truth = wait_often(&shares, &cct, nodes, longer);
		uint64_t brief = value_of(&cct, nodes[0], OFF_CPU), rest = value_of(&cct, nodes[1], OFF_CPU);
		double want = (double)truth.longer / (double)(truth.longer + truth.brief);
		double got = (double)rest / (double)(rest + brief);
		CHECK_EQ(brief + rest, truth.all);
		CHECK(got > want - 0.03 && got < want + 0.03);
		CHECK_EQ(value_of(&cct, nodes[1], WALL), rest);
	}
	wait_shares_done(&shares);
	cct_done(&cct);
}

/* Two waits of 100 ns: one was runnable for half of it, the other was woken by a thread that held a lock for
 * a quarter. */
TEST(time_runnable_is_attributed_to_the_waits_that_had_it)
{
	struct wait_shares shares = { .metrics = { OFF_CPU, RUNNABLE, 0 } };
	struct cct cct;

	cct_init(&cct);
	uint32_t one = cct_child(&cct, 0, 1, 0x10, 0), other = cct_child(&cct, 0, 1, 0x20, 0),
		 waker = cct_child(&cct, other, 1, 0x30, 0);
	struct wait_shares_thread of = { .tid = TID, .row = ROW, .ns = 400, .runnable_ns = 150 };
	wait_shares_add(&shares, &cct, of,
			&(struct wait_share){
				.node = one, .n = 4, .ns = 400, .runnable_ns = 200, .longest_ns = 100 });
	of.runnable_ns = 50;
	wait_shares_add(&shares, &cct, of,
			&(struct wait_share){ .node = other,
					      .waker_node = waker,
					      .woken_metric = WOKEN,
					      .held_metric = HELD,
					      .n = 4,
					      .ns = 400,
					      .held_ns = 100,
					      .longest_ns = 100 });
	CHECK_EQ(cct.values.n, 0);
	wait_shares_settle(&shares, &cct, TID);
	CHECK_EQ(value_of(&cct, one, OFF_CPU), 400);
	CHECK_EQ(value_of(&cct, one, RUNNABLE), 200);
	CHECK_EQ(value_of(&cct, other, OFF_CPU), 400);
	CHECK_EQ(value_of(&cct, other, RUNNABLE), 0);
	CHECK_EQ(value_of(&cct, other, HELD), 100);
	CHECK_EQ(value_of(&cct, waker, WOKEN), 400);
	wait_shares_done(&shares);
	cct_done(&cct);
}

/* Sampled waits were all short, but those between them were not. */
TEST(on_average_no_wait_is_longer_than_the_longest)
{
	struct wait_shares shares = { .metrics = { OFF_CPU, 0, 0 } };
	struct cct cct;

	cct_init(&cct);
	uint32_t one = cct_child(&cct, 0, 1, 0x10, 0), other = cct_child(&cct, 0, 1, 0x20, 0);
	add(&shares, &cct, 300, (struct wait_share){ .node = one, .n = 10, .ns = 300, .longest_ns = 30 });
	add(&shares, &cct, 300, (struct wait_share){ .node = other, .n = 10, .ns = 10, .longest_ns = 30 });
	wait_shares_settle_all(&shares, &cct);
	CHECK_EQ(value_of(&cct, one, OFF_CPU), 300);
	CHECK_EQ(value_of(&cct, other, OFF_CPU), 300);
	wait_shares_done(&shares);
	cct_done(&cct);
}

/* Also if the one that cannot take more is the last that was added. */
TEST(time_that_does_not_fit_goes_to_the_others)
{
	struct wait_shares shares = { .metrics = { .off_cpu = OFF_CPU } };
	struct cct cct;

	cct_init(&cct);
	uint32_t nodes[] = { cct_child(&cct, 0, 1, 0x10, 0), cct_child(&cct, 0, 1, 0x20, 0) };
	add(&shares, &cct, 5182,
	    (struct wait_share){ .node = nodes[0], .n = 3, .ns = 4503, .longest_ns = 2781 });
	add(&shares, &cct, 79, (struct wait_share){ .node = nodes[1], .n = 3, .ns = 163, .longest_ns = 54 });
	wait_shares_settle_all(&shares, &cct);
	CHECK_EQ(value_of(&cct, nodes[1], OFF_CPU), 3 * 54);
	CHECK_EQ(value_of(&cct, nodes[0], OFF_CPU), 5182 + 79 - 3 * 54);
	wait_shares_done(&shares);
	cct_done(&cct);
}

TEST(a_new_thread_with_the_same_id_gets_nothing_of_the_old_one)
{
	struct wait_shares shares = { .metrics = { OFF_CPU, 0, 0 } };
	struct wait_share wait = { .n = 2, .ns = 20, .longest_ns = 10 };
	struct cct cct;

	cct_init(&cct);
	wait.node = cct_child(&cct, 0, 1, 0x10, 0);
	wait_shares_add(&shares, &cct, (struct wait_shares_thread){ .tid = TID, .row = 1, .ns = 20 }, &wait);
	wait_shares_add(&shares, &cct, (struct wait_shares_thread){ .tid = TID + 1, .row = 3, .ns = 50 },
			&wait);
	wait_shares_add(&shares, &cct, (struct wait_shares_thread){ .tid = TID, .row = 2, .ns = 30 }, &wait);
	CHECK_EQ(cct.values.n, 1);
	CHECK_EQ(cct.values.at[0].thread, 1);
	CHECK_EQ(cct.values.at[0].value, 20);
	wait_shares_settle(&shares, &cct, TID);
	CHECK_EQ(cct.values.at[1].thread, 2);
	CHECK_EQ(cct.values.at[1].value, 30);
	wait_shares_settle(&shares, &cct, TID + 1);
	CHECK_EQ(cct.values.at[2].thread, 3);
	CHECK_EQ(cct.values.at[2].value, 50);
	CHECK_EQ(shares.threads.n, 0);
	wait_shares_done(&shares);
	cct_done(&cct);
}
