/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/deep/deep_stack.h"
#include "collector/live/drain.h"
#include "collector/live/perf_source.h"
#include "tests/test.h"
#include "tests/unit/collector/build_record.h"

#define RING (4u << 20) /* large enough for lending records */
#define SMALL_RING (1u << 20)
#define BIG 65512 /* size of a record; 16 of them fill a quarter of the ring */
#define SECOND 1000000000ull

static uint64_t clock_at;
static uint64_t fake_clock(void)
{
	return clock_at;
}

static const struct perf_layout layout = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
							  PERF_SAMPLE_TID | PERF_SAMPLE_TIME };

/* A ring that only the test writes to: a file in memory, mapped here and by the drain. */
struct scene {
	struct drain *drain;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t size;
	int fd;
};

static void scene_open(struct scene *scene, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	clock_at = SECOND;
	*scene = (struct scene){ .size = size, .fd = memfd_create("ring", MFD_CLOEXEC) };
	CHECK_EQ(ftruncate(scene->fd, (off_t)(page + size)), 0);
	void *map = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, scene->fd, 0);
	if (map == MAP_FAILED)
		abort();
	scene->page = map;
	scene->data = (uint8_t *)map + page;
	scene->drain = drain_new(fake_clock, 1); /* records older than 1 ns are handed out at once */
	drain_set_layout(scene->drain, &layout);
	CHECK_EQ(drain_add_ring(scene->drain, scene->fd, size), 0);
}

static void scene_close(struct scene *scene)
{
	drain_free(scene->drain);
	munmap(scene->page, (size_t)sysconf(_SC_PAGESIZE) + scene->size);
	close(scene->fd);
}

static uint64_t tail_of(const struct scene *scene)
{
	return __atomic_load_n(&scene->page->data_tail, __ATOMIC_ACQUIRE);
}

static void write_record(struct scene *scene, struct bytes record)
{
	uint64_t head = scene->page->data_head;

	for (size_t i = 0; i < record.len; i++)
		scene->data[head++ % scene->size] = record.at[i];
	__atomic_store_n(&scene->page->data_head, head, __ATOMIC_RELEASE);
}

static void write_samples(struct scene *scene, uint64_t first, uint64_t n)
{
	static struct build b;

	for (uint64_t time = first; time < first + n; time++) {
		record_start(&b, PERF_RECORD_SAMPLE, 0);
		put64(&b, 1);             /* id */
		put64(&b, 0x1000 + time); /* pc */
		put32(&b, 7);
		put32(&b, 7);
		put64(&b, time);
		while (b.len < BIG)
			put64(&b, time);
		write_record(scene, built(&b));
	}
}

static uint64_t last_word(struct bytes record)
{
	uint64_t word;

	memcpy(&word, record.at + record.len - 8, 8);
	return word;
}

/* The time in every word of the next record; 0 if there is none. */
static uint64_t next_time(struct scene *scene)
{
	struct drain_record record;
	uint64_t time;

	if (!drain_next(scene->drain, &record) || !perf_record_time(record.bytes, record.layout, &time))
		return 0;
	return last_word(record.bytes) == time ? time : 0;
}

static uint64_t rest_ns(struct scene *scene)
{
	return drain_stats(scene->drain).rest_ns;
}

TEST(relief_empties_a_ring_whose_reader_is_busy)
{
	struct scene scene;

	scene_open(&scene, RING);
	write_samples(&scene, 1, 40);
	drain_round(scene.drain);
	CHECK_EQ(next_time(&scene), 1);
	CHECK_EQ(tail_of(&scene), 0); /* the records are lent */
	drain_round(scene.drain);

	write_samples(&scene, 41, 20);
	drain_relieve(scene.drain);
	CHECK_EQ(tail_of(&scene), scene.page->data_head);
	memset(scene.data, 0xff, RING); /* the kernel overwrites them */
	for (uint64_t time = 2; time <= 60; time++)
		CHECK_EQ(next_time(&scene), time);
	CHECK_EQ(next_time(&scene), 0);
	CHECK_EQ(drain_stats(scene.drain).read_bytes, scene.page->data_head);
	scene_close(&scene);
}

