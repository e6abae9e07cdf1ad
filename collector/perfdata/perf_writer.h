/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_writer: writes raw records into a perf.data file that perf and perf_file can read.
 *
 *     header | attrs | ids, with room for more | data: records as the kernel wrote them | features
 *
 * The file is complete at any moment, except for buffered data: every few megabytes the header is updated
 * with the data written so far. What is only known at the end (host, build-ids) is in the features, which are
 * missing in a truncated recording.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "binary/elf/image.h"
#include "collector/event.h"

struct perf_event_attr;
struct perf_layout;

struct perf_writer_event {
	const struct perf_event_attr *attr; /* read only during open, like the name */
	const char *name;
};

struct perf_writer;
/*
 * fd must be an empty regular file; it is taken in any case, name is for messages. The events must all have
 * the same fields up to the id and time of a record.
 */
int perf_writer_open(int fd, const char *name, const struct perf_writer_event *events, size_t n_events,
		     struct perf_writer **ret, struct diag *diag);

/* Adds an id under which the kernel writes records of that event. */
void perf_writer_add_id(struct perf_writer *writer, size_t event, uint64_t id);
/* A record from a ring, with its header; in time order, or nearly so. */
void perf_writer_record(struct perf_writer *writer, struct bytes record);
/* The record of a sample, with a different weight, if its layout has room for one. */
void perf_writer_sample(struct perf_writer *writer, const struct perf_layout *layout, struct bytes record,
			uint64_t weight);
/* The record that the kernel would have written for a name, fork, mapping or code. Others are ignored. */
void perf_writer_event(struct perf_writer *writer, const struct images *images, const struct event *event);
/* The same for one from before the recording. */
void perf_writer_known(struct perf_writer *writer, const struct images *images, const struct event *event);

/*
 * Completes and closes the file; frees the writer. command_line: that of the recording. A write that failed
 * at any time (the disk was full) is reported here, once; the file contains what was written before.
 */
int perf_writer_close(struct perf_writer *writer, const struct images *images, const char *command_line,
		      struct diag *diag);
/* Frees it without completing the file. writer may be NULL. */
void perf_writer_free(struct perf_writer *writer);
