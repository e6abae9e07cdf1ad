/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/perfdata/perf_file.h"
#include "collector/perfdata/perf_writer.h"
#include "tests/test.h"
#include "tests/unit/collector/build_record.h"

#define HOUR_NS 3600000000000ull
#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static struct build b;
static struct diag diag;
static int file; /* the test's own descriptor of the file */

static struct perf_writer *start(size_t n_events)
{
	struct perf_event_attr attr[2] = {
		{ .type = PERF_TYPE_SOFTWARE,
		  .size = sizeof(attr[0]),
		  .sample_type = SAMPLE_TYPE,
		  .sample_id_all = 1,
		  .use_clockid = 1,
		  .clockid = CLOCK_MONOTONIC,
		  .sample_period = 1000 },
	};
	struct perf_writer_event events[2] = { { &attr[0], "cpu-clock" }, { &attr[1], "faults" } };
	struct perf_writer *writer;

	attr[1] = attr[0];
	attr[1].config = PERF_COUNT_SW_PAGE_FAULTS;
	file = memfd_create("test", MFD_CLOEXEC);
	CHECK_EQ(perf_writer_open(dup(file), "test.data", events, n_events, &writer, &diag), 0);
	return writer;
}

static void write_sample(struct perf_writer *writer, uint64_t id, uint64_t ip, uint64_t time)
{
	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, id), put64(&b, ip), put32(&b, 10), put32(&b, 11), put64(&b, time);
	perf_writer_record(writer, built(&b));
}

static struct source *reread(struct images *images)
{
	struct source *source;
	struct perf_file_options options = { .symfs = "/nonexistent" };

	CHECK_EQ(perf_file_open_fd(dup(file), "test.data", &options, images, &source, &diag), 0);
	return source;
}

static struct event next(struct source *source, enum event_kind kind)
{
	struct event event;

	CHECK_EQ(source_next(source, &event, -1, &diag), 1);
	CHECK_EQ(event.kind, kind);
	return event;
}

/* The wall-clock time when the monotonic clock was zero, in hours: clocks may be adjusted meanwhile. */
static uint64_t boot_ns(void)
{
	struct timespec wall, own;

	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &own);
	return (uint64_t)(wall.tv_sec - own.tv_sec) * 1000000000u;
}

/* One event of each kind; the code comes late. */
static void write_events(struct perf_writer *writer, const struct images *images, image_id image)
{
	struct event comm = { .kind = EVENT_COMM, .pid = 10, .tid = 11, .comm = "thread" };
	struct event fork = { .kind = EVENT_FORK, .pid = 10, .tid = 12, .fork = { 10, 11 } };
	struct event map = { .kind = EVENT_MAPPING,
			     .pid = 10,
			     .tid = 10,
			     .mapping = { .start = 0x400000,
					  .len = 0x2000,
					  .file_offset = 0x1000,
					  .image = image,
					  .is_executable = true,
					  .path = "/bin/x" } };
	const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6 };
	struct event code = { .kind = EVENT_CODE,
			      .time_ns = 1500,
			      .pid = 10,
			      .tid = 10,
			      .code = { 0x7000, { bytes, sizeof(bytes) } } };
	struct event ignored = { .kind = EVENT_EXIT, .pid = 10, .tid = 10 };

	perf_writer_add_id(writer, 0, 41);
	perf_writer_add_id(writer, 1, 42);
	perf_writer_known(writer, images, &comm);
	perf_writer_known(writer, images, &fork);
	perf_writer_known(writer, images, &map);
	perf_writer_known(writer, images, &ignored);
	write_sample(writer, 42, 0x400123, 1000);
	write_sample(writer, 41, 0x400124, 2000);
	perf_writer_event(writer, images, &code);
}

static void check_info(const struct source_info *info)
{
	struct utsname system;

	uname(&system);
	CHECK_STR(info->host, system.nodename);
	CHECK_STR(info->kernel, system.release);
	CHECK_STR(info->command, "x"); /* the recorded command, not the recorder's */
	CHECK_STR(info->events.at[0].name, "cpu-clock");
	CHECK_STR(info->events.at[1].name, "faults");
	CHECK_EQ(info->events.at[1].period, 1000);
	CHECK_EQ(info->start_ns, 1000);
	CHECK(info->start_unix_ns - boot_ns() + HOUR_NS < 2 * HOUR_NS);
}

