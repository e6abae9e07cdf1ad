/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/compress.h"
#include "collector/perfdata/perf_command.h"
#include "tests/unit/collector/open_build.h"

/* ---- what it says about itself -------------------------------------------------------------- */

static void check_info(bool is_stream)
{
	struct file_build f = simple();
	f.is_stream = is_stream;

	file_string(&f, 3, "host1"), file_string(&f, 4, "6.1.0"), file_string(&f, 8, "a CPU");
	file_string(&f, 9, "GenuineIntel,6,143,8");
	write_u32(&f.feature[11], 2);
	file_string(&f, 11, "perf"), file_string(&f, 11, "record");
	write_u64(&f.feature[21], 5000), write_u64(&f.feature[21], 9000);
	write_u32(&f.feature[29], 1), write_u32(&f.feature[29], 1);
	write_u64(&f.feature[29], 1700000000000000000), write_u64(&f.feature[29], 4000);
	put_sample(&f, 1, 5000);

	CHECK_EQ(open_build(&f), 0);
	CHECK_EQ(source->info.isa->elf_machine, EM_X86_64);
	CHECK_STR(source->info.host, "host1");
	CHECK_STR(source->info.kernel, "6.1.0");
	CHECK_STR(source->info.cpu, "a CPU");
	CHECK_STR(source->info.cpu_id, "GenuineIntel family 6 model 143");
	CHECK_STR(source->info.command, "perf record");
	CHECK_EQ(source->info.start_ns, 5000);
	CHECK_EQ(source->info.start_unix_ns, 1700000000000001000);
	CHECK_EQ(source->info.events.n, 1);
	CHECK_STR(source->info.events.at[0].name, "cpu-clock");
	CHECK_STR(source->info.events.at[0].unit, "ns");
	CHECK_EQ(source->info.events.at[0].frequency, 99);
	CHECK_EQ(next(), 1);
	CHECK(event.kind == EVENT_SAMPLE);
	CHECK_EQ(event.pid, 10);
	CHECK_EQ(event.tid, 11);
	CHECK_EQ(event.time_ns, 5000);
	CHECK_EQ(event.sample.user_pc[0], 1);
	check_end();
	CHECK_EQ(source->info.notes.n, 0);
	done();
}

TEST(file_has_host_kernel_and_command)
{
	check_info(false);
}

TEST(stream_has_the_same_in_records)
{
	check_info(true);
}

TEST(events_are_named_by_their_description_without_precision_modifiers)
{
	struct file_build f = simple();
	struct writer *w = &f.feature[12];

	write_u32(w, 1), write_u32(w, sizeof(struct perf_event_attr));
	write_bytes(w, (struct bytes){ (uint8_t *)&f.attr[0], sizeof(f.attr[0]) });
	write_u32(w, 0);
	file_string(&f, 12, "cycles:uppp");
	CHECK_EQ(open_build(&f), 0);
	CHECK_STR(source->info.events.at[0].name, "cycles:uppp"); /* u is kept: it says what was counted */
	done();

	f = simple();
	w = &f.feature[12];
	write_u32(w, 1), write_u32(w, 128);
	write_space(w, 128);
	write_u32(w, 0);
	file_string(&f, 12, "cycles:pppH");
	CHECK_EQ(open_build(&f), 0);
	CHECK_STR(source->info.events.at[0].name, "cycles");
	done();
}

TEST(stream_names_events_by_update)
{
	struct file_build f = { .is_stream = true };
	struct writer body = { 0 };

	file_attr(&f, SAMPLE_TYPE, 42)->type = PERF_TYPE_RAW;
	file_string(&f, 6, "aarch64");
	file_string(&f, 9, "0x00000000413fd0c1");
	write_u64(&body, 2), write_u64(&body, 42);
	write_bytes(&body, (struct bytes){ (const uint8_t *)"my-event", 9 });
	put_tool_record(&f.data, 78, writer_bytes(&body), (struct bytes){ 0 });
	writer_done(&body);
	put_comm(&f, "a", 1);
	CHECK_EQ(open_build(&f), 0);
	CHECK_EQ(source->info.isa->elf_machine, EM_AARCH64);
	CHECK_STR(source->info.cpu_id, "implementer 0x41 part 0xd0c");
	CHECK_STR(source->info.events.at[0].name, "my-event");
	check_next_comm("a");
	check_end();
	done();
}

