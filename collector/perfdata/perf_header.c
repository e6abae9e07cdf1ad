/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_header: collects the pieces. perf_header_finish.c decides what they amount to.
 */
#include "collector/perfdata/perf_header.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collector/perfdata/perf_command.h"
#include "collector/perfdata/perf_format.h"

#define OWN_FRAMES_MAX 64
#define MAX_EVENTS 4096
#define MAX_IDS (1u << 24) /* events x threads x CPUs of the largest machines */
#define MAX_BUILD_IDS (1u << 20)
#define MAX_ARGUMENTS 65536

void perf_header_done(struct perf_header *header)
{
	for (size_t i = 0; i < header->build_ids.n; i++)
		free(header->build_ids.at[i].path);
	vec_done(&header->build_ids);
	vec_done(&header->entries);
	map_done(&header->by_id);
	free(header->host);
	free(header->kernel);
	free(header->arch);
	free(header->cpu);
	free(header->cpu_id);
	free(header->command);
	*header = (struct perf_header){ 0 };
}

/* ---- events --------------------------------------------------------------------------------- */

static const char *const software_names[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
	[PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
	[PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
	[PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
	[PERF_COUNT_SW_ALIGNMENT_FAULTS] = "alignment-faults",
	[PERF_COUNT_SW_EMULATION_FAULTS] = "emulation-faults",
	[PERF_COUNT_SW_DUMMY] = "dummy",
	[PERF_COUNT_SW_BPF_OUTPUT] = "bpf-output",
	[PERF_COUNT_SW_CGROUP_SWITCHES] = "cgroup-switches",
};

static const char *const hardware_names[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "cycles",
	[PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
	[PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

static void header_name_by_number(const struct perf_event_attr *attr, struct source_event *ret)
{
	const char *name = NULL;

	if (attr->type == PERF_TYPE_SOFTWARE && attr->config < ARRAY_LEN(software_names))
		name = software_names[attr->config];
	if (attr->type == PERF_TYPE_HARDWARE && attr->config < ARRAY_LEN(hardware_names))
		name = hardware_names[attr->config];
	if (name)
		snprintf(ret->name, sizeof(ret->name), "%s", name);
	else
		snprintf(ret->name, sizeof(ret->name), "event %u:0x%llx", attr->type,
			 (unsigned long long)attr->config);
}

static bool header_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* A modifier such as ":pppH" states the precision, not what was counted; ":u" stays. */
static void header_set_name(struct perf_event_entry *entry, const char *name)
{
	const char *colon = strrchr(name, ':');
	size_t len = strlen(name);

	if (colon && colon[1] && colon[1 + strspn(colon + 1, "pPHG")] == '\0')
		len = (size_t)(colon - name);
	if (len == 0)
		return;
	snprintf(entry->event.name, sizeof(entry->event.name), "%.*s", (int)len, name);
}

static void header_add_ids(struct perf_header *header, uint32_t entry, struct bytes ids)
{
	struct reader r = reader_of(ids);

	while (reader_left(&r) >= 8 && header->by_id.n < MAX_IDS) {
		uint64_t id = read_u64(&r);
		if (id == 0 || id == UINT64_MAX)
			continue; /* 0 stands for "synthesized" in records */
		map_put(&header->by_id, id, entry);
	}
}

/* How often a thread leaves its CPU; also records of when it leaves and comes back. */
static bool header_is_wait(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
	       attr->context_switch;
}

int perf_header_add_event(struct perf_header *header, struct bytes bytes, struct bytes ids)
{
	struct perf_event_attr attr = { 0 };
	struct perf_event_entry entry = { 0 };

	if (bytes.len < PERF_ATTR_SIZE_VER0 || header->entries.n >= MAX_EVENTS)
		return -EBADMSG;
	memcpy(&attr, bytes.at, bytes.len < sizeof(attr) ? bytes.len : sizeof(attr));
	entry.layout = perf_layout_of(&attr, NULL, PERF_NO_EVENT);
	entry.stack_size = attr.sample_type & PERF_SAMPLE_STACK_USER ? attr.sample_stack_user : 0;
	entry.is_dummy = attr.type == PERF_TYPE_SOFTWARE &&
			 (attr.config == PERF_COUNT_SW_DUMMY || attr.config == PERF_COUNT_SW_BPF_OUTPUT);
	entry.event = (struct source_event){
		.type = attr.type,
		.config = attr.config,
		.frequency = attr.freq ? attr.sample_freq : 0,
		.period = attr.freq ? 0 : attr.sample_period,
		.excludes_kernel = attr.exclude_kernel,
	};
	/* As written by cpprof: perf leaves it 0. */
	if (attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES)
		entry.event.n_own_frames = attr.config1 < OWN_FRAMES_MAX ? (uint32_t)attr.config1 : 0;
	snprintf(entry.event.unit, sizeof(entry.event.unit), "%s", header_is_clock(&attr) ? "ns" : "count");
	header_name_by_number(&attr, &entry.event);
	if (header_is_wait(&attr))
		entry.event.values = SOURCE_OFF_CPU;
	header->has_switches |= attr.context_switch;
	header->has_sampled_waits |= header_is_wait(&attr) && (attr.freq || attr.sample_period != 1);
	vec_push(&header->entries, entry);
	header_add_ids(header, (uint32_t)header->entries.n - 1, ids);
	return 0;
}

/* ---- features ------------------------------------------------------------------------------- */

/* u32 length, then that many bytes, padded with zeroes; "" if damaged. Borrowed. */
static const char *header_read_string(struct reader *r)
{
	uint32_t len = read_u32(r);
	struct reader text = reader_of(read_bytes(r, len));

	return read_cstr(&text);
}

static void header_replace(char **to, const char *text)
{
	if (text[0] == '\0')
		return;
	free(*to);
	*to = alloc_text(text);
}

static void header_read_command(struct perf_header *header, struct reader *r)
{
	VEC(char *) words = { 0 };
	uint32_t n = read_u32(r);

	for (uint32_t i = 0; i < n && i < MAX_ARGUMENTS && !r->failed; i++) {
		const char *argument = header_read_string(r);
		if (!r->failed)
			vec_push(&words, alloc_text(argument));
	}
	CLEANUP(freep) char *recorded = perf_command_recorded(words.at, words.n);
	header_replace(&header->command, recorded);
	for (size_t i = 0; i < words.n; i++)
		free(words.at[i]);
	vec_done(&words);
}

/* The entry that a list of ids belongs to; by position where ids are not yet known (streams state attrs
 * first). */
static void header_read_event_names(struct perf_header *header, struct reader *r)
{
	uint32_t n = read_u32(r), attr_size = read_u32(r);

	for (uint32_t i = 0; i < n && i < MAX_EVENTS && !r->failed; i++) {
		reader_skip(r, attr_size);
		uint32_t n_ids = read_u32(r);
		const char *name = header_read_string(r);
		struct bytes ids = read_bytes(r, (uint64_t)n_ids * 8);
		if (r->failed || i >= header->entries.n)
			return;
		header_set_name(&header->entries.at[i], name);
		header_add_ids(header, i, ids);
	}
}

static void header_read_clock(struct perf_header *header, struct reader *r)
{
	uint32_t version = read_u32(r);

	reader_skip(r, 4); /* which clock the events used */
	uint64_t wall = read_u64(r), at = read_u64(r);
	if (r->failed || version != 1)
		return;
	header->wall_ns = wall;
	header->wall_at_ns = at;
}

/* Where no length is stated, shorter ids are padded with zeroes. */
static uint8_t header_id_length(struct bytes id, uint16_t misc, uint8_t stated)
{
	static const uint8_t zeroes[4];
	uint8_t len = BUILD_ID_MAX;

	if (misc & MISC_BUILD_ID_SIZE && stated <= BUILD_ID_MAX)
		return stated;
	while (len > 8 && memcmp(id.at + len - 4, zeroes, 4) == 0)
		len = (uint8_t)(len - 4);
	return len;
}

/* A record of its own: header, u32 pid, 20 bytes of id, u8 length, 3 unused, path. */
static void header_add_build_id(struct perf_header *header, struct bytes record)
{
	struct perf_build_id entry = { 0 };
	struct reader r = reader_of(record);

	reader_skip(&r, 4);
	uint16_t misc = read_u16(&r);
	reader_skip(&r, 2 + 4);
	struct bytes id = read_bytes(&r, BUILD_ID_MAX);
	uint8_t len = read_u8(&r);
	reader_skip(&r, 3);
	const char *path = read_cstr(&r);
	if (r.failed || header->build_ids.n >= MAX_BUILD_IDS)
		return;
	entry.id.len = header_id_length(id, misc, len);
	memcpy(entry.id.bytes, id.at, entry.id.len);
	entry.path = alloc_text(path);
	vec_push(&header->build_ids, entry);
}

static void header_read_build_ids(struct perf_header *header, struct bytes records)
{
	for (size_t size; (size = perf_record_size(records)) > 0; records = bytes_from(records, size))
		header_add_build_id(header, bytes_slice(records, 0, size));
}

void perf_header_add_feature(struct perf_header *header, unsigned feature, struct bytes content)
{
	struct reader r = reader_of(content);

	switch (feature) {
	case FEATURE_BUILD_ID:
		header_read_build_ids(header, content);
		break;
	case FEATURE_HOSTNAME:
		header_replace(&header->host, header_read_string(&r));
		break;
	case FEATURE_OSRELEASE:
		header_replace(&header->kernel, header_read_string(&r));
		break;
	case FEATURE_ARCH:
		header_replace(&header->arch, header_read_string(&r));
		break;
	case FEATURE_CPUDESC:
		header_replace(&header->cpu, header_read_string(&r));
		break;
	case FEATURE_CPUID:
		header_replace(&header->cpu_id, header_read_string(&r));
		break;
	case FEATURE_CMDLINE:
		header_read_command(header, &r);
		break;
	case FEATURE_EVENT_DESC:
		header_read_event_names(header, &r);
		break;
	case FEATURE_SAMPLE_TIME:
		header->first_sample_ns = read_u64(&r);
		break;
	case FEATURE_DIR_FORMAT:
		header->is_directory = true;
		break;
	case FEATURE_CLOCK_DATA:
		header_read_clock(header, &r);
		break;
	default:
		break;
	}
}

/* ---- the same in a stream ------------------------------------------------------------------- */

static void header_add_attr_record(struct perf_header *header, struct bytes body)
{
	struct reader r = reader_of(body);

	reader_skip(&r, 4);
	uint32_t size = read_u32(&r); /* attr.size: the ids follow it */
	perf_header_add_event(header, bytes_slice(body, 0, size), bytes_from(body, size));
}

static void header_add_update_record(struct perf_header *header, struct bytes body)
{
	struct reader r = reader_of(body);
	uint64_t kind = read_u64(&r), id = read_u64(&r);
	const char *name = read_cstr(&r);
	uint32_t entry = map_find(&header->by_id, id);

	if (!r.failed && kind == EVENT_UPDATE_NAME && entry != MAP_NONE)
		header_set_name(&header->entries.at[entry], name);
}

bool perf_header_add_record(struct perf_header *header, struct bytes record)
{
	struct reader r = reader_of(record);
	struct bytes body = bytes_from(record, 8);

	switch (read_u32(&r)) {
	case TOOL_ATTR:
		header_add_attr_record(header, body);
		return true;
	case TOOL_BUILD_ID:
		header_add_build_id(header, record);
		return true;
	case TOOL_EVENT_UPDATE:
		header_add_update_record(header, body);
		return true;
	case TOOL_FEATURE:
		reader_skip(&r, 4);
		perf_header_add_feature(header, (unsigned)read_u64(&r), bytes_from(body, 8));
		return true;
	default:
		return false;
	}
}

bool perf_header_has_stacks(const struct perf_header *header)
{
	for (size_t i = 0; i < header->entries.n; i++)
		if (header->entries.at[i].layout.sample_type &
		    (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_STACK_USER))
			return true;
	return false;
}

const struct build_id *perf_header_build_id(const struct perf_header *header, const char *path)
{
	for (size_t i = 0; i < header->build_ids.n; i++)
		if (strcmp(header->build_ids.at[i].path, path) == 0)
			return &header->build_ids.at[i].id;
	return NULL;
}
