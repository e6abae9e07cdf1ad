/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Context switches from perf's tracepoint sched_switch.
 */
#include "base/alloc.h"
#include "tests/unit/collector/open_build.h"

/* As written by the kernel: common fields, then comm, pid, prio, state of the previous thread; comm, pid,
 * prio of the next. */
static void put_switch(struct file_build *f, int sampled_tid, int leaves, int comes, uint64_t time)
{
	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put64(&b, 0xffff000000000000), put32(&b, 10), put32(&b, (uint32_t)sampled_tid), put64(&b, time);
	put32(&b, 68);
	put64(&b, 0), put64(&b, 0), put64(&b, 0);
	put32(&b, (uint32_t)leaves), put32(&b, 120), put64(&b, 1);
	put64(&b, 0), put64(&b, 0);
	put32(&b, (uint32_t)comes), put32(&b, 120);
	put32(&b, 0);
	file_record(f, &b);
}

static struct file_build switches(void)
{
	struct file_build f = { 0 };
	struct writer *w = &f.feature[12];
	struct perf_event_attr *attr = file_attr(&f, SAMPLE_TYPE | PERF_SAMPLE_RAW, 0);

	attr->type = PERF_TYPE_TRACEPOINT;
	attr->freq = 0;
	attr->sample_period = 1;
	file_string(&f, 6, "x86_64");
	write_u32(w, 1), write_u32(w, sizeof(*attr));
	write_bytes(w, (struct bytes){ (uint8_t *)attr, sizeof(*attr) });
	write_u32(w, 0);
	file_string(&f, 12, "sched:sched_switch");
	return f;
}

static void check_next(enum event_kind kind, pid_t tid, uint64_t time)
{
	CHECK_EQ(next(), 1);
	CHECK(event.kind == kind);
	CHECK_EQ(event.tid, tid);
	CHECK_EQ(event.time_ns, time);
}

TEST(a_switch_samples_the_previous_thread_and_ends_the_wait_of_the_next)
{
	struct file_build f = switches();

	put_switch(&f, 11, 11, 12, 1000);
	put_switch(&f, 12, 12, 11, 2000);
	CHECK_EQ(open_build(&f), 0);
	CHECK_STR(source->info.events.at[0].name, "off-cpu");
	check_next(EVENT_SAMPLE, 11, 1000);
	check_next(EVENT_SWITCH, 12, 1000);
	check_next(EVENT_SAMPLE, 12, 2000);
	check_next(EVENT_SWITCH, 11, 2000);
	check_end();
	done();
}

/* Thread 0 is the idle thread of every CPU: its switch-outs without switch-ins would count as lost waits. */
TEST(idle_threads_do_not_wait)
{
	struct file_build f = switches();

	put_switch(&f, 11, 11, 0, 1000);
	put_switch(&f, 0, 0, 11, 2000);
	put_switch(&f, 0, 0, 0, 3000);
	CHECK_EQ(open_build(&f), 0);
	check_next(EVENT_SAMPLE, 11, 1000);
	check_next(EVENT_SWITCH, 11, 2000);
	check_end();
	done();
}

/* The kernel has removed the thread's id before its last switch. */
TEST(thread_that_has_ended_does_not_wait)
{
	struct file_build f = switches();

	put_switch(&f, -1, 11, 12, 1000);
	CHECK_EQ(open_build(&f), 0);
	check_next(EVENT_SWITCH, 12, 1000);
	check_end();
	done();
}

TEST(a_truncated_switch_ends_no_wait)
{
	struct file_build f = switches();

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put64(&b, 0xffff000000000000), put32(&b, 10), put32(&b, 11), put64(&b, 1000);
	put32(&b, 20);
	put64(&b, 0), put64(&b, 0), put32(&b, 0);
	file_record(&f, &b);
	CHECK_EQ(open_build(&f), 0);
	check_next(EVENT_SAMPLE, 11, 1000);
	check_end();
	done();
}