TEST(what_is_written_reads_back)
{
	struct perf_writer *writer = start(2);
	struct images *images = images_new(), *others = images_new();
	struct build_id id = { 20, { 1, 2, 3 } };
	image_id image = images_add_pseudo(images, IMAGE_UNKNOWN, "/bin/x", &id);

	write_events(writer, images, image);
	CHECK_EQ(perf_writer_close(writer, images, "cpprof record -- x", &diag), 0);
	struct source *source = reread(others);
	check_info(&source->info);

	struct event event = next(source, EVENT_COMM);
	CHECK_STR(event.comm, "thread");
	CHECK_EQ(event.tid, 11);
	event = next(source, EVENT_FORK);
	CHECK_EQ(event.tid, 12);
	CHECK_EQ(event.fork.parent_tid, 11);
	event = next(source, EVENT_MAPPING);
	CHECK_EQ(event.mapping.start, 0x400000);
	CHECK_EQ(event.mapping.len, 0x2000);
	CHECK_EQ(event.mapping.file_offset, 0x1000);
	CHECK_EQ(event.mapping.is_executable, true);
	CHECK_STR(event.mapping.path, "/bin/x");
	CHECK(build_id_equal(&images_get(others, event.mapping.image)->build_id, &id));
	event = next(source, EVENT_SAMPLE);
	CHECK_EQ(event.sample.event, 1);
	CHECK_EQ(event.sample.user_pc[0], 0x400123);
	event = next(source, EVENT_CODE);
	CHECK_EQ(event.pid, 10);
	CHECK_EQ(event.code.addr, 0x7000);
	CHECK_EQ(event.code.bytes.len, 6);
	CHECK_EQ(event.code.bytes.at[5], 6);
	event = next(source, EVENT_SAMPLE);
	CHECK_EQ(event.sample.event, 0);
	CHECK_EQ(event.time_ns, 2000);
	CHECK_EQ(source_next(source, &event, -1, &diag), 0);
	source_close(source);
	images_free(images);
	images_free(others);
	close(file);
}

TEST(more_ids_than_fit_into_the_header_are_kept)
{
	struct perf_writer *writer = start(2);
	struct images *images = images_new();

	for (uint64_t i = 0; i < 10000; i++)
		perf_writer_add_id(writer, i % 2, i + 1);
	write_sample(writer, 10000, 1, 1);
	write_sample(writer, 9999, 1, 2);
	CHECK_EQ(perf_writer_close(writer, images, "x", &diag), 0);

	struct source *source = reread(images);
	CHECK_EQ(next(source, EVENT_SAMPLE).sample.event, 1);
	CHECK_EQ(next(source, EVENT_SAMPLE).sample.event, 0);
	source_close(source);
	images_free(images);
	close(file);
}

TEST(a_killed_recording_is_readable_up_to_the_last_header_update)
{
	struct perf_writer *writer = start(2);
	struct images *images = images_new();
	struct event event;
	size_t n_written = 400000, n_read = 0;

	perf_writer_add_id(writer, 0, 41);
	perf_writer_add_id(writer, 1, 42);
	for (size_t i = 0; i < n_written; i++)
		write_sample(writer, 41 + i % 2, i, i + 1);
	perf_writer_free(writer); /* as if the recorder had been killed */

	struct source *source = reread(images);
	while (source_next(source, &event, -1, &diag) > 0) {
		CHECK_EQ(event.sample.user_pc[0], n_read);
		CHECK_EQ(event.sample.event, n_read % 2);
		n_read++;
	}
	CHECK(n_read > n_written / 2 && n_read < n_written);
	source_close(source);
	images_free(images);
	close(file);
}

TEST(attr_is_written_in_the_size_that_old_versions_of_perf_know)
{
	struct perf_writer *writer = start(1);
	uint64_t header[13];
	uint32_t attr[2];

	CHECK_EQ(perf_writer_close(writer, NULL, NULL, &diag), 0);
	CHECK_EQ(pread(file, header, sizeof(header), 0), sizeof(header));
	CHECK_EQ(header[2], 128 + 16);
	CHECK_EQ(pread(file, attr, sizeof(attr), (off_t)header[3]), sizeof(attr));
	CHECK_EQ(attr[1], 128);
	close(file);
}

TEST(full_disk_is_reported_at_the_end)
{
	struct perf_event_attr attr = { .sample_type = SAMPLE_TYPE };
	struct perf_writer_event event = { &attr, "x" };
	struct perf_writer *writer;
	int fd = open("/dev/full", O_WRONLY);

	if (fd < 0)
		SKIP("no /dev/full here");
	CHECK_EQ(perf_writer_open(fd, "full.data", &event, 1, &writer, &diag), -ENOSPC);
	CHECK(strstr(diag.what, "full.data"));
}

TEST(pipe_is_refused)
{
	struct perf_event_attr attr = { .sample_type = SAMPLE_TYPE };
	struct perf_writer_event event = { &attr, "x" };
	struct perf_writer *writer;
	int ends[2];

	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(perf_writer_open(ends[1], "pipe", &event, 1, &writer, &diag), -ESPIPE);
	close(ends[0]);
}
