/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_header: the description in a perf.data file: its events and the layout of their records, the machine,
 * the command, the build-ids of mapped files.
 *
 * The same pieces are sections of a file or records of a stream. No side effects; bounded; fuzzed through
 * perf_file. Private to perf_file.
 */
#pragma once

#include <stdint.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/vec.h"
#include "binary/elf/image.h"
#include "collector/record/perf_record.h"
#include "collector/source.h"

#define PERF_NO_EVENT UINT32_MAX /* layout.event of an event without samples */

struct perf_event_entry {
	struct source_event event;
	struct perf_layout layout;
	uint32_t stack_size;
	bool is_dummy; /* only exists to carry mappings and names, or stacks */
};

struct perf_build_id {
	char *path;
	struct build_id id;
};

struct perf_header {
	VEC(struct perf_event_entry) entries; /* one per attr, in file order */
	struct map by_id;                     /* event id -> entry */
	size_t first_sampling; /* entry whose layout is used if a record does not specify one */
	VEC(struct perf_build_id) build_ids;
	char *host, *kernel, *arch, *cpu, *cpu_id, *command; /* NULL = not stated */
	uint64_t wall_ns, wall_at_ns; /* wall clock, and the events' clock at that moment */
	uint64_t first_sample_ns;
	bool has_switches;      /* records say when threads run again */
	bool has_sampled_waits; /* not every context switch is a sample */
	uint32_t
		switch_event; /* its samples are those of the tracepoint sched_switch; PERF_NO_EVENT = none */
	bool is_directory;
};

void perf_header_done(struct perf_header *header);

/* attr: a struct perf_event_attr of the size used by that version of perf; ids: u64 each. -EBADMSG if it is
 * too short. */
int perf_header_add_event(struct perf_header *header, struct bytes attr, struct bytes ids);
/* Contents of a feature section. Unknown and damaged ones are ignored. */
void perf_header_add_feature(struct perf_header *header, unsigned feature, struct bytes content);
/* A record of a stream that contains one of the above; false if it is another record. */
bool perf_header_add_record(struct perf_header *header, struct bytes record);

/*
 * To be called when everything was added: chooses the architecture and the layouts and fills in info. Fails
 * if the recording cannot be read: another architecture, no events, records that cannot be distinguished.
 */
int perf_header_finish(struct perf_header *header, const char *name, struct source_info *ret,
		       struct diag *diag);

/* The number of an event, by its id; PERF_NO_EVENT = there is none, or it has no samples. */
uint32_t perf_header_event(const struct perf_header *header, uint64_t id);
/* The layout of this record. */
const struct perf_layout *perf_header_layout(const struct perf_header *header, struct bytes record);
/* Do samples contain more than one address: a call chain, branches, or a copy of the stack? */
bool perf_header_has_stacks(const struct perf_header *header);
/* As recorded for that path; NULL if there is none. */
const struct build_id *perf_header_build_id(const struct perf_header *header, const char *path);
