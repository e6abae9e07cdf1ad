/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_json: checks that a cpprof-profile document or stream is complete and consistent: columns of one
 * section have equal length, indices are in range, parents precede children, sums agree. Reads it once and
 * keeps no arrays.
 */
#pragma once

#include <stdio.h>

#include "base/bytes.h"
#include "base/diag.h"

struct json_findings {
	uint64_t nodes, frames, strings, threads, samples;
	bool is_stream;
};

/* Is this the start of JSON rather than of a profile file? gzip-compressed JSON included. */
bool json_check_looks_like(struct bytes start);
#define JSON_CHECK_START 2 /* bytes that are enough to decide */
/* 0, or -EBADMSG with the error and its position in the diag. Reads a file or pipe from its current position,
 * and decompresses it if necessary. */
int json_check_file(FILE *from, const char *path, struct json_findings *ret, struct diag *diag);
/* The same for uncompressed data in memory. */
int json_check(struct bytes bytes, const char *path, struct json_findings *ret, struct diag *diag);
