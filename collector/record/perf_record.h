/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record: one record as the kernel writes it, into a ring or a perf.data file, to a struct.
 *
 * Pure and bounded: the bytes are hostile, nothing is allocated, nothing outside the record is read.
 * How a record is laid out is not in the record but in the event's attributes: struct perf_layout.
 * Where several events share a ring or file, perf_record_id tells whose layout to use.
 */
#pragma once

#include "collector/record/perf_fields.h"

struct perf_event_attr;

struct perf_layout perf_layout_of(const struct perf_event_attr *attr, const struct isa *isa, uint32_t event);

/* Of a sample with a time: where in the record that is. */
size_t perf_layout_time_offset(const struct perf_layout *layout);

#define PERF_RECORD_MAX_SIZE 65535
/* Size of the record that starts the bytes; 0 if it is not all there or shorter than its header. */
size_t perf_record_size(struct bytes bytes);

bool perf_record_is_sample(struct bytes bytes);
/* The event's id, without parsing the rest; false if records of this layout do not carry it. */
bool perf_record_id(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret);

/* Of a sample: when and whose, without parsing the rest; false: it is none, or does not say. */
bool perf_record_stamp(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret_time,
		       pid_t *ret_tid);

/* Of a sample: where it was taken, likewise. */
bool perf_record_place(struct bytes bytes, const struct perf_layout *layout, struct sample_place *ret);

/*
 * This record will be next: it is fetched into the cache while the sample before it is unwound. ret: where it
 * was taken, as perf_record_place has it; all 0 if that is not known.
 */
void perf_record_prefetch(struct bytes next, const struct perf_layout *layout, struct sample_place *ret);

/* When the record was written, without parsing a sample; false if it does not say. */
bool perf_record_time(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret);

/*
 * Parses the record that starts the bytes (what follows it is not looked at). ret points into the bytes and
 * into scratch. 0, or -EBADMSG if the record is shorter than its layout says or malformed.
 */
int perf_record_parse(struct bytes bytes, const struct perf_layout *layout, struct perf_scratch *scratch,
		      struct perf_record *ret);

/*
 * The event a record stands for, but for its mapping's image and bias (IMAGE_NONE, 0), which only the source
 * can find. False if it stands for none. Valid as long as the record.
 */
bool perf_record_event(const struct perf_record *record, struct event *ret);