TEST(relief_does_not_copy_the_record_in_use)
{
	struct drain_record record;
	struct scene scene;

	scene_open(&scene, RING);
	write_samples(&scene, 1, 40);
	drain_round(scene.drain);
	CHECK_EQ(next_time(&scene), 1);
	CHECK(drain_next(scene.drain, &record));
	drain_relieve(scene.drain);
	CHECK(tail_of(&scene) <= BIG); /* start of the second record */
	memset(scene.data, 0xff, tail_of(&scene));
	CHECK_EQ(last_word(record.bytes), 2);
	scene.data[BIG + 100] = 0xaa; /* the record was not copied */
	CHECK_EQ(record.bytes.at[100], 0xaa);

	for (uint64_t time = 3; time <= 40; time++)
		CHECK_EQ(next_time(&scene), time);
	CHECK_EQ(next_time(&scene), 0);
	drain_wait(scene.drain, NULL, 0, 0);
	CHECK_EQ(tail_of(&scene), scene.page->data_head);
	scene_close(&scene);
}

TEST(a_ring_lends_nothing_after_its_reader_was_late)
{
	struct scene scene;

	scene_open(&scene, RING);
	write_samples(&scene, 1, 20);
	drain_relieve(scene.drain); /* one third full: not urgent */
	CHECK_EQ(tail_of(&scene), 0);
	write_samples(&scene, 21, 20);
	drain_relieve(scene.drain);
	CHECK_EQ(tail_of(&scene), scene.page->data_head);
	write_samples(&scene, 41, 10);
	drain_round(scene.drain);
	CHECK_EQ(tail_of(&scene), scene.page->data_head);
	clock_at += 11 * SECOND;
	write_samples(&scene, 51, 10);
	drain_round(scene.drain);
	CHECK(tail_of(&scene) < scene.page->data_head);
	scene_close(&scene);
}

TEST(guard_checks_an_idle_ring_less_often)
{
	struct scene scene;

	scene_open(&scene, SMALL_RING); /* too small for lending: always emptied */
	for (unsigned i = 1; i <= 3; i++) {
		drain_relieve(scene.drain);
		CHECK_EQ(rest_ns(&scene), SECOND << i);
	}
	drain_relieve(scene.drain);
	CHECK_EQ(rest_ns(&scene), SECOND << 3);
	write_samples(&scene, 1, 1);
	drain_relieve(scene.drain);
	CHECK_EQ(rest_ns(&scene), SECOND);
	drain_relieve(scene.drain);
	CHECK_EQ(rest_ns(&scene), SECOND << 1);
	drain_round(scene.drain);
	CHECK_EQ(rest_ns(&scene), SECOND);
	scene_close(&scene);
}

static uint64_t rest_at_rate(uint64_t bytes_per_s)
{
	struct scene scene;

	scene_open(&scene, RING);
	drain_set_rate(scene.drain, bytes_per_s);
	drain_round(scene.drain);
	uint64_t ns = rest_ns(&scene);
	scene_close(&scene);
	return ns;
}

TEST(guard_sleeps_until_five_eighths_of_the_room_may_be_used)
{
	CHECK_EQ(rest_at_rate(RING * 10), SECOND / 16);
	CHECK_EQ(rest_at_rate(0), SECOND); /* no data yet */
	CHECK_EQ(rest_at_rate(1000), SECOND);
	CHECK_EQ(rest_at_rate(RING * 1000000ull), 2000000); /* the minimum */
}

TEST(guard_uses_the_measured_rate_if_it_exceeds_the_requested_one)
{
	struct scene scene;

	scene_open(&scene, RING);
	drain_set_rate(scene.drain, 1000);
	drain_round(scene.drain);
	CHECK_EQ(rest_ns(&scene), SECOND);
	write_samples(&scene, 1, 10);
	clock_at += SECOND / 100;
	drain_round(scene.drain);
	double room = RING - 10.0 * BIG, rate = 100 * 10.0 * BIG;
	CHECK_EQ(rest_ns(&scene), (uint64_t)(room * 5 / 8 / rate * 1e9));
	scene_close(&scene);
}

TEST(drain_reports_the_pc_of_the_next_sample)
{
	struct drain_record record;
	struct scene scene;

	scene_open(&scene, RING);
	write_samples(&scene, 1, 2);
	drain_round(scene.drain);
	CHECK(drain_next(scene.drain, &record));
	CHECK_EQ(record.next.pid, 7);
	CHECK_EQ(record.next.pc, 0x1002);
	CHECK(!record.is_deep);
	CHECK(drain_next(scene.drain, &record));
	CHECK_EQ(record.next.pc, 0);
	scene_close(&scene);
}

static void write_fork(struct scene *scene, uint32_t tid, uint64_t time)
{
	static struct build b;

	record_start(&b, PERF_RECORD_FORK, 0);
	put32(&b, 7);
	put32(&b, 7);
	put32(&b, tid);
	put32(&b, 7);
	put64(&b, time);
	write_record(scene, built(&b));
}

