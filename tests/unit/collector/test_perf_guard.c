/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/perf_live.h"
#include "tests/test.h"
#include "tests/unit/collector/build_record.h"

#define RING (4u << 20) /* large enough to lend */
#define BIG 65512       /* of a record; sixteen are a quarter of the ring */

/* A ring that nobody but us writes to. */
struct scene {
	struct perf_live live;
	struct perf_event_mmap_page page;
	uint8_t *data;
};

static void scene_open(struct scene *scene)
{
	struct perf_ring ring = { .fd = -1, .map = &scene->page };

	*scene = (struct scene){ .data = calloc(1, RING) };
	ring.view = (struct ring_view){ .data = scene->data, .size = RING, .scratch = calloc(1, 65536) };
	ring.rounds = calloc(RING_ROUNDS, sizeof(*ring.rounds));
	scene->live.order = order_new();
	scene->live.events.outer.program = -1;
	scene->live.events.layout =
		(struct perf_layout){ .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						     PERF_SAMPLE_TID | PERF_SAMPLE_TIME };
	vec_push(&scene->live.events.rings, ring);
}

static void scene_close(struct scene *scene)
{
	order_free(scene->live.order);
	free(scene->live.events.rings.at[0].view.scratch);
	free(scene->live.events.rings.at[0].rounds);
	vec_done(&scene->live.events.rings);
	vec_done(&scene->live.waits);
	free(scene->data);
}

static void write_samples(struct scene *scene, uint64_t first, uint64_t n)
{
	static struct build b;

	for (uint64_t time = first; time < first + n; time++) {
		b.len = 0;
		record_start(&b, PERF_RECORD_SAMPLE, 0);
		put64(&b, 1);      /* id */
		put64(&b, 0x1000); /* pc */
		put32(&b, 7);
		put32(&b, 7);
		put64(&b, time);
		while (b.len < BIG)
			put64(&b, time);
		struct bytes record = built(&b);
		for (size_t i = 0; i < record.len; i++)
			scene->data[scene->page.data_head++ % RING] = record.at[i];
	}
}

/* The time that every word of the next record says; 0 if there is none. */
static uint64_t next_time(struct scene *scene)
{
	struct bytes record;
	uint64_t time, last;

	if (!order_next(scene->live.order, &time, &record))
		return 0;
	memcpy(&last, record.at + record.len - 8, 8);
	return last == time ? time : 0;
}

TEST(relief_takes_everything_out_of_a_ring_whose_reader_is_away)
{
	static struct scene scene;

	scene_open(&scene);
	write_samples(&scene, 1, 40);
	perf_live_round(&scene.live);
	order_finish(scene.live.order);
	CHECK_EQ(next_time(&scene), 1);
	CHECK_EQ(scene.page.data_tail, 0); /* lent */
	order_let_go(scene.live.order);

	write_samples(&scene, 41, 20);
	perf_live_relieve(&scene.live);
	CHECK_EQ(scene.page.data_tail, scene.page.data_head);
	memset(scene.data, 0xff, RING); /* the kernel goes on */
	for (uint64_t time = 2; time <= 60; time++)
		CHECK_EQ(next_time(&scene), time);
	CHECK_EQ(next_time(&scene), 0);
	scene_close(&scene);
}

TEST(relief_leaves_the_sample_that_is_being_walked)
{
	static struct scene scene;
	struct bytes record;
	uint64_t time;

	scene_open(&scene);
	write_samples(&scene, 1, 40);
	perf_live_round(&scene.live);
	order_finish(scene.live.order);
	CHECK_EQ(next_time(&scene), 1);
	CHECK(order_next(scene.live.order, &time, &record));
	perf_live_relieve(&scene.live);
	CHECK(scene.page.data_tail <= (uint64_t)(record.at - scene.data));
	CHECK(record.at >= scene.data && record.at < scene.data + RING);

	for (time = 3; time <= 40; time++)
		CHECK_EQ(next_time(&scene), time);
	CHECK_EQ(next_time(&scene), 0);
	perf_live_give_back(&scene.live);
	CHECK_EQ(scene.page.data_tail, scene.page.data_head);
	scene_close(&scene);
}

