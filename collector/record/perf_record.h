/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record: parses a record as written by the kernel into a ring or a perf.data file.
 *
 * No side effects and bounded: the bytes are hostile, nothing is allocated, nothing outside the record is
 * read. The layout of a record is not in the record but in the event's attributes: struct perf_layout. If
 * several events share a ring or file, perf_record_id says which layout to use.
 */
#pragma once

#include "collector/record/perf_fields.h"

struct perf_event_attr;

struct perf_layout perf_layout_of(const struct perf_event_attr *attr, const struct isa *isa, uint32_t event);

/* The offset of the time in a sample that has one. */
size_t perf_layout_time_offset(const struct perf_layout *layout);

#define PERF_RECORD_MAX_SIZE 65535
/* Size of the record at the start of the bytes; 0 if it is incomplete or shorter than its header. */
size_t perf_record_size(struct bytes bytes);

bool perf_record_is_sample(struct bytes bytes);
/* The event's id, without parsing the rest; false if records of this layout do not contain it. */
bool perf_record_id(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret);

/* For a sample: time and thread, without parsing the rest; false: not a sample, or it does not contain them.
 */
bool perf_record_stamp(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret_time,
		       pid_t *ret_tid);

/* For any other record of the kernel: its time, likewise. */
bool perf_record_trailer_time(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret);

/* For a sample: where it was taken, likewise. */
bool perf_record_place(struct bytes bytes, const struct perf_layout *layout, struct sample_place *ret);

/*
 * Prefetches the next record into the cache while the current sample is unwound. ret: where it was taken, as
 * in perf_record_place; all 0 if that is not known.
 */
void perf_record_prefetch(struct bytes next, const struct perf_layout *layout, struct sample_place *ret);

/* When the record was written, without parsing a sample; false if it has no time. */
bool perf_record_time(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret);

/*
 * Parses the record at the start of the bytes; what follows it is ignored. ret points into the bytes and into
 * scratch. 0, or -EBADMSG if the record is shorter than its layout or malformed.
 */
int perf_record_parse(struct bytes bytes, const struct perf_layout *layout, struct perf_scratch *scratch,
		      struct perf_record *ret);

/*
 * The event of a record, without image and bias of a mapping (IMAGE_NONE, 0), which only the source can find.
 * False if there is none. Valid as long as the record.
 */
bool perf_record_event(const struct perf_record *record, struct event *ret);
