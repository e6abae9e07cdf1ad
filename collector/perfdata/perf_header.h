/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_header: what a perf.data says about itself: its events and how their records are laid out, the
 * machine, the command, the build-ids of what was mapped.
 *
 * The same pieces arrive as sections of a file or as records of a stream. Pure and bounded; fuzzed
 * through perf_file. Private to perf_file.
 */
#pragma once

#include <stdint.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/vec.h"
#include "binary/elf/image.h"
#include "collector/record/perf_record.h"
#include "collector/source.h"

#define PERF_NO_EVENT UINT32_MAX /* layout.event of an event that never samples */

struct perf_event_entry {
	struct source_event event;
	struct perf_layout layout;
	uint32_t stack_size;
	bool is_dummy; /* only there to carry mappings and names, or stacks */
};

struct perf_build_id {
	char *path;
	struct build_id id;
};

struct perf_header {
	VEC(struct perf_event_entry) entries; /* one per attr, in file order */
	struct map by_id;                     /* event id -> entry */
	size_t first_sampling;                /* entry whose layout holds where a record does not say */
	VEC(struct perf_build_id) build_ids;
	char *host, *kernel, *arch, *cpu, *cpu_id, *command; /* NULL = not stated */
	uint64_t wall_ns, wall_at_ns; /* wall clock, and the events' clock at that moment */
	uint64_t first_sample_ns;
	bool has_switches;      /* records say when threads come back */
	bool has_sampled_waits; /* not every time that they leave is a sample */
	uint32_t switch_event;  /* its samples are switches as the tracepoint tells them; PERF_NO_EVENT = none
				 */
	bool is_directory;
};

void perf_header_done(struct perf_header *header);

/* attr: a struct perf_event_attr of whatever size that perf had; ids: u64 each. -EBADMSG if it is too short.
 */
int perf_header_add_event(struct perf_header *header, struct bytes attr, struct bytes ids);
/* Content of a feature section. Unknown and damaged ones are passed over. */
void perf_header_add_feature(struct perf_header *header, unsigned feature, struct bytes content);
/* One of the records that carry the above in a stream; false if it is another. */
bool perf_header_add_record(struct perf_header *header, struct bytes record);

/*
 * Everything has been added: chooses the architecture and the layouts and fills in info. Faults if the
 * recording is one that cannot be read: another architecture, no events, records that cannot be told apart.
 */
int perf_header_finish(struct perf_header *header, const char *name, struct source_info *ret,
		       struct diag *diag);

/* The number of an event, by its id; PERF_NO_EVENT = there is none, or it never samples. */
uint32_t perf_header_event(const struct perf_header *header, uint64_t id);
/* How this record is laid out. */
const struct perf_layout *perf_header_layout(const struct perf_header *header, struct bytes record);
/* Some samples carry more than one address: a call chain, branches, or a copy of the stack. */
bool perf_header_has_stacks(const struct perf_header *header);
/* As recorded for that path; NULL if there is none. */
const struct build_id *perf_header_build_id(const struct perf_header *header, const char *path);