TEST(architecture_is_derived_from_registers_if_not_named)
{
	static const struct {
		uint64_t mask;
		uint16_t machine;
	} cases[] = { { 0xff0fff, EM_X86_64 }, { 0x1ffffffff, EM_AARCH64 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct file_build f = { 0 };
		file_attr(&f, SAMPLE_TYPE | PERF_SAMPLE_REGS_USER, 0)->sample_regs_user = cases[i].mask;
		CHECK_EQ(open_build(&f), 0);
		CHECK_EQ(source->info.isa->elf_machine, cases[i].machine);
		CHECK_EQ(source->info.notes.n, 0);
		done();
	}
}

/* ---- order ---------------------------------------------------------------------------------- */

TEST(records_come_in_time_order_within_rounds)
{
	struct file_build f = simple();

	put_comm(&f, "20", 20);
	put_comm(&f, "10", 10);
	put_bare(&f, 68);
	put_comm(&f, "40", 40);
	put_comm(&f, "15", 15); /* from another CPU's buffer, read one round later */
	put_bare(&f, 68);
	put_comm(&f, "30", 30);
	CHECK_EQ(open_build(&f), 0);
	check_next_comm("10");
	check_next_comm("15");
	check_next_comm("20");
	check_next_comm("30");
	check_next_comm("40");
	check_end();
	done();
}

TEST(records_of_time_zero_come_at_once)
{
	struct file_build f = simple();

	put_comm(&f, "late", 20);
	put_comm(&f, "synthesized", 0);
	CHECK_EQ(open_build(&f), 0);
	check_next_comm("synthesized");
	check_next_comm("late");
	check_end();
	done();
}

TEST(unknown_records_are_skipped_by_size)
{
	struct file_build f = simple();
	static const uint32_t types[] = { 82, 69, 73, 74, 79, 99, 63, 4000000000u };

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		record_start(&b, types[i], 0);
		put64(&b, 1), put64(&b, 2), put64(&b, 3);
		file_record(&f, &b);
	}
	put_comm(&f, "a", 1);
	CHECK_EQ(open_build(&f), 0);
	check_next_comm("a");
	check_end();
	CHECK_EQ(source->info.notes.n, 0);
	done();
}

TEST(trace_data_after_a_record_is_skipped)
{
	struct file_build f = simple();

	record_start(&b, 71, 0);
	put64(&b, 2000000), put64(&b, 0), put64(&b, 0), put64(&b, 0), put64(&b, 0);
	file_record(&f, &b);
	memset(write_space(&f.data, 2000000), 0xff, 2000000);
	put_comm(&f, "a", 1);
	CHECK_EQ(open_build(&f), 0);
	check_next_comm("a");
	check_end();
	done();
}

TEST(losses_that_both_the_ring_and_perf_report_count_once)
{
	struct file_build f = simple();
	uint64_t lost = 0;

	record_start(&b, PERF_RECORD_LOST, 0);
	put64(&b, 1), put64(&b, 100), put32(&b, 0), put32(&b, 0), put64(&b, 5);
	file_record(&f, &b);
	put_bare(&f, 68);
	put_bare(&f, 68);
	record_start(&b, PERF_RECORD_LOST_SAMPLES, 0); /* perf reads the counters at the end */
	put64(&b, 120), put32(&b, 0), put32(&b, 0), put64(&b, 0);
	file_record(&f, &b);
	CHECK_EQ(open_build(&f), 0);
	while (next() == 1) {
		CHECK(event.kind == EVENT_LOST);
		lost += event.lost;
	}
	CHECK_EQ(lost, 120);
	done();
}

/* ---- several events ------------------------------------------------------------------------- */

static void put_identified(struct file_build *f, uint64_t id, uint64_t time)
{
	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, id), put64(&b, 0x1000), put32(&b, 10), put32(&b, 11), put64(&b, time);
	if (id == 12)
		put64(&b, 777); /* samples of that event have a period */
	file_record(f, &b);
}

TEST(identifiers_distinguish_events_and_their_layouts)
{
	struct file_build f = { 0 };

	file_attr(&f, SAMPLE_TYPE | PERF_SAMPLE_IDENTIFIER, 11);
	file_attr(&f, SAMPLE_TYPE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_PERIOD, 12)->config =
		PERF_COUNT_SW_PAGE_FAULTS;
	file_string(&f, 6, "x86_64");
	put_identified(&f, 12, 1);
	put_identified(&f, 11, 2);
	CHECK_EQ(open_build(&f), 0);
	CHECK_EQ(source->info.events.n, 2);
	CHECK_STR(source->info.events.at[1].name, "page-faults");
	CHECK_EQ(next(), 1);
	CHECK_EQ(event.sample.event, 1);
	CHECK_EQ(event.sample.weight, 777);
	CHECK_EQ(next(), 1);
	CHECK_EQ(event.sample.event, 0);
	CHECK_EQ(event.sample.weight, 1);
	check_end();
	done();
}