TEST(drain_records_forks_on_request)
{
	struct map births = { 0 };
	struct scene scene;

	scene_open(&scene, RING);
	write_samples(&scene, 1, 1);
	drain_round(scene.drain);
	CHECK(!drain_saw_tasks(scene.drain));
	drain_note_births(scene.drain, &births);
	write_fork(&scene, 8, 2);
	drain_round(scene.drain);
	drain_note_births(scene.drain, NULL);
	write_fork(&scene, 9, 3);
	drain_round(scene.drain);
	CHECK_EQ(map_find(&births, 8), 1);
	CHECK_EQ(map_find(&births, 9), MAP_NONE);
	CHECK(drain_saw_tasks(scene.drain));
	CHECK(!drain_saw_tasks(scene.drain));
	map_done(&births);
	scene_close(&scene);
}

/* A record of the event that writes deep stacks: only a magic number. */
static void write_deep(struct scene *scene, uint64_t time)
{
	static struct build b;

	record_start(&b, PERF_RECORD_SAMPLE, 0);
	put64(&b, 2); /* id */
	put64(&b, 0);
	put32(&b, 7);
	put32(&b, 7);
	put64(&b, time);
	put32(&b, 12); /* size of the raw data */
	put64(&b, DEEP_MAGIC_PAGE);
	put32(&b, 0);
	write_record(scene, built(&b));
}

TEST(drain_hands_out_deep_stacks_before_their_sample)
{
	struct perf_layout deep = { .sample_type = layout.sample_type | PERF_SAMPLE_RAW };
	struct drain_record record;
	struct scene scene;

	scene_open(&scene, RING);
	drain_set_deep_layout(scene.drain, &deep);
	drain_add_deep_event(scene.drain, 2);
	write_deep(&scene, 5); /* its timestamp is just after the sample's */
	write_samples(&scene, 4, 1);
	drain_round(scene.drain);
	CHECK(drain_next(scene.drain, &record));
	CHECK(record.is_deep);
	CHECK_EQ(record.layout->sample_type, deep.sample_type);
	CHECK_EQ(next_time(&scene), 4);
	CHECK_EQ(next_time(&scene), 0);
	scene_close(&scene);
}

TEST(drain_hands_out_everything_at_the_end)
{
	struct scene scene;

	scene_open(&scene, RING);
	clock_at = 10;
	write_samples(&scene, 20, 1); /* later than the round's start */
	drain_round(scene.drain);
	CHECK_EQ(next_time(&scene), 0);
	drain_finish(scene.drain);
	CHECK_EQ(next_time(&scene), 20);
	scene_close(&scene);
}

TEST(drain_counts_invalid_records)
{
	static struct build b;
	struct scene scene;

	scene_open(&scene, RING);
	record_start(&b, PERF_RECORD_SAMPLE, 0);
	put64(&b, 1); /* id, but no time */
	write_record(&scene, built(&b));
	drain_round(scene.drain);
	CHECK_EQ(drain_stats(scene.drain).damaged, 1);
	CHECK_EQ(next_time(&scene), 0);
	scene_close(&scene);
}

TEST(guard_empties_a_ring_without_a_reader)
{
	struct scene scene;

	scene_open(&scene, SMALL_RING);
	drain_set_rate(scene.drain, SMALL_RING * 1000000ull); /* for frequent checks */
	drain_start_guard(scene.drain);
	for (uint64_t time = 1; time <= 40; time += 10) {
		write_samples(&scene, time, 10);
		while (tail_of(&scene) != scene.page->data_head)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	drain_finish(scene.drain);
	for (uint64_t time = 1; time <= 40; time++)
		CHECK_EQ(next_time(&scene), time);
	CHECK_EQ(next_time(&scene), 0);
	scene_close(&scene);
}

static pid_t start_spinning(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		while (getppid() == parent) /* also if a check fails */
			;
		_exit(0);
	}
	return pid;
}

TEST(rings_are_emptied_while_the_reader_is_busy)
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
		SKIP(diag.error == -ENOSYS ? "there is no perf_event_open here"
					   : "perf_event is not allowed here");
	}
	struct perf_source_stats stats = perf_source_stats(source);
	size_t all_rings = stats.n_rings * stats.ring_bytes;
	while (perf_source_stats(source).read_bytes < 4 * all_rings)
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
	CHECK(n_samples * options.stack_size > 2 * all_rings); /* more than the rings can hold */
	source_close(source);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	images_free(images);
}
