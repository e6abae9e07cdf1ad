/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_json: is a cpprof-profile document or stream whole and consistent? Columns of one section have
 * equal length, indices lie in range, parents precede children, sums agree. Reads it once, keeps no array.
 */
#pragma once

#include "base/bytes.h"
#include "base/diag.h"

struct json_findings {
	uint64_t nodes, frames, strings, threads, samples;
	bool is_stream;
};

/* Does this look like JSON rather than a profile file? gzip-compressed JSON included. */
bool json_looks_like(struct bytes bytes);
/* 0, or -EBADMSG with what is wrong and where in the diag. */
int json_check(struct bytes bytes, const char *path, struct json_findings *ret, struct diag *diag);
