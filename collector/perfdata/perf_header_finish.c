/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_header_finish: turns the collected pieces into a recording that can be read, or gives the reason why
 * it cannot.
 */
#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "collector/perfdata/perf_header.h"
#include "collector/record/perf_regs.h"
#include "collector/wait/perf_waits.h"

static const struct architecture {
	const char *name; /* as printed by uname -m */
	uint16_t elf_machine;
} architectures[] = {
	{ "x86_64", EM_X86_64 },
	{ "aarch64", EM_AARCH64 },
	{ "arm64", EM_AARCH64 },
};

static const struct isa *header_isa_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(architectures); i++)
		if (strcmp(architectures[i].name, name) == 0)
			return isa_for_machine(architectures[i].elf_machine);
	return NULL;
}

/* Recordings without features (from a killed perf) can still be told by the registers they asked for. */
static const struct isa *header_isa_by_regs(const struct perf_header *header)
{
	for (size_t i = 0; i < header->entries.n; i++)
		for (size_t a = 0; a < ARRAY_LEN(architectures); a++) {
			const struct isa *isa = isa_for_machine(architectures[a].elf_machine);
			uint64_t mask = header->entries.at[i].layout.regs_user;
			if (isa && mask && mask == perf_regs_mask(isa))
				return isa;
		}
	return NULL;
}

static void header_note(struct source_info *info, char *text)
{
	vec_push(&info->notes, text);
}

static int header_choose_isa(const struct perf_header *header, const char *name, struct source_info *info,
			     struct diag *diag)
{
	struct utsname here;

	info->isa = header->arch ? header_isa_by_name(header->arch) : header_isa_by_regs(header);
	if (info->isa)
		return 0;
	if (header->arch) {
		diag_set(diag, -ENOTSUP, "cannot read '%s'", name);
		diag_why(diag, "it was recorded on %s; only x86_64 and aarch64 are supported", header->arch);
		return -ENOTSUP;
	}
	if (uname(&here) == 0)
		info->isa = header_isa_by_name(here.machine);
	if (!info->isa)
		return diag_set(diag, -ENOTSUP, "cannot tell on which architecture '%s' was recorded", name);
	header_note(info,
		    alloc_printf("the recording does not say on which architecture it was made; assuming %s",
				 info->isa->name));
	return 0;
}

static bool header_have_identifiers(const struct perf_header *header)
{
	for (size_t i = 0; i < header->entries.n; i++)
		if (!(header->entries.at[i].layout.sample_type & PERF_SAMPLE_IDENTIFIER))
			return false;
	return true;
}

static bool header_are_alike(const struct perf_header *header)
{
	for (size_t i = 1; i < header->entries.n; i++)
		if (header->entries.at[i].layout.sample_type != header->entries.at[0].layout.sample_type ||
		    header->entries.at[i].layout.sample_id_all != header->entries.at[0].layout.sample_id_all)
			return false;
	return true;
}

static int header_check_layouts(const struct perf_header *header, const char *name, struct source_info *info,
				struct diag *diag)
{
	if (header->entries.n <= 1 || header_have_identifiers(header))
		return 0;
	if (!header_are_alike(header)) {
		diag_set(diag, -ENOTSUP, "cannot read '%s'", name);
		diag_why(diag, "its events have different record layouts, and the records do not say which "
			       "event they belong to");
		return -ENOTSUP;
	}
	if (info->events.n > 1 && !(header->entries.at[0].layout.sample_type & PERF_SAMPLE_ID))
		header_note(info, alloc_printf("samples do not say which of the %zu events they belong to; "
					       "all are counted as '%s'",
					       info->events.n, info->events.at[0].name));
	return 0;
}

/* Named as in live recordings; perf names it after what it counts. */
static void header_add_waits(struct perf_header *header, struct source_info *info)
{
	for (size_t i = 0; i < header->entries.n; i++)
		info->has_timed_waits |= header->entries.at[i].is_dummy &&
					 strcmp(header->entries.at[i].event.name, PERF_WAIT_ENDS) == 0;
	info->has_sampled_waits = header->has_sampled_waits;
	for (size_t i = 0; info->has_timed_waits && i < info->events.n; i++)
		if (strcmp(info->events.at[i].name, "off-cpu") == 0)
			info->events.at[i].values = SOURCE_OFF_CPU;

	header->switch_event = PERF_NO_EVENT;
	uint32_t at = source_info_find(info, SOURCE_OFF_CPU);
	for (uint32_t i = 0; at == UINT32_MAX && i < info->events.n; i++)
		if (info->events.at[i].type == PERF_TYPE_TRACEPOINT &&
		    strcmp(info->events.at[i].name, "sched:sched_switch") == 0) {
			info->events.at[i].values = SOURCE_OFF_CPU;
			header->switch_event = at = i;
		}
	if (at == UINT32_MAX)
		return;
	snprintf(info->events.at[at].name, sizeof(info->events.at[at].name), "off-cpu");
	snprintf(info->events.at[at].unit, sizeof(info->events.at[at].unit), "ns");
	source_info_add_waits(info);
}

