/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/cleanup.h"
#include "profile/timeline.h"
#include "recording/builder.h"
#include "tests/test.h"

/* A builder with one clock event, and the objects that it uses. */
struct bench {
	struct images *images;
	struct source_info info;
	struct builder *builder;
	struct stack stack;
};

static void bench_init(struct bench *b)
{
	struct source_event event = { .name = "cpu-clock", .unit = "ns", .frequency = 997 };

	*b = (struct bench){ .images = images_new() };
	vec_push(&b->info.events, event);
	b->builder = builder_new(b->images, &b->info, 0);
}

static void bench_done(struct bench *b)
{
	builder_free(b->builder);
	stack_done(&b->stack);
	vec_done(&b->info.events);
	images_free(b->images);
}

static void sample(struct bench *b, uint64_t time_ns, pid_t pid, pid_t tid, uint64_t vaddr,
		   enum stack_end end)
{
	struct event event = { .kind = EVENT_SAMPLE, .time_ns = time_ns, .pid = pid, .tid = tid };

	event.sample.weight = 1000;
	stack_clear(&b->stack);
	vec_push(&b->stack.frames, ((struct frame){ .pc = vaddr, .vaddr = vaddr, .image = 0 }));
	b->stack.end = end;
	builder_sample(b->builder, &event, &b->stack);
}

static void happen(struct bench *b, struct event event)
{
	builder_event(b->builder, &event);
}

TEST(samples_are_counted_and_weighed_per_thread)
{
	CLEANUP(bench_done) struct bench b;

	bench_init(&b);
	sample(&b, 100, 10, 10, 0x40, STACK_COMPLETE);
	sample(&b, 101, 10, 10, 0x40, STACK_COMPLETE);
	sample(&b, 102, 10, 11, 0x40, STACK_COMPLETE);
	sample(&b, 103, 10, 11, 0x80, STACK_NO_RECIPE);
	struct profile *p = builder_profile(b.builder, NULL);

	CHECK_EQ(p->metrics.n, 2);
	CHECK_STR(intern_text(&p->strings, p->metrics.at[0].name), "samples");
	CHECK_EQ(p->metrics.at[0].event, UINT32_MAX);
	CHECK_STR(intern_text(&p->strings, p->metrics.at[1].name), "cpu-clock");
	CHECK_EQ(p->quality.samples, 4);
	CHECK_EQ(p->quality.by_end[STACK_COMPLETE], 3);
	CHECK_EQ(p->quality.by_end[STACK_NO_RECIPE], 1);
	CHECK_EQ(p->threads.n, 2);
	CHECK_EQ(p->processes.n, 1);
	CHECK_EQ(p->run.start_ns, 100);
	CHECK_EQ(p->run.duration_ns, 3);

	uint64_t by_metric[2] = { 0 }, by_thread[2] = { 0 }, by_round = 0;
	for (size_t i = 0; i < p->cct.values.n; i++) {
		if (p->cct.values.at[i].metric < CCT_ROUND)
			by_metric[p->cct.values.at[i].metric] += p->cct.values.at[i].value;
		else
			by_round += p->cct.values.at[i].value;
		if (p->cct.values.at[i].metric == 0)
			by_thread[p->cct.values.at[i].thread] += p->cct.values.at[i].value;
	}
	CHECK_EQ(by_metric[0], 4);
	CHECK_EQ(by_round, 4);
	CHECK_EQ(by_metric[1], 4000);
	CHECK_EQ(by_thread[0], 2);
	CHECK_EQ(by_thread[1], 2);
}

TEST(a_forked_child_has_the_name_of_its_parent_until_it_is_renamed)
{
	CLEANUP(bench_done) struct bench b;

	bench_init(&b);
	happen(&b, (struct event){ .kind = EVENT_COMM, .pid = 10, .tid = 10, .comm = "make" });
	happen(&b,
	       (struct event){ .kind = EVENT_FORK, .time_ns = 5, .pid = 20, .tid = 20, .fork = { 10, 10 } });
	sample(&b, 6, 20, 20, 1, STACK_COMPLETE);
	struct profile *p = builder_profile(b.builder, NULL);
	CHECK_EQ(p->processes.n, 2);
	CHECK_EQ(p->processes.at[1].parent_pid, 10);
	CHECK_STR(intern_text(&p->strings, p->threads.at[1].comm), "make");

	happen(&b, (struct event){ .kind = EVENT_EXEC, .time_ns = 7, .pid = 20, .tid = 20, .comm = "cc1" });
	CHECK_STR(intern_text(&p->strings, p->threads.at[1].comm), "cc1");
	CHECK_STR(intern_text(&p->strings, p->processes.at[1].comm), "cc1");
	CHECK_EQ(p->threads.n, 2);
}

