/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <stdatomic.h>

#include "tests/test.h"

#define N 1000

static void count(void *context, unsigned worker, size_t index)
{
	atomic_uint *seen = context;

	CHECK(worker < 4);
	atomic_fetch_add(&seen[index], 1);
}

TEST(pool_gives_every_index_to_exactly_one_thread)
{
	static atomic_uint seen[N];

	pool_run(4, N, count, seen);
	for (size_t i = 0; i < N; i++)
		CHECK_EQ(seen[i], 1);
}

static void set(void *context)
{
	*(int *)context = 7;
}

TEST(pool_runs_a_task_in_the_background_or_immediately)
{
	int beside = 0, at_once = 0;
	struct pool_task *task = pool_start(2, set, &beside);

	pool_wait(task);
	CHECK_EQ(beside, 7);
	CHECK(pool_start(1, set, &at_once) == NULL);
	CHECK_EQ(at_once, 7);
	pool_wait(NULL);
}
