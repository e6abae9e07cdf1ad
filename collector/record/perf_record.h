/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record: one record as the kernel writes it, into a ring or a perf.data file, to a struct.
 *
 * Pure and bounded: the bytes are hostile, nothing is allocated, nothing outside the record is read.
 * How a record is laid out is not in the record but in the event's attributes: struct perf_layout.
 * Where several events share a ring or file, perf_record_id tells whose layout to use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "binary/elf/image.h"
#include "binary/isa/isa.h"
#include "collector/event.h"

struct perf_event_attr;

/* What the event's attributes say about its records. */
struct perf_layout {
	const struct isa *isa; /* of the recorded machine; NULL: registers are skipped */
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr;
	uint64_t period;    /* weight of a sample that does not carry its period */
	uint32_t event;     /* index into the source's event list */
	bool sample_id_all; /* records other than samples end in who, when and where */
};

struct perf_layout perf_layout_of(const struct perf_event_attr *attr, const struct isa *isa, uint32_t event);

/* Of a sample with a time: where in the record that is. */
size_t perf_layout_time_offset(const struct perf_layout *layout);

enum perf_kind {
	PERF_KIND_OTHER, /* nothing we use; skip it */
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
	uint64_t id; /* of the event */
	uint32_t cpu;
	pid_t pid, tid; /* whom the record is about; 0 where it does not say */
	union {
		struct {
			uint64_t ip, addr;
			struct sample sample; /* points into the bytes and the scratch */
			struct bytes raw;     /* of whoever wrote it; padded */
		} sample;
		struct {
			uint64_t start, len, file_offset;
			const char *path;      /* in the bytes; never NULL */
			uint32_t major, minor; /* zero if the record carries a build-id instead */
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

/* Room for the program counters of any one record: its size is a u16, each takes eight bytes. */
#define PERF_SCRATCH_PCS 8200
struct perf_scratch {
	uint64_t pc[PERF_SCRATCH_PCS];
};

#define PERF_RECORD_MAX_SIZE 65535
/* Size of the record that starts the bytes; 0 if it is not all there or shorter than its header. */
size_t perf_record_size(struct bytes bytes);

/* The event's id, without parsing the rest; false if records of this layout do not carry it. */
bool perf_record_id(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret);

/* Of a sample: when and whose, without parsing the rest; false: it is none, or does not say. */
bool perf_record_stamp(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret_time,
		       pid_t *ret_tid);

/* Of a sample: where it was taken, likewise. */
bool perf_record_place(struct bytes bytes, const struct perf_layout *layout, pid_t *ret_pid,
		       uint64_t *ret_pc);

/*
 * This record will be next: what it begins with comes from memory while the sample before it is walked. Where
 * it was taken, as perf_record_place has it; 0 if that is not known.
 */
void perf_record_expect(struct bytes next, const struct perf_layout *layout, pid_t *ret_pid,
			uint64_t *ret_pc);

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