TEST(a_thread_name_does_not_rename_its_process)
{
	CLEANUP(bench_done) struct bench b;

	bench_init(&b);
	happen(&b, (struct event){ .kind = EVENT_COMM, .pid = 10, .tid = 10, .comm = "server" });
	happen(&b,
	       (struct event){ .kind = EVENT_FORK, .time_ns = 1, .pid = 10, .tid = 11, .fork = { 10, 10 } });
	happen(&b,
	       (struct event){ .kind = EVENT_COMM, .time_ns = 2, .pid = 10, .tid = 11, .comm = "worker" });
	struct profile *p = builder_profile(b.builder, NULL);
	CHECK_EQ(p->processes.n, 1);
	CHECK_STR(intern_text(&p->strings, p->processes.at[0].comm), "server");
	CHECK_STR(intern_text(&p->strings, p->threads.at[1].comm), "worker");
}

TEST(a_reused_pid_is_another_process)
{
	CLEANUP(bench_done) struct bench b;

	bench_init(&b);
	sample(&b, 10, 7, 7, 1, STACK_COMPLETE);
	happen(&b, (struct event){ .kind = EVENT_EXIT, .time_ns = 20, .pid = 7, .tid = 7 });
	sample(&b, 21, 7, 7, 1, STACK_COMPLETE); /* late: still of the old process */
	happen(&b, (struct event){ .kind = EVENT_FORK, .time_ns = 30, .pid = 7, .tid = 7, .fork = { 1, 1 } });
	sample(&b, 40, 7, 7, 1, STACK_COMPLETE);
	struct profile *p = builder_profile(b.builder, NULL);

	CHECK_EQ(p->processes.n, 2);
	CHECK_EQ(p->processes.at[0].exit_ns, 10);
	CHECK_EQ(p->processes.at[1].start_ns, 20);
	CHECK_EQ(p->processes.at[1].exit_ns, 0);
	CHECK_EQ(p->threads.n, 2);
	CHECK_EQ(p->threads.at[1].process, 1);
}

TEST(a_process_ends_with_its_last_thread)
{
	CLEANUP(bench_done) struct bench b;

	bench_init(&b);
	sample(&b, 10, 7, 7, 1, STACK_COMPLETE);
	sample(&b, 10, 7, 8, 1, STACK_COMPLETE);
	happen(&b, (struct event){ .kind = EVENT_EXIT, .time_ns = 20, .pid = 7, .tid = 7 });
	struct profile *p = builder_profile(b.builder, NULL);
	CHECK_EQ(p->threads.at[0].exit_ns, 10);
	CHECK_EQ(p->processes.at[0].exit_ns, 0);
	happen(&b, (struct event){ .kind = EVENT_EXIT, .time_ns = 30, .pid = 7, .tid = 8 });
	CHECK_EQ(p->processes.at[0].exit_ns, 20);
}

TEST(losses_and_notes_are_kept)
{
	CLEANUP(bench_done) struct bench b;

	bench_init(&b);
	happen(&b, (struct event){ .kind = EVENT_LOST, .time_ns = 1, .lost = 3 });
	happen(&b, (struct event){ .kind = EVENT_LOST, .time_ns = 2, .lost = 4 });
	happen(&b, (struct event){ .kind = EVENT_THROTTLE, .time_ns = 3 });
	builder_note(b.builder, "said once");
	builder_note(b.builder, "said once");
	struct profile *p = builder_profile(b.builder, NULL);
	CHECK_EQ(p->quality.lost, 7);
	CHECK_EQ(p->quality.throttled, 1);
	CHECK_EQ(p->notes.n, 1);
}

