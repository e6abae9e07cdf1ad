/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_file: a perf.data as a source of events: what `perf record` wrote, or cpprof's own --raw.
 *
 * Files and streams, several events, frame-pointer and LBR chains, compressed records, either
 * architecture. Records are put into time order by the rounds perf marks; unknown ones are skipped.
 */
#pragma once

#include "base/diag.h"
#include "collector/source.h"

struct perf_file_options {
	const char *symfs; /* where the recorded files are looked for; NULL = "/" */
};

/*
 * "-" is standard input. The source does not own images. What is met while reading (binaries that differ, a
 * recording that was cut off) is added to info.notes when source_next says the end.
 */
int perf_file_open(const char *path, const struct perf_file_options *options, struct images *images,
		   struct source **ret, struct diag *diag);
/* The same for an open file, which is taken in any case; name is for messages. */
int perf_file_open_fd(int fd, const char *name, const struct perf_file_options *options,
		      struct images *images, struct source **ret, struct diag *diag);

/* Where a recording was made, asked of a source that one of the above opened, after its end. */
struct perf_file_origin {
	bool is_this_host;   /* its pids, and what they left in /tmp, are ours */
	bool is_this_kernel; /* ... and its kernel still runs, at the same addresses */
	bool has_stacks;     /* else its samples are one address each */
};
struct perf_file_origin perf_file_origin(const struct source *source);
