/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_file: a perf.data file as a source of events, written by `perf record` or `cpprof record --raw`.
 *
 * Supports files and streams, several events, frame-pointer and LBR chains, compressed records, and both
 * architectures. Records are put into time order by the rounds that perf marks; unknown ones are skipped.
 */
#pragma once

#include "base/diag.h"
#include "collector/source.h"

struct perf_file_options {
	const char *symfs; /* where the recorded files are searched; NULL = "/" */
};

/*
 * "-" is standard input. The source does not own images. Problems found while reading (different binaries, a
 * truncated recording) are added to info.notes when source_next reports the end.
 */
int perf_file_open(const char *path, const struct perf_file_options *options, struct images *images,
		   struct source **ret, struct diag *diag);
/* The same for an open file, which is taken in any case; name is for messages. */
int perf_file_open_fd(int fd, const char *name, const struct perf_file_options *options,
		      struct images *images, struct source **ret, struct diag *diag);

/* Where a recording was made; for a source opened by one of the above, after its end. */
struct perf_file_origin {
	bool is_this_host;   /* its pids, and their files in /tmp, are those of this machine */
	bool is_this_kernel; /* ... and its kernel is still running, at the same addresses */
	bool has_stacks;     /* otherwise each sample is only an address */
};
struct perf_file_origin perf_file_origin(const struct source *source);
