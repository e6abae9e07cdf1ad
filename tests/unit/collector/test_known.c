/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "collector/live/known.h"
#include "tests/support/own_maps.h"
#include "tests/test.h"

static uint64_t fixed_clock(void)
{
	return 1000;
}

static bool holds_us(const struct event *event)
{
	uint64_t pc = (uint64_t)(uintptr_t)holds_us;
	const struct mapping *m = &event->mapping;

	return event->kind == EVENT_MAPPING && event->pid == getpid() && pc - m->start < m->len &&
	       m->is_executable && m->image != IMAGE_NONE;
}

/* How many events are returned, and how many of them are mappings of this code. */
static size_t take_all(struct known *known, size_t *ret_ours)
{
	struct event event;
	size_t n = 0;

	*ret_ours = 0;
	for (; known_next(known, &event); n++)
		*ret_ours += holds_us(&event);
	return n;
}

TEST(known_rereads_mappings_once_after_each_loss)
{
	if (!own_code_is_mapped())
		SKIP(NO_OWN_CODE);
	struct images *images = images_new();
	struct mapper *mapper = mapper_new(images);
	struct known *known = known_new(mapper, fixed_clock);
	size_t n_ours;

	known_look_again(known, getpid());
	CHECK_EQ(take_all(known, &n_ours), 0); /* nothing was lost */
	for (int i = 0; i < 2; i++) {
		known_lost(known);
		known_look_again(known, getpid());
		CHECK(take_all(known, &n_ours) > 0);
		CHECK_EQ(n_ours, 1);
		known_look_again(known, getpid());
		CHECK_EQ(take_all(known, &n_ours), 0);
	}
	known_free(known);
	mapper_free(mapper);
	images_free(images);
}

TEST(known_learns_a_process_once)
{
	if (!own_code_is_mapped())
		SKIP(NO_OWN_CODE);
	struct images *images = images_new();
	struct mapper *mapper = mapper_new(images);
	struct known *known = known_new(mapper, fixed_clock);
	struct map threads = { 0 };
	struct event event, older = { .kind = EVENT_MAPPING, .pid = getpid(), .time_ns = 999 };
	struct event newer = { .kind = EVENT_MAPPING, .pid = getpid(), .time_ns = 1000 };
	size_t n_ours, n_all, n;

	CHECK(!known_covers(known, &older));
	map_put(&threads, (uint32_t)getpid(), 1);
	known_learn(known, getpid(), &threads);
	CHECK(known_covers(known, &older));
	CHECK(!known_covers(known, &newer));
	CHECK(known_next(known, &event));
	CHECK_EQ(event.kind, EVENT_COMM);
	CHECK_EQ(event.tid, getpid());
	CHECK_EQ(event.time_ns, 0);
	n = take_all(known, &n_ours);
	CHECK_EQ(n_ours, 1);
	known_learn(known, getpid(), &threads);
	CHECK_EQ(take_all(known, &n_ours), 0);
	CHECK(known_all(known, &n_all) != NULL);
	CHECK_EQ(n_all, n + 1);
	map_done(&threads);
	known_free(known);
	mapper_free(mapper);
	images_free(images);
}
