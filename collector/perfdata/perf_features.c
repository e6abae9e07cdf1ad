/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_features: what a recording says about itself at its end: the machine, the events, the binaries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "collector/perfdata/perf_format.h"
#include "collector/perfdata/perf_writer_private.h"

#define STRING_ALIGN 64 /* as perf pads */

struct context {
	const struct perf_writer *writer;
	const struct images *images;
	const char *command_line;
	struct utsname system;
};

static void features_write_string(struct writer *w, const char *text)
{
	size_t len = strlen(text), room = (len + STRING_ALIGN) & ~(size_t)(STRING_ALIGN - 1);

	write_u32(w, (uint32_t)room);
	memcpy(write_space(w, room), text, len);
}

static void features_write_build_ids(const struct context *context, struct writer *w)
{
	for (image_id i = 0; context->images && i < images_count(context->images); i++) {
		const struct image *image = images_peek(context->images, i);
		if (!image->build_id.len || (image->kind != IMAGE_ELF && image->kind != IMAGE_VDSO))
			continue;
		size_t room = (strlen(image->path) + STRING_ALIGN) & ~(size_t)(STRING_ALIGN - 1);
		if (36 + room > UINT16_MAX)
			continue;
		write_u32(w, 0);
		write_u16(w, PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE);
		write_u16(w, (uint16_t)(36 + room));
		write_u32(w, UINT32_MAX); /* the host's, not a guest's */
		uint8_t *id = write_space(w, 24);
		memcpy(id, image->build_id.bytes, image->build_id.len);
		id[BUILD_ID_MAX] = image->build_id.len;
		memcpy(write_space(w, room), image->path, strlen(image->path));
	}
}

static void features_write_host(const struct context *context, struct writer *w)
{
	features_write_string(w, context->system.nodename);
}

static void features_write_release(const struct context *context, struct writer *w)
{
	features_write_string(w, context->system.release);
}

static void features_write_version(const struct context *context, struct writer *w)
{
	(void)context;
	features_write_string(w, "cpprof " CPPROF_VERSION);
}

static void features_write_arch(const struct context *context, struct writer *w)
{
	features_write_string(w, context->system.machine);
}

static void features_write_cpus(const struct context *context, struct writer *w)
{
	(void)context;
	write_u32(w, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	write_u32(w, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

/* Only some architectures have names for their CPUs. */
static void features_write_cpu(const struct context *context, struct writer *w)
{
	CLEANUP(fclosep) FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], name[200];

	(void)context;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "model name : %199[^\n]", name) == 1) {
			features_write_string(w, name);
			return;
		}
}

static void features_write_command(const struct context *context, struct writer *w)
{
	if (!context->command_line)
		return;
	write_u32(w, 1);
	features_write_string(w, context->command_line);
}

static void features_write_events(const struct context *context, struct writer *w)
{
	const struct perf_writer *writer = context->writer;

	write_u32(w, (uint32_t)writer->events.n);
	write_u32(w, WRITTEN_ATTR_SIZE);
	for (size_t i = 0; i < writer->events.n; i++) {
		const struct written_event *event = &writer->events.at[i];
		write_bytes(w, (struct bytes){ (const uint8_t *)&event->attr, WRITTEN_ATTR_SIZE });
		write_u32(w, (uint32_t)event->ids.n);
		features_write_string(w, event->name);
		write_bytes(w, (struct bytes){ (const uint8_t *)event->ids.at, event->ids.n * 8 });
	}
}

static void features_write_times(const struct context *context, struct writer *w)
{
	write_u64(w, context->writer->first_ns);
	write_u64(w, context->writer->last_ns);
}

/* One moment, by the events' clock and by the wall clock. */
static void features_write_clocks(const struct context *context, struct writer *w)
{
	const struct perf_event_attr *attr = &context->writer->events.at[0].attr;
	struct timespec own, wall;

	if (!attr->use_clockid || clock_gettime(attr->clockid, &own) < 0 ||
	    clock_gettime(CLOCK_REALTIME, &wall) < 0)
		return;
	write_u32(w, 1); /* version */
	write_u32(w, (uint32_t)attr->clockid);
	write_u64(w, (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec);
	write_u64(w, (uint64_t)own.tv_sec * 1000000000u + (uint64_t)own.tv_nsec);
}

/* In ascending order, as the table of sections requires. A feature that writes nothing is left out. */
static const struct feature {
	enum perf_feature number;
	void (*write)(const struct context *context, struct writer *w);
} features[] = {
	{ FEATURE_BUILD_ID, features_write_build_ids }, { FEATURE_HOSTNAME, features_write_host },
	{ FEATURE_OSRELEASE, features_write_release },  { FEATURE_VERSION, features_write_version },
	{ FEATURE_ARCH, features_write_arch },          { FEATURE_NRCPUS, features_write_cpus },
	{ FEATURE_CPUDESC, features_write_cpu },        { FEATURE_CMDLINE, features_write_command },
	{ FEATURE_EVENT_DESC, features_write_events },  { FEATURE_SAMPLE_TIME, features_write_times },
	{ FEATURE_CLOCK_DATA, features_write_clocks },
};

void perf_features_write(const struct perf_writer *writer, const struct images *images,
			 const char *command_line, uint64_t at, struct writer *w, uint64_t *ret_bits)
{
	struct context context = { .writer = writer, .images = images, .command_line = command_line };
	struct writer content = { 0 };
	size_t end[ARRAY_LEN(features)], start = 0;
	uint64_t bits = 0;

	uname(&context.system);
	for (size_t i = 0; i < ARRAY_LEN(features); i++) {
		features[i].write(&context, &content);
		end[i] = content.len;
		bits |= (uint64_t)(end[i] > (i ? end[i - 1] : 0)) << features[i].number;
	}
	at += 16 * (uint64_t)__builtin_popcountll(bits);
	for (size_t i = 0; i < ARRAY_LEN(features); start = end[i++]) {
		if (end[i] == start)
			continue;
		write_u64(w, at + start);
		write_u64(w, end[i] - start);
	}
	write_bytes(w, writer_bytes(&content));
	writer_done(&content);
	*ret_bits = bits;
}