TEST(images_of_the_registry_keep_their_numbers)
{
	CLEANUP(bench_done) struct bench b;

	bench_init(&b);
	image_id kernel = images_add_pseudo(b.images, IMAGE_KERNEL, "[kernel]", NULL);
	CHECK_EQ(builder_profile(b.builder, NULL)->images.n, 1);
	image_id gone = images_add_pseudo(b.images, IMAGE_UNKNOWN, "/gone", NULL);
	struct profile *p = builder_profile(b.builder, NULL);
	CHECK_EQ(p->images.n, 2);
	CHECK_STR(intern_text(&p->strings, p->images.at[kernel].path), "[kernel]");
	CHECK_STR(intern_text(&p->strings, p->images.at[gone].path), "/gone");
	CHECK_EQ(p->images.at[kernel].kind, IMAGE_KERNEL);
}

TEST(finish_hands_the_profile_over)
{
	struct bench b;

	bench_init(&b);
	sample(&b, 1, 1, 1, 1, STACK_COMPLETE);
	struct profile *p =
		builder_finish(b.builder, &(struct unwinder_stats){ .steps_by_witness = { 0, 1, 2 } });
	bench_done(&b);
	CHECK_EQ(p->quality.samples, 1);
	CHECK_EQ(p->quality.steps_by_witness[WITNESS_CFI], 2);
	profile_free(p);
}

TEST(timeline_keeps_every_sample_however_long_it_runs)
{
	CLEANUP(bench_done) struct bench b;

	bench_init(&b);
	/* One sample per second, for three days, on two threads. */
	for (uint64_t i = 0; i < 3 * 86400; i++)
		sample(&b, 1000 + i * 1000000000, 5, (pid_t)(5 + i % 2), 1, STACK_COMPLETE);
	struct profile *p = builder_profile(b.builder, NULL);
	uint64_t sum = 0;
	for (size_t i = 0; i < p->timeline.n; i++) {
		sum += p->timeline.at[i].samples;
		CHECK(p->timeline.at[i].bin < TIMELINE_BINS);
		CHECK(i == 0 || p->timeline.at[i].thread > p->timeline.at[i - 1].thread ||
		      p->timeline.at[i].bin > p->timeline.at[i - 1].bin);
	}
	CHECK_EQ(sum, 3 * 86400);
	CHECK(p->timeline.n <= 2 * TIMELINE_BINS);
	CHECK(p->timeline.n > TIMELINE_BINS / 2);
	CHECK(p->bin_ns * TIMELINE_BINS > p->run.duration_ns);
}

TEST(of_too_many_names_those_that_threads_have_now_are_right)
{
	CLEANUP(bench_done) struct bench b;
	char name[16];

	bench_init(&b);
	struct profile *p = builder_profile(b.builder, NULL);
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		happen(&b, (struct event){ .kind = EVENT_COMM, .pid = 10, .tid = 10, .comm = name });
	}
	CHECK(p->strings.strings.n < 70000);
	happen(&b, (struct event){ .kind = EVENT_COMM, .pid = 10, .tid = 10, .comm = "server" });
	happen(&b,
	       (struct event){ .kind = EVENT_FORK, .time_ns = 5, .pid = 10, .tid = 11, .fork = { 10, 10 } });
	happen(&b, (struct event){ .kind = EVENT_COMM, .pid = 20, .tid = 20, .comm = "other" });

	uint32_t of_server = builder_waker_metric(b.builder, 10, 11);
	CHECK_STR(intern_text(&p->strings, p->metrics.at[of_server].name), WAKER_METRIC "server");
	CHECK_EQ(builder_waker_metric(b.builder, 10, 10), of_server);
	CHECK(builder_waker_metric(b.builder, 20, 20) != of_server);

	builder_profile(b.builder, NULL);
	CHECK_STR(intern_text(&p->strings, p->threads.at[0].comm), "server");
	CHECK_STR(intern_text(&p->strings, p->processes.at[0].comm), "server");
	CHECK_STR(intern_text(&p->strings, p->threads.at[1].comm), "server");
	CHECK_STR(intern_text(&p->strings, p->processes.at[1].comm), "other");
	CHECK_EQ(builder_waker_metric(b.builder, 10, 10), of_server);
}
