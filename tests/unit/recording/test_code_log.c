/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/code_log.h"

#include "tests/test.h"

/* A process with 4096 equal bytes, and the stored copies of them. */
struct code_scene {
	uint8_t byte;
	pid_t asked; /* the thread id used to read */
	unsigned n;
	pid_t pid, tid;
	uint64_t time_ns, addr;
	uint8_t first;
	size_t len;
};

static ssize_t code_scene_read(void *context, pid_t tid, uint64_t addr, void *to, size_t len)
{
	struct code_scene *scene = context;

	scene->asked = tid;
	if (addr >= 4096)
		return -1;
	memset(to, scene->byte, len);
	return (ssize_t)len;
}

static void code_scene_write(void *context, const struct event *event)
{
	struct code_scene *scene = context;

	CHECK_EQ(event->kind, EVENT_CODE);
	scene->n++;
	scene->pid = event->pid;
	scene->tid = event->tid;
	scene->time_ns = event->time_ns;
	scene->addr = event->code.addr;
	scene->len = event->code.bytes.len;
	scene->first = event->code.bytes.at[0];
}

TEST(code_is_read_by_a_thread_and_kept_for_its_process)
{
	struct code_scene scene = { .byte = 1 };
	struct code_log_options options = { code_scene_read, &scene, code_scene_write, &scene };
	struct code_log *log = code_log_new(&options);
	uint8_t to[64];

	CHECK_EQ(code_log_read(log, &(struct code_wanted){ 100, 107, 5000 }, 256, to, sizeof(to)),
		 sizeof(to));
	CHECK_EQ(scene.asked, 107);
	CHECK_EQ(to[63], 1);
	CHECK_EQ(scene.n, 0);
	code_log_write(log);
	CHECK_EQ(scene.n, 1);
	CHECK_EQ(scene.pid, 100);
	CHECK_EQ(scene.tid, 100);
	CHECK_EQ(scene.time_ns, 4999); /* before the sample that needed it */
	CHECK_EQ(scene.addr, 256);
	CHECK_EQ(scene.len, sizeof(to));
	CHECK_EQ(scene.first, 1);
	code_log_free(log);
}

TEST(code_is_kept_again_only_when_it_has_changed)
{
	struct code_scene scene = { .byte = 1 };
	struct code_log_options options = { code_scene_read, &scene, code_scene_write, &scene };
	struct code_log *log = code_log_new(&options);
	uint8_t to[64];

	for (int i = 0; i < 3; i++)
		code_log_read(log, &(struct code_wanted){ 100, 100 + i, 10 }, 0, to, sizeof(to));
	code_log_write(log);
	CHECK_EQ(scene.n, 1);
	code_log_read(log, &(struct code_wanted){ 101, 101, 20 }, 0, to, sizeof(to)); /* another process */
	code_log_write(log);
	CHECK_EQ(scene.n, 2);
	scene.byte = 2;
	struct code_wanted later = { 100, 100, 30 };
	code_log_read(log, &later, 0, to, sizeof(to));
	CHECK_EQ(code_log_read(log, &later, 8192, to, sizeof(to)), -1); /* no memory there */
	code_log_write(log);
	CHECK_EQ(scene.n, 3);
	CHECK_EQ(scene.first, 2);
	code_log_write(log);
	CHECK_EQ(scene.n, 3);
	code_log_free(log);
}

/* Threads that unwind stacks are not at the same time. */
TEST(code_is_written_before_each_sample_that_needed_it)
{
	struct code_scene scene = { .byte = 1 };
	struct code_log_options options = { code_scene_read, &scene, code_scene_write, &scene };
	struct code_log *log = code_log_new(&options);
	uint8_t to[64];

	code_log_read(log, &(struct code_wanted){ 100, 100, 900 }, 0, to, sizeof(to));
	code_log_write(log);
	CHECK_EQ(scene.time_ns, 899);
	/* The same code, for an earlier sample of another thread. */
	code_log_read(log, &(struct code_wanted){ 100, 101, 500 }, 0, to, sizeof(to));
	code_log_write(log);
	CHECK_EQ(scene.n, 2);
	CHECK_EQ(scene.time_ns, 499);
	/* A late sample sees changed code: from 899 on, the code is still assumed to be what was read then.
	 */
	scene.byte = 2;
	code_log_read(log, &(struct code_wanted){ 100, 101, 600 }, 0, to, sizeof(to));
	code_log_write(log);
	CHECK_EQ(scene.n, 3);
	CHECK_EQ(scene.time_ns, 599);
	code_log_read(log, &(struct code_wanted){ 100, 100, 950 }, 0, to, sizeof(to));
	code_log_write(log);
	CHECK_EQ(scene.n, 4);
	CHECK_EQ(scene.time_ns, 949);
	CHECK_EQ(scene.first, 2);
	code_log_read(log, &(struct code_wanted){ 100, 101, 960 }, 0, to, sizeof(to));
	code_log_write(log);
	CHECK_EQ(scene.n, 4);
	code_log_free(log);
}

TEST(code_is_read_without_being_written)
{
	struct code_scene scene = { .byte = 3 };
	struct code_log_options options = { .read = code_scene_read, .read_context = &scene };
	struct code_log *log = code_log_new(&options);
	uint8_t to[8];

	CHECK_EQ(code_log_read(log, &(struct code_wanted){ 1, 2, 10 }, 0, to, sizeof(to)), sizeof(to));
	CHECK_EQ(to[0], 3);
	code_log_write(log);
	code_log_free(log);
}
