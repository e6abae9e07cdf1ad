/* SPDX-License-Identifier: Apache-2.0 */
/* All records except samples; sizes, ids and layouts of all records. */
#include "tests/unit/collector/parse_record.h"

static const struct isa x86 = { .elf_machine = EM_X86_64, .pc = 16, .sp = 7, .min_insn = 1 };

static void put_mmap2(uint16_t misc, uint32_t prot)
{
	record_start(&b, PERF_RECORD_MMAP2, misc);
	put32(&b, 10), put32(&b, 10);
	put64(&b, 0x400000), put64(&b, 0x1000), put64(&b, 0x2000);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		put8(&b, 20), put8(&b, 0), put16(&b, 0);
		for (uint8_t i = 0; i < 20; i++)
			put8(&b, i);
	} else {
		put32(&b, 8), put32(&b, 1), put64(&b, 1234), put64(&b, 5);
	}
	put32(&b, prot), put32(&b, 2);
	put_text(&b, "/bin/true");
	put_trailer(10, 11, 5000, 1, 42);
}

TEST(parse_reads_mmap2_with_inode)
{
	struct event event;

	put_mmap2(PERF_RECORD_MISC_USER, 5);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK_EQ(record.kind, PERF_KIND_MMAP);
	CHECK_EQ(record.pid, 10);
	CHECK_EQ(record.tid, 10);
	CHECK_EQ(record.mmap.start, 0x400000);
	CHECK_EQ(record.mmap.len, 0x1000);
	CHECK_EQ(record.mmap.file_offset, 0x2000);
	CHECK_EQ(record.mmap.major, 8);
	CHECK_EQ(record.mmap.minor, 1);
	CHECK_EQ(record.mmap.inode, 1234);
	CHECK_EQ(record.mmap.inode_generation, 5);
	CHECK_EQ(record.mmap.build_id.len, 0);
	CHECK_EQ(record.mmap.is_executable, true);
	CHECK_STR(record.mmap.path, "/bin/true");
	CHECK_EQ(record.time_ns, 5000);
	CHECK_EQ(record.id, 42);
	CHECK_EQ(record.cpu, 1);

	CHECK(perf_record_event(&record, &event));
	CHECK_EQ(event.kind, EVENT_MAPPING);
	CHECK_EQ(event.mapping.image, IMAGE_NONE);
	CHECK_EQ(event.mapping.start, 0x400000);
	check_cuts(&with_trailer, 7);
}

TEST(parse_reads_mmap2_with_build_id)
{
	put_mmap2(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID, 1);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK_EQ(record.mmap.inode, 0);
	CHECK_EQ(record.mmap.build_id.len, 20);
	CHECK_EQ(record.mmap.build_id.bytes[19], 19);
	CHECK_EQ(record.mmap.is_executable, false);

	b.at[40] = 21; /* longer than the maximum of a build-id */
	CHECK_EQ(parse(&with_trailer), -EBADMSG);
}

