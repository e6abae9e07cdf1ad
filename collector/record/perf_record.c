/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record: everything but the fields of a sample, which are in perf_sample.c.
 */
#include "collector/record/perf_record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/record/perf_sample.h"

#define FIRST_PERF_TOOL_RECORD 64 /* types from here on are the perf tool's own and have no trailer */
#define TRAILER_FIELDS                                                                                   \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_IDENTIFIER)

struct perf_layout perf_layout_of(const struct perf_event_attr *attr, const struct isa *isa, uint32_t event)
{
	return (struct perf_layout){
		.isa = isa,
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.regs_user = attr->sample_regs_user,
		.regs_intr = attr->sample_regs_intr,
		.period = attr->freq ? 1 : attr->sample_period,
		.event = event,
		.sample_id_all = attr->sample_id_all,
	};
}

size_t perf_record_size(struct bytes bytes)
{
	struct reader r = reader_of(bytes);
	reader_skip(&r, 6);
	size_t size = read_u16(&r);

	return r.failed || size < sizeof(struct perf_event_header) || size > bytes.len ? 0 : size;
}

/* The number of bytes that a record has for these fields, each eight bytes wide. */
static size_t record_width_of(uint64_t sample_type, uint64_t fields)
{
	return 8 * (size_t)__builtin_popcountll(sample_type & fields);
}

size_t perf_layout_time_offset(const struct perf_layout *layout)
{
	return sizeof(struct perf_event_header) +
	       record_width_of(layout->sample_type,
			       PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID);
}

static size_t record_trailer_size(const struct perf_layout *layout)
{
	if (!layout->sample_id_all)
		return 0;
	return record_width_of(layout->sample_type, TRAILER_FIELDS);
}

