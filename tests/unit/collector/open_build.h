/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_build: opens a perf.data file built by a test as a source. One at a time.
 */
#pragma once

#include <stdlib.h>

#include "collector/perfdata/perf_file.h"
#include "tests/test.h"
#include "tests/unit/collector/build_file.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static struct build b;
static struct images *images;
static struct source *source;
static struct event event;
static struct diag diag;

static inline void put_comm(struct file_build *f, const char *name, uint64_t time)
{
	record_start(&b, PERF_RECORD_COMM, 0);
	put32(&b, 10), put32(&b, 11);
	put_text(&b, name);
	put32(&b, 10), put32(&b, 11), put64(&b, time);
	file_record(f, &b);
}

static inline void put_sample(struct file_build *f, uint64_t ip, uint64_t time)
{
	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, ip), put32(&b, 10), put32(&b, 11), put64(&b, time);
	file_record(f, &b);
}

static inline void put_bare(struct file_build *f, uint32_t type)
{
	record_start(&b, type, 0);
	file_record(f, &b);
}

/* A file with one event and the architecture named. */
static inline struct file_build recording_on(const char *arch)
{
	struct file_build f = { 0 };

	file_attr(&f, SAMPLE_TYPE, 0);
	file_string(&f, 6, arch);
	put_bare(&f, 82); /* a file without data is regarded as truncated */
	return f;
}

static inline struct file_build simple(void)
{
	return recording_on("x86_64");
}

static inline int open_fd(int fd, const char *symfs)
{
	struct perf_file_options options = { .symfs = symfs };

	diag = (struct diag){ 0 };
	source = NULL;
	images = images_new();
	return perf_file_open_fd(fd, "test.data", &options, images, &source, &diag);
}

static inline int open_build(struct file_build *f)
{
	return open_fd(file_built(f), "/nonexistent");
}

static inline int next(void)
{
	return source_next(source, &event, -1, &diag);
}

static inline void done(void)
{
	source_close(source);
	images_free(images);
	source = NULL;
	images = NULL;
}

static inline void check_next_comm(const char *name)
{
	CHECK_EQ(next(), 1);
	CHECK(event.kind == EVENT_COMM);
	CHECK_STR(event.comm, name);
}

static inline void check_end(void)
{
	CHECK_EQ(next(), 0);
	CHECK_EQ(next(), 0); /* and again */
}

static inline bool has_note(const char *part)
{
	for (size_t i = 0; i < source->info.notes.n; i++)
		if (strstr(source->info.notes.at[i], part))
			return true;
	return false;
}

static inline void check_refused(int fd, int error, const char *why)
{
	CHECK_EQ(open_fd(fd, NULL), error);
	CHECK(strstr(diag.what, "test.data"));
	if (!strstr(diag.why, why))
		print_error("%s\n", diag.why);
	CHECK(strstr(diag.why, why));
	done();
}
