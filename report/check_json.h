/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_json: is a cpprof-profile document or stream whole and consistent? Columns of one section have
 * equal length, indices lie in range, parents precede children, sums agree. Reads it once, keeps no array.
 */
#pragma once

#include <stdio.h>

#include "base/bytes.h"
#include "base/diag.h"

struct json_findings {
	uint64_t nodes, frames, strings, threads, samples;
	bool is_stream;
};

/* Does this look like JSON rather than a profile file? gzip-compressed JSON included. The file is at its start afterwards. */
bool json_check_looks_like(FILE *from);
/* 0, or -EBADMSG with what is wrong and where in the diag. Reads a file from its start, and unpacks it on the way if it is packed. */
int json_check_file(FILE *from, const char *path, struct json_findings *ret, struct diag *diag);
/* The same of what is in memory, unpacked. */
int json_check(struct bytes bytes, const char *path, struct json_findings *ret, struct diag *diag);
