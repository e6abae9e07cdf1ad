/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "recording/workers.h"
#include "tests/test.h"

/* The value of a metric at one node of a thread. */
static uint64_t value_of(const struct profile *p, uint32_t node, uint32_t metric)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->cct.values.n; i++)
		if (p->cct.values.at[i].node == node && p->cct.values.at[i].metric == metric)
			sum += p->cct.values.at[i].value;
	return sum;
}

static void add_event(struct source_info *info, enum source_values values, const char *name, const char *unit)
{
	struct source_event event = { .values = values };

	snprintf(event.name, sizeof(event.name), "%s", name);
	snprintf(event.unit, sizeof(event.unit), "%s", unit);
	vec_push(&info->events, event);
}

static void sample_of(struct workers *workers, uint32_t event, pid_t tid, uint64_t time_ns)
{
	struct event sample = { .kind = EVENT_SAMPLE,
				.pid = 10,
				.tid = tid,
				.time_ns = time_ns,
				.sample = { .weight = 1000, .event = event } };

	workers_event(workers, &sample);
}

static void switch_of(struct workers *workers, bool is_out, pid_t tid, uint64_t time_ns)
{
	struct event event = { .kind = EVENT_SWITCH, .pid = 10, .tid = tid, .time_ns = time_ns };

	event.sw.is_out = is_out;
	workers_event(workers, &event);
}

/* Samples and switches of waits, seen or not; the metrics of the profile. */
static void check_waits(bool is_near, unsigned n_workers)
{
	struct images *images = images_new();
	struct source_info info = { .isa = isa_for_machine(EM_AARCH64), .has_near_waits = is_near };
	struct workers_options options = { .n_workers = n_workers };

	add_event(&info, SOURCE_WEIGHTS, "cpu-clock", "ns");
	if (!is_near)
		add_event(&info, SOURCE_OFF_CPU, "off-cpu", "ns");
	source_info_add_waits(&info);
	CHECK_EQ(info.events.n, 4);

	struct workers *workers = workers_new(images, &info, &options);
	sample_of(workers, 0, 11, 1000);
	if (!is_near)
		sample_of(workers, 1, 11, 5000);
	switch_of(workers, true, 11, 5000);
	switch_of(workers, false, 11, 9000);
	if (!is_near)
		sample_of(workers, 1, 11, 10000);
	switch_of(workers, true, 11, 10000); /* never switched in again */
	workers_cut_waits(workers, 10500);
	struct profile *p = workers_finish(workers);

	CHECK_STR(intern_text(&p->strings, p->metrics.at[2].name),
		  is_near ? "approximate-off-cpu" : "off-cpu");
	CHECK_EQ(profile_sum(p, 0), is_near ? 1 : 3);
	CHECK_EQ(profile_sum(p, 1), 1000);
	CHECK_EQ(profile_sum(p, 2), 4500);
	CHECK_EQ(profile_sum(p, 3), 2);
	CHECK_EQ(profile_sum(p, 4), 5500);
	CHECK_EQ(p->notes.n, 1);
	if (is_near) /* attributed to its last sample */
		CHECK_EQ(value_of(p, p->cct.values.at[0].node, 2), 4500);
	profile_free(p);
	workers_free(workers);
	images_free(images);
	source_info_done(&info);
}

TEST(waits_are_timed_from_switch_out_to_switch_in)
{
	check_waits(false, 1);
	check_waits(false, 2);
}

TEST(waits_without_samples_are_attributed_to_the_last_sample_of_the_thread)
{
	check_waits(true, 1);
	check_waits(true, 2);
}

/* Is the node below one of that image? */
static bool is_below(const struct profile *p, uint32_t node, const char *image)
{
	for (; node; node = p->cct.nodes.at[node].parent) {
		image_id id = p->cct.nodes.at[node].image;
		if (id < p->images.n && strcmp(intern_text(&p->strings, p->images.at[id].path), image) == 0)
			return true;
	}
	return false;
}

/* Thread 11 waits for 4000 ns for a futex, and 12 wakes it. waker: 12's sample then, or NULL. */
static void add_wait(struct workers *workers, uint64_t at, const struct event *sample,
		     const struct event *waker)
{
	struct event leaves = *sample, back = { .kind = EVENT_SWITCH, .pid = 10, .tid = 11 };

	leaves.tid = 11;
	leaves.time_ns = at;
	workers_event(workers, &leaves);
	if (waker)
		workers_event(workers, waker);
	back.time_ns = at + 4000;
	back.sw.is_measured = true;
	back.sw.since_ns = at;
	back.sw.waited_ns = 4000;
	back.sw.runnable_ns = 1000;
	back.sw.n = 1;
	back.sw.waker = 12;
	back.sw.waker_pid = 10;
	back.sw.woken_ns = at + 3000;
	back.sw.futex = 0x5000;
	workers_event(workers, &back);
}

/* It does so twice, and only the first wait is sampled. */
static void check_waker(unsigned n_workers)
{
	static const uint64_t pcs[] = { 0x1000, 0x2000 };
	struct images *images = images_new();
	struct source_info info = { .isa = isa_for_machine(EM_AARCH64), .has_timed_waits = true };
	struct workers_options options = { .n_workers = n_workers };
	struct event sample = { .kind = EVENT_SAMPLE, .pid = 10, .tid = 12, .time_ns = 4000 };

	add_event(&info, SOURCE_OFF_CPU, "off-cpu", "ns");
	source_info_add_waits(&info);
	struct workers *workers = workers_new(images, &info, &options);
	sample.sample.user_pc = pcs;
	sample.sample.n_user_pc = 2;
	workers_event(workers, &sample);
	struct event waker = sample;
	waker.time_ns = 8000;
	waker.sample.woken.pid = 10;
	waker.sample.woken.tid = 11;
	add_wait(workers, 5000, &sample, &waker);
	add_wait(workers, 10000, &sample, NULL);
	struct profile *p = workers_finish(workers);

	CHECK_EQ(p->quality.samples, 3); /* the waker's sample does not count */
	CHECK_EQ(p->metrics.n, 1 + p->events.n);
	uint32_t n_woken = 0, n_held = 0;
	for (size_t i = 0; i < p->cct.values.n; i++) {
		const struct cct_value *value = &p->cct.values.at[i];
		const char *metric = value->metric < p->metrics.n
					     ? intern_text(&p->strings, p->metrics.at[value->metric].name)
					     : "";
		bool is_woken = strncmp(metric, WAKER_METRIC, strlen(WAKER_METRIC)) == 0;
		bool is_held = strncmp(metric, HOLDER_METRIC, strlen(HOLDER_METRIC)) == 0;
		CHECK_EQ(is_below(p, value->node, WOKEN_BY), is_woken);
		CHECK(!is_woken || value->value == 6000); /* 2 * 3000 ns, without the wait for a CPU */
		CHECK(!is_held || value->value == 6000);  /* 2 * 3000 ns, until the futex was released */
		n_woken += is_woken;
		n_held += is_held;
	}
	CHECK_EQ(n_woken, 1);
	CHECK_EQ(n_held, 1);
	profile_free(p);
	workers_free(workers);
	images_free(images);
	source_info_done(&info);
}

TEST(the_stack_of_the_waker_is_below_that_of_the_wait)
{
	check_waker(1);
	check_waker(2);
}