TEST(dummy_events_are_not_listed)
{
	struct file_build f = { 0 };

	file_attr(&f, SAMPLE_TYPE | PERF_SAMPLE_IDENTIFIER, 10)->config = PERF_COUNT_SW_DUMMY;
	file_attr(&f, SAMPLE_TYPE | PERF_SAMPLE_IDENTIFIER, 11);
	file_string(&f, 6, "x86_64");
	put_identified(&f, 11, 1);
	put_identified(&f, 10, 2);
	CHECK_EQ(open_build(&f), 0);
	CHECK_EQ(source->info.events.n, 1);
	CHECK_STR(source->info.events.at[0].name, "cpu-clock");
	CHECK_EQ(next(), 1);
	CHECK_EQ(event.sample.event, 0);
	check_end();
	done();
}

TEST(events_that_cannot_be_distinguished_are_refused)
{
	struct file_build f = { 0 };

	file_attr(&f, SAMPLE_TYPE, 11);
	file_attr(&f, SAMPLE_TYPE | PERF_SAMPLE_PERIOD, 12);
	file_string(&f, 6, "x86_64");
	check_refused(file_built(&f), -ENOTSUP, "different record layouts");
}

TEST(events_with_one_layout_but_without_ids_count_as_the_first)
{
	struct file_build f = { 0 };

	file_attr(&f, SAMPLE_TYPE, 11);
	file_attr(&f, SAMPLE_TYPE, 12);
	file_string(&f, 6, "x86_64");
	put_sample(&f, 1, 1);
	CHECK_EQ(open_build(&f), 0);
	CHECK(has_note("all are counted as 'cpu-clock'"));
	CHECK_EQ(next(), 1);
	CHECK_EQ(event.sample.event, 0);
	done();
}

/* ---- compression ---------------------------------------------------------------------------- */

static void check_compressed(uint32_t type)
{
	struct file_build packed = simple(), f = simple();
	struct buffer out;

	put_comm(&packed, "a", 1);
	put_sample(&packed, 0x1234, 2);
	put_comm(&packed, "b", 3);
	CHECK_EQ(compress_zstd(writer_bytes(&packed.data), 1, &out), 0);
	close(file_built(&packed));

	/* One stream in two pieces; neither ends at a record boundary. */
	for (size_t i = 0; i < 2; i++) {
		struct bytes piece = bytes_slice((struct bytes){ out.at, out.len }, i * (out.len / 2),
						 i ? UINT64_MAX : out.len / 2);
		uint64_t len = piece.len;
		put_tool_record(&f.data, type, (struct bytes){ (uint8_t *)&len, type == 83 ? 8 : 0 }, piece);
		if (type == 83)
			f.data.at[f.data.len - piece.len - 8 - 2] = (uint8_t)(16 + piece.len);
	}
	free(out.at);
	CHECK_EQ(open_build(&f), 0);
	check_next_comm("a");
	CHECK_EQ(next(), 1);
	CHECK_EQ(event.sample.user_pc[0], 0x1234);
	check_next_comm("b");
	check_end();
	CHECK_EQ(source->info.notes.n, 0);
	done();
}

TEST(compressed_records_are_unpacked)
{
	check_compressed(81);
}

TEST(compressed_records_of_the_second_kind_are_unpacked)
{
	check_compressed(83);
}

TEST(compressed_garbage_is_a_fault)
{
	struct file_build f = simple();

	put_tool_record(&f.data, 81, (struct bytes){ (const uint8_t *)"this is not zstd", 16 },
			(struct bytes){ 0 });
	CHECK_EQ(open_build(&f), 0);
	CHECK_EQ(next(), -EBADMSG);
	CHECK(strstr(diag.why, "cannot be decompressed"));
	done();
}

/* ---- damage --------------------------------------------------------------------------------- */

TEST(foreign_files_are_refused_with_a_reason)
{
	check_refused(fd_of((struct bytes){ (const uint8_t *)"", 0 }), -EBADMSG, "empty");
	check_refused(fd_of((struct bytes){ (const uint8_t *)"\177ELF 0123456789abcdef", 20 }), -EBADMSG,
		      "not a perf.data");
	check_refused(fd_of((struct bytes){ (const uint8_t *)"2ELIFREP\0\0\0\0\0\0\0\150", 16 }), -ENOTSUP,
		      "big-endian");
	check_refused(fd_of((struct bytes){ (const uint8_t *)"PERFFILE\150\0\0\0\0\0\0\0", 16 }), -ENOTSUP,
		      "older");
	check_refused(fd_of((struct bytes){ (const uint8_t *)"PERFILE2\150\0\0\0\0\0\0\0", 16 }), -EBADMSG,
		      "truncated");
	check_refused(open("/", O_RDONLY | O_DIRECTORY), -EISDIR, "directory");
}

