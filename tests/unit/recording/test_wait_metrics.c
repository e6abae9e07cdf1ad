/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdio.h>

#include "recording/workers.h"
#include "tests/test.h"

/* What one node of a thread has of a metric. */
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
	switch_of(workers, true, 11, 10000); /* goes on */
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
	if (is_near) /* where it was last sampled */
		CHECK_EQ(value_of(p, p->cct.values.at[0].node, 2), 4500);
	profile_free(p);
	workers_free(workers);
	images_free(images);
	source_info_done(&info);
}

TEST(waits_are_timed_from_leaving_to_coming_back)
{
	check_waits(false, 1);
	check_waits(false, 2);
}

TEST(waits_that_nobody_may_see_are_put_where_a_thread_was_last_sampled)
{
	check_waits(true, 1);
	check_waits(true, 2);
}