TEST(nothing_stays_in_a_ring_after_its_reader_came_too_late)
{
	static struct scene scene;

	scene_open(&scene);
	write_samples(&scene, 1, 20);
	perf_live_relieve(&scene.live); /* a third: there is time */
	CHECK_EQ(scene.page.data_tail, 0);
	CHECK_EQ(scene.live.pressed_until_ns, 0);
	write_samples(&scene, 21, 20);
	perf_live_relieve(&scene.live);
	CHECK_EQ(scene.page.data_tail, scene.page.data_head);
	CHECK(scene.live.pressed_until_ns > perf_live_now());
	write_samples(&scene, 41, 10);
	perf_live_round(&scene.live);
	CHECK_EQ(scene.page.data_tail, scene.page.data_head);
	scene.live.pressed_until_ns = 0;
	write_samples(&scene, 51, 10);
	perf_live_round(&scene.live);
	CHECK(scene.page.data_tail < scene.page.data_head);
	scene_close(&scene);
}

TEST(guard_looks_less_often_where_nothing_comes)
{
	static struct scene scene;

	scene_open(&scene);
	scene.live.events.rings.at[0].view.size = RING / 4; /* small: emptied whenever it is looked at */
	for (unsigned i = 1; i <= 3; i++) {
		perf_live_relieve(&scene.live);
		CHECK_EQ(scene.live.n_vain, i);
	}
	perf_live_relieve(&scene.live);
	CHECK_EQ(scene.live.n_vain, 3);
	write_samples(&scene, 1, 1);
	perf_live_relieve(&scene.live);
	CHECK_EQ(scene.live.n_vain, 0);
	perf_live_relieve(&scene.live);
	perf_live_round(&scene.live);
	CHECK_EQ(scene.live.n_vain, 0);
	scene_close(&scene);
}

TEST(guard_rests_until_five_eighths_of_the_room_may_be_used)
{
	CHECK_EQ(perf_guard_span(4000000, 10000000), 250000000);
	CHECK_EQ(perf_guard_span(4000000, 0), 1000000000); /* nothing comes yet */
	CHECK_EQ(perf_guard_span(4000000, 1000), 1000000000);
	CHECK_EQ(perf_guard_span(0, 1000000), 2000000); /* never without a pause */
}

TEST(what_may_come_is_reckoned_with_before_it_comes)
{
	static struct scene scene;

	scene_open(&scene);
	scene.live.nominal = 1000;
	perf_live_round(&scene.live);
	CHECK_EQ(scene.live.rate, 1000);
	write_samples(&scene, 1, 10);
	scene.live.read_ns = perf_live_now() - 1000000000;
	perf_live_round(&scene.live);
	CHECK(scene.live.rate > 1000 && scene.live.rate <= 10 * (BIG + 64));
	scene_close(&scene);
}

static pid_t start_spinning(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			getppid();
	return pid;
}

static uint64_t emptied(const struct perf_live *live)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < live->events.rings.n; i++) {
		const struct perf_event_mmap_page *page = live->events.rings.at[i].map;
		bytes += __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);
	}
	return bytes;
}

TEST(rings_are_emptied_while_nobody_reads)
{
	struct images *images = images_new();
	pid_t pid = start_spinning();
	struct perf_source_options options = {
		.pids = &pid, .n_pids = 1, .stack_size = 16384, .ring_bytes = 1
	};
	struct diag diag = { 0 };
	struct source *source;
	struct event event;
	size_t n_samples = 0;
	uint64_t last_ns = 0, n_late = 0;

	if (perf_source_open(images, &options, &source, &diag) < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		images_free(images);
		SKIP(diag.error == -ENOSYS ? "there is no perf_event_open here" : "perf_event is not allowed here");
	}
	const struct perf_live *live = (const struct perf_live *)source;
	size_t all_rings = live->events.rings.n * live->events.rings.at[0].view.size;
	while (emptied(live) < 4 * all_rings)
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	perf_source_stop(source);
	while (source_next(source, &event, -1, &diag) > 0) {
		if (event.kind != EVENT_SAMPLE)
			continue;
		n_late += event.time_ns < last_ns;
		last_ns = event.time_ns;
		n_samples++;
	}
	CHECK(n_late <= perf_source_stats(source).late);
	CHECK(n_samples * options.stack_size > 2 * all_rings); /* more than could wait in them */
	source_close(source);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	images_free(images);
}
