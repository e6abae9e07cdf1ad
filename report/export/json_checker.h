/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_checker: what check_json has read of a document, and the checks at the end. Private to them.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "base/json_reader.h"

#define MAX_METRICS 64

/* Every known column: its length and its greatest number. Others are skipped: minor versions add columns. */
enum column_id {
	FILE_PATH,
	FILE_DIR,
	FILE_DIGEST,
	FRAME_NAME,
	FRAME_LINKAGE,
	FRAME_MODULE,
	FRAME_FILE,
	FRAME_LINE,
	FRAME_KIND,
	FRAME_SIZE,
	FRAME_LOOP_PARENT,
	FRAME_LOOP_DEPTH,
	NODE_PARENT,
	NODE_FRAME,
	NODE_RELATION,
	NODE_CALL_FILE,
	NODE_CALL_LINE,
	POINT_NODE,
	POINT_FILE,
	POINT_METRIC,
	POINT_VALUE,
	PROCESS_PID,
	PROCESS_COMM,
	THREAD_PROCESS,
	THREAD_TID,
	THREAD_NAME,
	VALUE_THREAD,
	VALUE_NODE,
	VALUE_METRIC,
	VALUE_VALUE,
	TIME_THREAD,
	TIME_BIN,
	TIME_METRIC,
	TIME_VALUE,
	N_COLUMNS,
};

enum thing { NOTHING, STRINGS, MODULES, FRAMES, NODES, PROCESSES, THREADS, METRICS };

struct json_column {
	const char *section, *name;
	enum thing refers; /* what its numbers refer to */
	bool is_later;     /* than 1.0: may be missing */
};
extern const struct json_column json_columns[N_COLUMNS];

struct json_checker {
	struct json_reader in;
	const char *path;
	struct diag *diag;
	uint64_t length[N_COLUMNS];
	int64_t greatest[N_COLUMNS];
	uint64_t sum[N_COLUMNS];
	uint64_t n_strings, n_modules, n_metrics, samples, end_nodes;
	uint64_t n_without_debug, complete, incomplete, truncated,
		snapshot_ended;                                         /* of the quality section */
	uint64_t exclusive[MAX_METRICS], exclusive_length[MAX_METRICS]; /* sum and count, per metric */
	uint64_t root_inclusive[MAX_METRICS];
	bool has_truncated, has_inclusive, has_end, has_quality, has_schema, has_version;
};

/* Reports the error and its position; returns -EBADMSG. */
__attribute__((format(printf, 2, 3))) int json_checker_refuse(struct json_checker *checker, const char *why,
							      ...);
/* To be called when everything was read: checks lengths, references and sums. 0 or -EBADMSG. */
int json_checker_end(struct json_checker *checker);
