/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_record: builds kernel records field by field in tests.
 *
 *     struct build b = record(PERF_RECORD_COMM, 0);
 *     put32(&b, 10); put32(&b, 11); put_text(&b, "name");
 *     parse(built(&b), ...);
 */
#pragma once

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

struct build {
	_Alignas(8) uint8_t at[70000];
	size_t len;
};

static inline void put(struct build *b, const void *from, size_t len)
{
	assert(b->len + len <= sizeof(b->at));
	memcpy(b->at + b->len, from, len);
	b->len += len;
}

static inline void put8(struct build *b, uint8_t v)
{
	put(b, &v, sizeof(v));
}

static inline void put16(struct build *b, uint16_t v)
{
	put(b, &v, sizeof(v));
}

static inline void put32(struct build *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static inline void put64(struct build *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

/* Zero-terminated and padded to eight bytes, as the kernel does. */
static inline void put_text(struct build *b, const char *text)
{
	size_t len = strlen(text) + 1;

	put(b, text, len);
	for (; len % 8; len++)
		put8(b, 0);
}

/* Starts a record; its size is filled in by built(). */
static inline void record_start(struct build *b, uint32_t type, uint16_t misc)
{
	b->len = 0; /* not cleared: always written before it is read, and memset is slow in emulators */
	put32(b, type);
	put16(b, misc);
	put16(b, 0);
}

static inline struct bytes built(struct build *b)
{
	uint16_t size = (uint16_t)b->len;

	memcpy(b->at + 6, &size, sizeof(size));
	return (struct bytes){ b->at, b->len };
}
