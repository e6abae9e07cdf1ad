/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_reads: samples that contain the current counter values of their event and of others in its group. The
 * weight of a sample is the difference from the previous sample of the same thread and CPU.
 *
 * Pure.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "collector/record/perf_record.h"

struct group_last {
	uint64_t values[1 + SAMPLE_VALUES_MAX];
};

struct group_reads {
	struct map by_stream; /* of samples -> last */
	VEC(struct group_last) last;
};

void group_reads_done(struct group_reads *reads);

/* The events that the values belong to. */
struct group_members {
	/* From an event's id to its number (as sample.event); UINT32_MAX = not one of ours. */
	uint32_t (*event)(const void *context, uint64_t id);
	const void *context;
	bool has_weight; /* the weight of a sample is what the first event has counted */
};
/* Sets sample.more and the weight, if the sample contains counter values. */
void group_reads_apply(struct group_reads *reads, const struct perf_record *record,
		       const struct group_members *members, struct sample *sample);
