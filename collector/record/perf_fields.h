/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_fields: the fields of a record, and their layout. Included by perf_record.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "binary/elf/image.h"
#include "binary/isa/isa.h"
#include "collector/event.h"

/* What the event's attributes say about its records. */
struct perf_layout {
	const struct isa *isa; /* of the recorded machine; NULL: registers are skipped */
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr;
	uint64_t period;    /* weight of a sample that does not contain its period */
	uint32_t event;     /* index into the source's event list */
	bool sample_id_all; /* records other than samples end in thread, time and CPU */
};

/* The counter values of its event and group in a sample; points into the record. */
struct perf_counts {
	uint64_t enabled, running; /* ns; 0 = not known */
	uint64_t n;
	struct bytes entries; /* `words` u64 each: a value, then its event's id if has_ids */
	uint32_t words;
	bool has_ids;
};

enum perf_kind {
	PERF_KIND_OTHER, /* not used; skipped */
	PERF_KIND_SAMPLE,
	PERF_KIND_MMAP,
	PERF_KIND_COMM,
	PERF_KIND_FORK,
	PERF_KIND_EXIT,
	PERF_KIND_LOST,
	PERF_KIND_LOST_SAMPLES,
	PERF_KIND_THROTTLE,
	PERF_KIND_UNTHROTTLE,
	PERF_KIND_SWITCH,
	PERF_KIND_KSYMBOL,
	PERF_KIND_CODE,
};

struct perf_record {
	enum perf_kind kind;
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	bool has_time, has_id, has_cpu;
	uint64_t time_ns;
	uint64_t id;     /* of the event */
	uint64_t stream; /* of the copy that a thread inherited; equal to id for the event itself */
	uint32_t cpu;
	pid_t pid, tid; /* the thread of the record; 0 if it has none */
	union {
		struct {
			uint64_t ip, addr;
			struct sample sample; /* points into the bytes and the scratch */
			struct bytes raw;     /* from the program that wrote it; padded */
			struct perf_counts counts;
		} sample;
		struct {
			uint64_t start, len, file_offset;
			const char *path;      /* in the bytes; never NULL */
			uint32_t major, minor; /* zero if the record contains a build-id instead */
			uint64_t inode, inode_generation;
			struct build_id build_id; /* len 0: not recorded */
			bool is_executable;
			bool is_kernel; /* mapped in the kernel: pid is -1 */
		} mmap;
		struct {
			const char *name;
			bool is_exec;
		} comm;
		struct {
			pid_t parent_pid, parent_tid;
		} fork; /* and exit */
		uint64_t lost;
		struct {
			bool is_out, is_preempted;
		} sw;
		struct {
			uint64_t addr;
			uint32_t len;
			uint16_t type;
			bool is_unregister;
			const char *name;
		} ksymbol;
		struct {
			uint64_t addr;
			struct bytes bytes; /* in the bytes of the record */
		} code;
	};
};

/* Enough for the program counters of any record: its size is a u16, and each takes eight bytes. */
#define PERF_SCRATCH_PCS 8200
struct perf_scratch {
	uint64_t pc[PERF_SCRATCH_PCS];
};
