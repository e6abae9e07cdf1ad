/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_format: the numbers of the perf.data container. The kernel's own records are in
 * <linux/perf_event.h>; these are the perf tool's. Private to perf_*.c.
 */
#pragma once

#include <stdint.h>

#define PERF_MAGIC "PERFILE2"
#define PERF_MAGIC_SWAPPED "2ELIFREP"
#define PERF_MAGIC_OLD "PERFFILE"

#define PERF_STREAM_HEADER_SIZE 16
#define PERF_FILE_HEADER_SIZE 104

/* Records the perf tool writes between the kernel's. */
enum perf_tool_record {
	TOOL_ATTR = 64,           /* attr, u64 ids[] */
	TOOL_TRACING_DATA = 66,   /* u32 size; that many bytes follow the record */
	TOOL_BUILD_ID = 67,       /* see struct in perf_header.c */
	TOOL_FINISHED_ROUND = 68, /* everything stamped before the previous one has been written */
	TOOL_AUXTRACE = 71,       /* u64 size; that many bytes follow the record */
	TOOL_EVENT_UPDATE = 78,   /* u64 kind, id; data */
	TOOL_FEATURE = 80,        /* u64 feature; as the feature's section */
	TOOL_COMPRESSED = 81,     /* a piece of a zstd stream of records */
	TOOL_FINISHED_INIT = 82,  /* what existed before has been described */
	TOOL_COMPRESSED2 = 83,    /* u64 size; the same */
};
#define TOOL_FIRST 64

enum perf_feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_CLOCK_DATA = 29,
	FEATURE_N = 256,
};

#define EVENT_UPDATE_NAME 2           /* kind of a TOOL_EVENT_UPDATE */
#define MISC_BUILD_ID_SIZE (1u << 15) /* of TOOL_BUILD_ID: the length follows the id */
