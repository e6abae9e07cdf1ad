/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_record: parses a record built by a test. For tests of perf_record alone.
 */
#pragma once

#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "collector/record/perf_record.h"
#include "tests/test.h"
#include "tests/unit/collector/build_record.h"

static struct perf_scratch scratch;
static struct perf_record record;
static struct build b;

#define TRAILER (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static const struct perf_layout with_trailer = { .sample_type = TRAILER, .sample_id_all = true };

static inline void put_trailer(uint32_t pid, uint32_t tid, uint64_t time, uint32_t cpu, uint64_t id)
{
	put32(&b, pid);
	put32(&b, tid);
	put64(&b, time);
	put32(&b, cpu);
	put32(&b, 0);
	put64(&b, id);
}

static inline int parse(const struct perf_layout *layout)
{
	return perf_record_parse(built(&b), layout, &scratch, &record);
}

/*
 * Truncates the same record step by step: it is never accepted and never read beyond its end (each copy is
 * a separate allocation, so that asan detects it). A text's padding may be cut before the record is damaged.
 */
static inline void check_cuts(const struct perf_layout *layout, size_t padding)
{
	for (size_t len = 0; len < b.len - padding; len++) {
		uint8_t *cut = malloc(len ? len : 1);
		uint16_t size = (uint16_t)len;
		memcpy(cut, b.at, len);
		if (len >= 8)
			memcpy(cut + 6, &size, sizeof(size));
		CHECK_EQ(perf_record_parse((struct bytes){ cut, len }, layout, &scratch, &record), -EBADMSG);
		free(cut);
	}
}