TEST(parse_reads_mmap_of_old_kernels)
{
	record_start(&b, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	put32(&b, 10), put32(&b, 10), put64(&b, 0x1000), put64(&b, 0x2000), put64(&b, 0);
	put_text(&b, "/x");
	CHECK_EQ(parse(&(struct perf_layout){ 0 }), 0);
	CHECK_EQ(record.mmap.is_executable, true);
	CHECK_EQ(record.has_time, false);
	CHECK_STR(record.mmap.path, "/x");

	b.at[4] = PERF_RECORD_MISC_USER, b.at[5] = PERF_RECORD_MISC_MMAP_DATA >> 8;
	CHECK_EQ(parse(&(struct perf_layout){ 0 }), 0);
	CHECK_EQ(record.mmap.is_executable, false);
}

TEST(parse_refuses_a_path_that_runs_into_the_trailer)
{
	record_start(&b, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	put32(&b, 10), put32(&b, 10), put64(&b, 0x1000), put64(&b, 0x2000), put64(&b, 0);
	put(&b, "/bin/tru", 8);
	put_trailer(0, 0, 0, 0, 0);
	CHECK_EQ(parse(&with_trailer), -EBADMSG);
}

TEST(event_of_a_kernel_mapping_is_none)
{
	struct event event;

	put_mmap2(PERF_RECORD_MISC_KERNEL, 5);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(!perf_record_event(&record, &event));
}

TEST(parse_distinguishes_exec_and_rename)
{
	struct event event;

	record_start(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put32(&b, 10), put32(&b, 11);
	put_text(&b, "true");
	put_trailer(1, 1, 7, 0, 0);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(perf_record_event(&record, &event));
	CHECK_EQ(event.kind, EVENT_EXEC);
	CHECK_EQ(event.pid, 10);
	CHECK_EQ(event.tid, 11);
	CHECK_EQ(event.time_ns, 7);
	CHECK_STR(event.comm, "true");
	check_cuts(&with_trailer, 7);

	b.at[5] = 0;
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(perf_record_event(&record, &event));
	CHECK_EQ(event.kind, EVENT_COMM);
}

static void check_task(uint32_t type, enum event_kind kind)
{
	struct event event;

	record_start(&b, type, 0);
	put32(&b, 20), put32(&b, 10), put32(&b, 21), put32(&b, 11), put64(&b, 99);
	put_trailer(10, 11, 100, 0, 0);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(perf_record_event(&record, &event));
	CHECK_EQ(event.kind, kind);
	CHECK_EQ(event.pid, 20);
	CHECK_EQ(event.tid, 21);
	CHECK_EQ(event.time_ns, 100); /* from the trailer, as in all records */
	CHECK_EQ(record.fork.parent_pid, 10);
	CHECK_EQ(record.fork.parent_tid, 11);
	check_cuts(&with_trailer, 0);
}

TEST(parse_takes_the_time_in_a_record_that_has_no_trailer)
{
	record_start(&b, PERF_RECORD_EXIT, 0);
	put32(&b, 20), put32(&b, 10), put32(&b, 21), put32(&b, 11), put64(&b, 99);
	CHECK_EQ(parse(&(struct perf_layout){ 0 }), 0);
	CHECK_EQ(record.has_time, true);
	CHECK_EQ(record.time_ns, 99);
}

TEST(parse_reads_fork_and_exit)
{
	check_task(PERF_RECORD_FORK, EVENT_FORK);
	check_task(PERF_RECORD_EXIT, EVENT_EXIT);
}

TEST(parse_counts_what_was_lost)
{
	struct event event;

	record_start(&b, PERF_RECORD_LOST, 0);
	put64(&b, 42), put64(&b, 1189);
	put_trailer(10, 11, 100, 0, 7);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK_EQ(record.id, 42);
	CHECK(perf_record_event(&record, &event));
	CHECK_EQ(event.kind, EVENT_LOST);
	CHECK_EQ(event.lost, 1189);
	check_cuts(&with_trailer, 0);

	record_start(&b, PERF_RECORD_LOST_SAMPLES, 0);
	put64(&b, 5);
	put_trailer(10, 11, 100, 0, 7);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(perf_record_event(&record, &event));
	CHECK_EQ(event.kind, EVENT_LOST);
	CHECK_EQ(event.lost, 5);
}

TEST(parse_reads_throttling)
{
	struct event event;

	for (int i = 0; i < 2; i++) {
		record_start(&b, i ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE, 0);
		put64(&b, 50), put64(&b, 42), put64(&b, 43);
		put_trailer(10, 11, 51, 0, 42);
		CHECK_EQ(parse(&with_trailer), 0);
		CHECK(perf_record_event(&record, &event));
		CHECK_EQ(event.kind, i ? EVENT_UNTHROTTLE : EVENT_THROTTLE);
		CHECK_EQ(event.time_ns, 51);
		CHECK_EQ(event.tid, 11);
	}
}

TEST(parse_reads_context_switches)
{
	struct event event;

	record_start(&b, PERF_RECORD_SWITCH,
		     PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	put_trailer(10, 11, 51, 0, 42);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(perf_record_event(&record, &event));
	CHECK_EQ(event.kind, EVENT_SWITCH);
	CHECK(event.sw.is_out && event.sw.is_preempted);
	CHECK_EQ(event.tid, 11);

	record_start(&b, PERF_RECORD_SWITCH_CPU_WIDE, 0);
	put32(&b, 1), put32(&b, 2);
	put_trailer(10, 11, 51, 0, 42);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(perf_record_event(&record, &event));
	CHECK(!event.sw.is_out && !event.sw.is_preempted);
	CHECK_EQ(event.pid, 10);
}

TEST(parse_reads_kernel_symbols)
{
	struct event event;

	record_start(&b, PERF_RECORD_KSYMBOL, 0);
	put64(&b, 0xffff1000), put32(&b, 64), put16(&b, 1), put16(&b, 1);
	put_text(&b, "bpf_prog_x");
	put_trailer(0, 0, 1, 0, 0);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK_EQ(record.kind, PERF_KIND_KSYMBOL);
	CHECK_EQ(record.ksymbol.addr, 0xffff1000);
	CHECK_EQ(record.ksymbol.len, 64);
	CHECK_EQ(record.ksymbol.is_unregister, true);
	CHECK_STR(record.ksymbol.name, "bpf_prog_x");
	CHECK(!perf_record_event(&record, &event));
}

TEST(parse_reads_code_of_user_mode)
{
	struct event event;

	record_start(&b, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_USER);
	put64(&b, 0x7000), put16(&b, 0), put16(&b, 4), put32(&b, 0xd65f03c0);
	put_trailer(10, 11, 51, 0, 42);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(perf_record_event(&record, &event));
	CHECK_EQ(event.kind, EVENT_CODE);
	CHECK_EQ(event.pid, 10);
	CHECK_EQ(event.code.addr, 0x7000);
	CHECK_EQ(event.code.bytes.len, 4);
	CHECK_EQ(event.code.bytes.at[3], 0xd6);

	record_start(&b, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL);
	put64(&b, 0x7000), put16(&b, 0), put16(&b, 4), put32(&b, 0xd65f03c0);
	put_trailer(0, 0, 51, 0, 42);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(!perf_record_event(&record, &event));

	record_start(&b, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_USER); /* fewer bytes than it states */
	put64(&b, 0x7000), put16(&b, 0), put16(&b, 400), put32(&b, 0xd65f03c0);
	put_trailer(10, 11, 51, 0, 42);
	CHECK(parse(&with_trailer) < 0);
}

TEST(parse_skips_unknown_records)
{
	struct event event;

	record_start(&b, 63, 0);
	put_trailer(10, 11, 51, 0, 42);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK_EQ(record.kind, PERF_KIND_OTHER);
	CHECK_EQ(record.time_ns, 51);
	CHECK(!perf_record_event(&record, &event));

	record_start(&b, 68, 0); /* written by perf itself: no trailer */
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK_EQ(record.kind, PERF_KIND_OTHER);
	CHECK_EQ(record.has_time, false);
}

TEST(parse_refuses_a_size_below_its_header)
{
	record_start(&b, PERF_RECORD_COMM, 0);
	for (uint8_t size = 0; size < 8; size++) {
		b.at[6] = size;
		CHECK_EQ(perf_record_size((struct bytes){ b.at, b.len }), 0);
	}
	b.at[6] = 9; /* one more than available */
	CHECK_EQ(perf_record_size((struct bytes){ b.at, b.len }), 0);
}

static uint64_t id_of(const struct perf_layout *layout)
{
	uint64_t id = 0;

	CHECK(perf_record_id(built(&b), layout, &id));
	return id;
}

TEST(record_id_is_found_wherever_the_layout_puts_it)
{
	struct perf_layout by_id = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
						    PERF_SAMPLE_CPU,
				     .sample_id_all = true };
	struct perf_layout none = { .sample_type = PERF_SAMPLE_IP, .sample_id_all = true };
	uint64_t id;

	record_start(&b, PERF_RECORD_SAMPLE, 0);
	put64(&b, 42), put32(&b, 1), put32(&b, 1), put64(&b, 5), put64(&b, 0);
	CHECK_EQ(id_of(&with_trailer), 42);
	put_mmap2(0, 5);
	CHECK_EQ(id_of(&with_trailer), 42);

	record_start(&b, PERF_RECORD_SAMPLE, 0);
	put64(&b, 1), put64(&b, 2), put64(&b, 42), put64(&b, 4);
	CHECK_EQ(id_of(&by_id), 42);
	record_start(&b, PERF_RECORD_COMM, 0);
	put32(&b, 1), put32(&b, 1), put_text(&b, "x");
	put64(&b, 2), put64(&b, 42), put64(&b, 3);
	CHECK_EQ(id_of(&by_id), 42);
	CHECK(!perf_record_id(built(&b), &none, &id));

	record_start(&b, PERF_RECORD_SWITCH, 0); /* no room for a trailer */
	CHECK(!perf_record_id(built(&b), &with_trailer, &id));
}

TEST(stamp_agrees_with_the_parsed_sample)
{
	const struct perf_layout layout = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
							   PERF_SAMPLE_TID | PERF_SAMPLE_TIME };
	const struct perf_layout timeless = { .sample_type = PERF_SAMPLE_TID };
	struct sample_place place;
	uint64_t time;
	pid_t tid;

	record_start(&b, PERF_RECORD_SAMPLE, 0);
	put64(&b, 42), put64(&b, 0x1000), put32(&b, 6), put32(&b, 7), put64(&b, 5);
	CHECK(perf_record_stamp(built(&b), &layout, &time, &tid));
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(time, record.time_ns);
	CHECK_EQ(tid, record.tid);
	CHECK(!perf_record_stamp(built(&b), &timeless, &time, &tid));
	CHECK(perf_record_place(built(&b), &layout, &place));
	CHECK_EQ(place.pid, record.pid);
	CHECK_EQ(place.pc, 0x1000);

	record_start(&b, PERF_RECORD_SAMPLE, 0); /* truncated before the time */
	put64(&b, 42), put64(&b, 0x1000), put32(&b, 6), put32(&b, 7);
	CHECK(!perf_record_stamp(built(&b), &layout, &time, &tid));
	CHECK(perf_record_place(built(&b), &layout, &place));
	record_start(&b, PERF_RECORD_SAMPLE, 0); /* truncated before the process */
	put64(&b, 42), put64(&b, 0x1000);
	CHECK(!perf_record_place(built(&b), &layout, &place));
	put_mmap2(0, 5);
	CHECK(!perf_record_stamp(built(&b), &with_trailer, &time, &tid));
	CHECK(!perf_record_place(built(&b), &with_trailer, &place));
}

TEST(time_of_other_records_is_read_without_the_rest)
{
	const struct perf_layout without = { .sample_type = with_trailer.sample_type };
	struct perf_layout timeless = with_trailer;
	uint64_t time = 0;

	put_mmap2(0, 5);
	CHECK_EQ(parse(&with_trailer), 0);
	CHECK(record.has_time && record.time_ns);
	CHECK(perf_record_trailer_time(built(&b), &with_trailer, &time));
	CHECK_EQ(time, record.time_ns);
	CHECK(!perf_record_trailer_time(built(&b), &without, &time));
	timeless.sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	CHECK(!perf_record_trailer_time(built(&b), &timeless, &time));
	CHECK(!perf_record_trailer_time(bytes_slice(built(&b), 0, 16), &with_trailer, &time));

	record_start(&b, PERF_RECORD_SAMPLE, 0); /* its fields are in another order */
	for (int i = 0; i < 8; i++)
		put64(&b, 42);
	CHECK(!perf_record_trailer_time(built(&b), &with_trailer, &time));
	record_start(&b, 68, 0); /* of perf itself: it has no trailer */
	for (int i = 0; i < 8; i++)
		put64(&b, 42);
	CHECK(!perf_record_trailer_time(built(&b), &with_trailer, &time));
	record_start(&b, PERF_RECORD_EXIT, 0); /* too short */
	CHECK(!perf_record_trailer_time(built(&b), &with_trailer, &time));
}

TEST(layout_follows_the_attributes)
{
	struct perf_event_attr attr = { .sample_type = 0x107,
					.read_format = 4,
					.sample_regs_user = 0xff0fff,
					.branch_sample_type = 2,
					.sample_regs_intr = 9,
					.sample_period = 100,
					.sample_id_all = 1 };
	struct perf_layout layout = perf_layout_of(&attr, &x86, 2);

	CHECK_EQ(layout.sample_type, 0x107);
	CHECK_EQ(layout.read_format, 4);
	CHECK_EQ(layout.regs_user, 0xff0fff);
	CHECK_EQ(layout.regs_intr, 9);
	CHECK_EQ(layout.branch_sample_type, 2);
	CHECK_EQ(layout.period, 100);
	CHECK_EQ(layout.event, 2);
	CHECK_EQ(layout.sample_id_all, true);
	attr.freq = 1; /* then sample_freq: a rate, not a weight */
	CHECK_EQ(perf_layout_of(&attr, &x86, 2).period, 1);
}