bool perf_record_id(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret)
{
	uint64_t type = layout->sample_type, before_id = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	size_t size = perf_record_size(bytes), offset;
	struct reader r = reader_of(bytes_slice(bytes, 0, size));

	if (size == 0 || !(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return false;
	if (read_u32(&r) == PERF_RECORD_SAMPLE) {
		before_id |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
		offset = sizeof(struct perf_event_header);
		if (!(type & PERF_SAMPLE_IDENTIFIER)) /* otherwise it comes first */
			offset += record_width_of(type, before_id);
	} else {
		size_t trailer = record_trailer_size(layout);
		if (trailer == 0 || size < sizeof(struct perf_event_header) + trailer)
			return false;
		offset = size - 8; /* IDENTIFIER comes last */
		if (!(type & PERF_SAMPLE_IDENTIFIER))
			offset = size - trailer + record_width_of(type, before_id);
	}
	reader_seek(&r, offset);
	uint64_t id = read_u64(&r);
	if (!r.failed)
		*ret = id;
	return !r.failed;
}

/* sample_id_all: the end of a record that is not a sample. Does not overwrite the ids in the body. */
static void record_read_trailer(struct reader *r, const struct perf_layout *layout, struct perf_record *ret)
{
	uint64_t type = layout->sample_type;

	if (type & PERF_SAMPLE_TID) {
		ret->pid = (pid_t)read_u32(r);
		ret->tid = (pid_t)read_u32(r);
	}
	if (type & PERF_SAMPLE_TIME) {
		ret->time_ns = read_u64(r);
		ret->has_time = true;
	}
	if (type & PERF_SAMPLE_ID) {
		ret->id = read_u64(r);
		ret->has_id = true;
	}
	if (type & PERF_SAMPLE_STREAM_ID)
		ret->stream = read_u64(r);
	if (type & PERF_SAMPLE_CPU) {
		ret->cpu = read_u32(r);
		reader_skip(r, 4);
		ret->has_cpu = true;
	}
	if (type & PERF_SAMPLE_IDENTIFIER) {
		ret->id = read_u64(r);
		ret->has_id = true;
	}
}

static void record_read_who(struct reader *r, struct perf_record *ret)
{
	ret->pid = (pid_t)read_u32(r);
	ret->tid = (pid_t)read_u32(r);
}

/* Some records state a time of their own besides the trailer's, taken a moment later; the trailer's gives all
 * kinds one order. */
static void record_read_own_time(struct reader *r, struct perf_record *ret)
{
	uint64_t time = read_u64(r);

	if (!ret->has_time)
		ret->time_ns = time;
	ret->has_time = true;
}

static void record_read_file_identity(struct reader *r, struct perf_record *ret)
{
	if (!(ret->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		ret->mmap.major = read_u32(r);
		ret->mmap.minor = read_u32(r);
		ret->mmap.inode = read_u64(r);
		ret->mmap.inode_generation = read_u64(r);
		return;
	}

	uint8_t len = read_u8(r);
	reader_skip(r, 3);
	struct bytes id = read_bytes(r, BUILD_ID_MAX);
	if (len > BUILD_ID_MAX)
		r->failed = true;
	if (r->failed)
		return;
	ret->mmap.build_id.len = len;
	memcpy(ret->mmap.build_id.bytes, id.at, len);
}

static void record_read_mmap(struct reader *r, struct perf_record *ret)
{
	ret->kind = PERF_KIND_MMAP;
	record_read_who(r, ret);
	ret->mmap.start = read_u64(r);
	ret->mmap.len = read_u64(r);
	ret->mmap.file_offset = read_u64(r);
	ret->mmap.is_executable = !(ret->misc & PERF_RECORD_MISC_MMAP_DATA);
	ret->mmap.is_kernel = (ret->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	if (ret->type == PERF_RECORD_MMAP2) {
		record_read_file_identity(r, ret);
		ret->mmap.is_executable = read_u32(r) & PROT_EXEC;
		reader_skip(r, 4); /* flags */
	}
	ret->mmap.path = read_cstr(r);
}

static void record_read_comm(struct reader *r, struct perf_record *ret)
{
	ret->kind = PERF_KIND_COMM;
	record_read_who(r, ret);
	ret->comm.name = read_cstr(r);
	ret->comm.is_exec = ret->misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void record_read_fork(struct reader *r, struct perf_record *ret)
{
	ret->kind = ret->type == PERF_RECORD_FORK ? PERF_KIND_FORK : PERF_KIND_EXIT;
	ret->pid = (pid_t)read_u32(r);
	ret->fork.parent_pid = (pid_t)read_u32(r);
	ret->tid = (pid_t)read_u32(r);
	ret->fork.parent_tid = (pid_t)read_u32(r);
	record_read_own_time(r, ret);
}

static void record_read_lost(struct reader *r, struct perf_record *ret)
{
	ret->kind = PERF_KIND_LOST;
	ret->id = read_u64(r);
	ret->has_id = true;
	ret->lost = read_u64(r);
}

static void record_read_throttle(struct reader *r, struct perf_record *ret)
{
	ret->kind = ret->type == PERF_RECORD_THROTTLE ? PERF_KIND_THROTTLE : PERF_KIND_UNTHROTTLE;
	record_read_own_time(r, ret);
	ret->id = read_u64(r);
	ret->stream = read_u64(r);
	ret->has_id = true;
}

static void record_read_switch(struct reader *r, struct perf_record *ret)
{
	ret->kind = PERF_KIND_SWITCH;
	if (ret->type == PERF_RECORD_SWITCH_CPU_WIDE)
		reader_skip(r, 8); /* the other thread of the switch */
	ret->sw.is_out = ret->misc & PERF_RECORD_MISC_SWITCH_OUT;
	ret->sw.is_preempted = ret->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
}

static void record_read_ksymbol(struct reader *r, struct perf_record *ret)
{
	ret->kind = PERF_KIND_KSYMBOL;
	ret->ksymbol.addr = read_u64(r);
	ret->ksymbol.len = read_u32(r);
	ret->ksymbol.type = read_u16(r);
	ret->ksymbol.is_unregister = read_u16(r) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	ret->ksymbol.name = read_cstr(r);
}

/* The kernel writes these for its own code; our raw recordings hold them for a process's code. */
static void record_read_text_poke(struct reader *r, struct perf_record *ret)
{
	bool is_user = (ret->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;

	ret->kind = is_user ? PERF_KIND_CODE : PERF_KIND_OTHER;
	ret->code.addr = read_u64(r);
	uint16_t old_len = read_u16(r), new_len = read_u16(r);
	reader_skip(r, old_len);
	ret->code.bytes = read_bytes(r, new_len);
}

static void record_read_body(struct reader *r, struct perf_record *ret)
{
	switch (ret->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		record_read_mmap(r, ret);
		break;
	case PERF_RECORD_COMM:
		record_read_comm(r, ret);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		record_read_fork(r, ret);
		break;
	case PERF_RECORD_LOST:
		record_read_lost(r, ret);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		ret->kind = PERF_KIND_LOST_SAMPLES;
		ret->lost = read_u64(r);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		record_read_throttle(r, ret);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		record_read_switch(r, ret);
		break;
	case PERF_RECORD_KSYMBOL:
		record_read_ksymbol(r, ret);
		break;
	case PERF_RECORD_TEXT_POKE:
		record_read_text_poke(r, ret);
		break;
	default:
		ret->kind = PERF_KIND_OTHER;
		break;
	}
}

int perf_record_parse(struct bytes bytes, const struct perf_layout *layout, struct perf_scratch *scratch,
		      struct perf_record *ret)
{
	size_t size = perf_record_size(bytes), trailer = 0;

	memset(ret, 0, sizeof(*ret));
	if (size == 0)
		return -EBADMSG;

	struct reader r = reader_of(bytes_slice(bytes, 0, size));
	ret->type = read_u32(&r);
	ret->misc = read_u16(&r);
	reader_skip(&r, 2);
	if (ret->type == PERF_RECORD_SAMPLE) {
		perf_sample_read(&r, layout, scratch, ret);
		return r.failed ? -EBADMSG : 0;
	}
	if (ret->type < FIRST_PERF_TOOL_RECORD)
		trailer = record_trailer_size(layout);
	if (reader_left(&r) < trailer)
		return -EBADMSG;

	/* The trailer first: the ids in the body refer to the record's subject, and win. */
	struct reader end = reader_of((struct bytes){ r.end - trailer, trailer });
	if (trailer)
		record_read_trailer(&end, layout, ret);
	r.end -= trailer;
	record_read_body(&r, ret);
	return r.failed ? -EBADMSG : 0;
}

bool perf_record_stamp(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret_time,
		       pid_t *ret_tid)
{
	const uint64_t both = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	struct reader r = reader_of(bytes_slice(bytes, 0, perf_record_size(bytes)));

	if (read_u32(&r) != PERF_RECORD_SAMPLE || (layout->sample_type & both) != both)
		return false;
	reader_seek(&r, perf_layout_time_offset(layout) - 4);
	*ret_tid = (pid_t)read_u32(&r);
	*ret_time = read_u64(&r);
	return !r.failed;
}

bool perf_record_trailer_time(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret)
{
	size_t size = perf_record_size(bytes), trailer = record_trailer_size(layout);
	struct reader r = reader_of(bytes_slice(bytes, 0, size));
	uint32_t type = read_u32(&r);

	if (type == PERF_RECORD_SAMPLE || type >= FIRST_PERF_TOOL_RECORD || !trailer ||
	    size < sizeof(struct perf_event_header) + trailer || !(layout->sample_type & PERF_SAMPLE_TIME))
		return false;
	reader_seek(&r, size - trailer + record_width_of(layout->sample_type, PERF_SAMPLE_TID));
	*ret = read_u64(&r);
	return !r.failed;
}

bool perf_record_is_sample(struct bytes bytes)
{
	struct reader r = reader_of(bytes);

	return read_u32(&r) == PERF_RECORD_SAMPLE;
}

bool perf_record_place(struct bytes bytes, const struct perf_layout *layout, struct sample_place *ret)
{
	const uint64_t both = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	struct reader r = reader_of(bytes_slice(bytes, 0, perf_record_size(bytes)));

	if (read_u32(&r) != PERF_RECORD_SAMPLE || (layout->sample_type & both) != both)
		return false;
	reader_seek(&r, sizeof(struct perf_event_header) +
				record_width_of(layout->sample_type, PERF_SAMPLE_IDENTIFIER));
	ret->pc = read_u64(&r);
	ret->pid = (pid_t)read_u32(&r);
	return !r.failed;
}

#define CACHE_LINE 64
#define NEAR_BYTES 1024 /* registers and innermost frames */

void perf_record_prefetch(struct bytes next, const struct perf_layout *layout, struct sample_place *ret)
{
	*ret = (struct sample_place){ 0 };
	if (!perf_record_place(next, layout, ret))
		return;
	for (size_t at = CACHE_LINE; at < next.len && at < NEAR_BYTES; at += CACHE_LINE)
		__builtin_prefetch(next.at + at);
	__builtin_prefetch(next.at + next.len - 8); /* how much of the stack was copied */
}

bool perf_record_time(struct bytes bytes, const struct perf_layout *layout, uint64_t *ret)
{
	const uint64_t before_time = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	struct reader r = reader_of(bytes_slice(bytes, 0, perf_record_size(bytes)));
	struct perf_record record;

	if (read_u32(&r) != PERF_RECORD_SAMPLE) {
		if (perf_record_parse(bytes, layout, NULL, &record) < 0 || !record.has_time)
			return false;
		*ret = record.time_ns;
		return true;
	}
	if (!(layout->sample_type & PERF_SAMPLE_TIME))
		return false;
	reader_seek(&r, sizeof(struct perf_event_header) + record_width_of(layout->sample_type, before_time));
	uint64_t time = read_u64(&r);
	if (!r.failed)
		*ret = time;
	return !r.failed;
}

static bool record_mapping_event(const struct perf_record *record, struct event *ret)
{
	if (record->mmap.is_kernel)
		return false;
	ret->kind = EVENT_MAPPING;
	ret->mapping = (struct mapping){
		.start = record->mmap.start,
		.len = record->mmap.len,
		.file_offset = record->mmap.file_offset,
		.image = IMAGE_NONE,
		.is_executable = record->mmap.is_executable,
		.path = record->mmap.path,
	};
	return true;
}

bool perf_record_event(const struct perf_record *record, struct event *ret)
{
	*ret = (struct event){ .time_ns = record->time_ns, .pid = record->pid, .tid = record->tid };
	switch (record->kind) {
	case PERF_KIND_SAMPLE:
		ret->kind = EVENT_SAMPLE;
		ret->sample = record->sample.sample;
		return true;
	case PERF_KIND_MMAP:
		return record_mapping_event(record, ret);
	case PERF_KIND_COMM:
		ret->kind = record->comm.is_exec ? EVENT_EXEC : EVENT_COMM;
		ret->comm = record->comm.name;
		return true;
	case PERF_KIND_FORK:
		ret->kind = EVENT_FORK;
		ret->fork.parent_pid = record->fork.parent_pid;
		ret->fork.parent_tid = record->fork.parent_tid;
		return true;
	case PERF_KIND_EXIT:
		ret->kind = EVENT_EXIT;
		return true;
	case PERF_KIND_LOST:
	case PERF_KIND_LOST_SAMPLES:
		ret->kind = EVENT_LOST;
		ret->lost = record->lost;
		return true;
	case PERF_KIND_THROTTLE:
	case PERF_KIND_UNTHROTTLE:
		ret->kind = record->kind == PERF_KIND_THROTTLE ? EVENT_THROTTLE : EVENT_UNTHROTTLE;
		return true;
	case PERF_KIND_SWITCH:
		ret->kind = EVENT_SWITCH;
		ret->sw.is_out = record->sw.is_out;
		ret->sw.is_preempted = record->sw.is_preempted;
		return true;
	case PERF_KIND_CODE:
		ret->kind = EVENT_CODE;
		ret->code.addr = record->code.addr;
		ret->code.bytes = record->code.bytes;
		return true;
	case PERF_KIND_KSYMBOL:
	case PERF_KIND_OTHER:
		return false;
	}
	return false;
}
