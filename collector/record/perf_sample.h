/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_sample: the fields of PERF_RECORD_SAMPLE. Private to perf_record.
 */
#pragma once

#include "collector/record/perf_fields.h"

/* Reads what follows the record's header; type and misc are set. r->failed if the record is too short. */
void perf_sample_read(struct reader *r, const struct perf_layout *layout, struct perf_scratch *scratch,
		      struct perf_record *ret);