/* Sampling events are numbered in file order; a dummy event counts only if there is no other. */
static void header_number_events(struct perf_header *header, struct source_info *info)
{
	bool only_dummies = true;

	for (size_t i = 0; i < header->entries.n; i++)
		only_dummies &= header->entries.at[i].is_dummy;
	for (size_t i = 0; i < header->entries.n; i++) {
		struct perf_event_entry *entry = &header->entries.at[i];
		entry->layout.isa = info->isa;
		if (entry->is_dummy && !only_dummies)
			continue;
		if (info->events.n == 0)
			header->first_sampling = i;
		entry->layout.event = (uint32_t)info->events.n;
		vec_push(&info->events, entry->event);
		if (info->stack_size < entry->stack_size)
			info->stack_size = entry->stack_size;
	}
	header_add_waits(header, info);
}

static char *header_copy(const char *text)
{
	return text ? alloc_text(text) : NULL;
}

/* The time of the first sample or, if that is unknown, of the clock comparison, which may be before or after
 * the start. */
static void header_set_start(const struct perf_header *header, struct source_info *info)
{
	info->start_ns = header->first_sample_ns ? header->first_sample_ns : header->wall_at_ns;
	if (header->wall_ns)
		info->start_unix_ns = header->wall_ns + info->start_ns - header->wall_at_ns;
}

#define VENDOR_MAX 15 /* characters in its name */

/* "GenuineIntel,6,143,8" */
static char *header_x86_id(const char *text)
{
	size_t vendor = strcspn(text, ",");
	char *end;

	if (!vendor || vendor > VENDOR_MAX || !text[vendor])
		return NULL;
	const char *at = text + vendor + 1;
	unsigned long family = strtoul(at, &end, 10);
	if (end == at || *end != ',')
		return NULL;
	at = end + 1;
	unsigned long model = strtoul(at, &end, 10);
	return end == at ? NULL : alloc_printf("%.*s family %lu model %lu", (int)vendor, text, family, model);
}

/* The main id register: "0x00000000410fd490" */
static char *header_arm_id(const char *text)
{
	char *end;
	unsigned long long id = strtoull(text, &end, 16);

	return end <= text + 2 ? NULL
			       : alloc_printf("implementer 0x%x part 0x%x", (unsigned)(id >> 24 & 0xff),
					      (unsigned)(id >> 4 & 0xfff));
}

/* As in live recordings. */
static char *header_cpu_id(const char *text)
{
	return !text ? NULL : strncmp(text, "0x", 2) == 0 ? header_arm_id(text) : header_x86_id(text);
}

int perf_header_finish(struct perf_header *header, const char *name, struct source_info *ret,
		       struct diag *diag)
{
	if (header->is_directory) {
		diag_set(diag, -ENOTSUP, "cannot read '%s'", name);
		diag_why(diag, "it is part of a directory of recordings, one per thread of perf");
		diag_hint(diag, "record again without `--threads`");
		return -ENOTSUP;
	}
	if (header->entries.n == 0) {
		diag_set(diag, -EBADMSG, "cannot read '%s'", name);
		diag_why(diag, "it contains no event description");
		return -EBADMSG;
	}

	int error = header_choose_isa(header, name, ret, diag);
	if (error < 0)
		return error;
	header_number_events(header, ret);
	error = header_check_layouts(header, name, ret, diag);
	if (error < 0)
		return error;
	ret->host = header_copy(header->host);
	ret->kernel = header_copy(header->kernel);
	ret->cpu = header_copy(header->cpu);
	ret->cpu_id = header_cpu_id(header->cpu_id);
	ret->command = header_copy(header->command);
	header_set_start(header, ret);
	return 0;
}

uint32_t perf_header_event(const struct perf_header *header, uint64_t id)
{
	uint32_t entry = map_find(&header->by_id, id);

	return entry == MAP_NONE ? PERF_NO_EVENT : header->entries.at[entry].layout.event;
}

const struct perf_layout *perf_header_layout(const struct perf_header *header, struct bytes record)
{
	const struct perf_layout *first = &header->entries.at[header->first_sampling].layout;
	uint64_t id;

	if (header->entries.n == 1 || !perf_record_id(record, first, &id))
		return first;
	uint32_t entry = map_find(&header->by_id, id);
	return entry == MAP_NONE ? first : &header->entries.at[entry].layout;
}
