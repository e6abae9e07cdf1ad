/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/code_log.h"

#include "tests/test.h"

/* A process of 4096 bytes that are all the same, and what was kept of it. */
struct code_scene {
	uint8_t byte;
	pid_t asked; /* by this thread's id */
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

	CHECK_EQ(code_log_read(log, 100, 107, 256, to, sizeof(to)), sizeof(to));
	CHECK_EQ(scene.asked, 107);
	CHECK_EQ(to[63], 1);
	CHECK_EQ(scene.n, 0);
	code_log_write(log, 5000);
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
		code_log_read(log, 100, 100 + i, 0, to, sizeof(to));
	code_log_write(log, 10);
	CHECK_EQ(scene.n, 1);
	code_log_read(log, 101, 101, 0, to, sizeof(to)); /* another process */
	code_log_write(log, 20);
	CHECK_EQ(scene.n, 2);
	scene.byte = 2;
	code_log_read(log, 100, 100, 0, to, sizeof(to));
	CHECK_EQ(code_log_read(log, 100, 100, 8192, to, sizeof(to)), -1); /* nothing there */
	code_log_write(log, 30);
	CHECK_EQ(scene.n, 3);
	CHECK_EQ(scene.first, 2);
	code_log_write(log, 40);
	CHECK_EQ(scene.n, 3);
	code_log_free(log);
}

TEST(code_is_only_read_if_nobody_keeps_it)
{
	struct code_scene scene = { .byte = 3 };
	struct code_log_options options = { .read = code_scene_read, .read_context = &scene };
	struct code_log *log = code_log_new(&options);
	uint8_t to[8];

	CHECK_EQ(code_log_read(log, 1, 2, 0, to, sizeof(to)), sizeof(to));
	CHECK_EQ(to[0], 3);
	code_log_write(log, 10);
	code_log_free(log);
}