TEST(another_architecture_is_refused_by_name)
{
	struct file_build f = recording_on("riscv64");

	check_refused(file_built(&f), -ENOTSUP, "riscv64");
}

TEST(a_file_without_events_is_refused)
{
	struct file_build f = { 0 };

	file_string(&f, 6, "x86_64");
	check_refused(file_built(&f), -EBADMSG, "no event");
}

TEST(part_of_a_directory_is_refused)
{
	struct file_build f = simple();

	write_u64(&f.feature[24], 1);
	check_refused(file_built(&f), -ENOTSUP, "directory");
}

TEST(a_file_cannot_come_through_a_pipe_but_a_stream_can)
{
	for (int i = 0; i < 2; i++) {
		struct file_build f = simple();
		uint8_t bytes[4096];
		int ends[2];

		f.is_stream = i;
		put_comm(&f, "a", 1);
		CLEANUP(close_fd) int fd = file_built(&f);
		ssize_t n = read(fd, bytes, sizeof(bytes));
		CHECK(n > 0 && pipe(ends) == 0);
		CHECK_EQ(write(ends[1], bytes, (size_t)n), n);
		close(ends[1]);
		CHECK_EQ(open_fd(ends[0], NULL), i ? 0 : -ENOTSUP);
		if (i)
			check_next_comm("a");
		else
			CHECK(strstr(diag.hint, "perf record -o -"));
		done();
	}
}

TEST(a_truncated_recording_is_read_up_to_its_end)
{
	struct file_build f = simple();

	put_comm(&f, "a", 1);
	put_comm(&f, "b", 2);
	f.data.len -= 4;
	CHECK_EQ(open_build(&f), 0);
	check_next_comm("a");
	check_end();
	CHECK(has_note("truncated"));
	done();
}

TEST(a_killed_recording_has_no_size_and_is_read_to_the_end)
{
	struct file_build f = { .stated_size = UINT64_MAX };

	file_attr(&f, SAMPLE_TYPE | PERF_SAMPLE_REGS_USER, 0)->sample_regs_user = 0xff0fff;
	put_comm(&f, "a", 1);
	CHECK_EQ(open_build(&f), 0);
	check_next_comm("a");
	check_end();
	CHECK(has_note("truncated"));
	done();
}

TEST(a_damaged_record_is_left_out_and_counted)
{
	struct file_build f = simple();

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, 1);
	file_record(&f, &b); /* neither process nor time */
	put_comm(&f, "a", 1);
	CHECK_EQ(open_build(&f), 0);
	check_next_comm("a");
	check_end();
	CHECK(has_note("1 corrupt records"));
	done();
}

TEST(a_record_of_size_zero_is_an_error_with_its_offset)
{
	struct file_build f = simple();

	put_comm(&f, "a", 1);
	write_space(&f.data, 8);
	CHECK_EQ(open_build(&f), 0);
	CHECK_EQ(next(), -EBADMSG);
	CHECK(strstr(diag.why, "length 0 at offset"));
	done();
}

static void check_recorded(const char *line, const char *recorded)
{
	char *words[16], copy[256];
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word && n < 16; word = strtok(NULL, " "))
		words[n++] = word;
	char *told = perf_command_recorded(words, n);
	CHECK_STR(told, recorded);
	free(told);
}

TEST(perf_command_names_what_was_recorded)
{
	check_recorded("perf record -g -o x.data -- ./prog -o 3", "./prog -o 3");
	check_recorded("/usr/bin/perf record --call-graph dwarf -F 99 ./prog 3", "./prog 3");
	check_recorded("perf record --call-graph=dwarf -F99 -ag sleep 1", "sleep 1");
	check_recorded("perf record -e cycles:u -p 4711", "process 4711");
	check_recorded("perf record --pid=4711,12 -g", "process 4711,12");
	check_recorded("perf record -t 9", "thread 9");
	check_recorded("cpprof record --raw x -d 2 -- make -j2", "make -j2");
	check_recorded("cpprof attach -n nginx -p 7 -d 2", "process 7");
	check_recorded("perf record", "perf record");
	check_recorded("", "");
}
