/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes: a borrowed range of memory, and a reader that cannot run past its end.
 *
 * Every parser of foreign bytes goes through struct reader: a read past the end returns 0 and
 * sets `failed`, so a parser may read a whole record and check once. All integers are
 * little-endian, as everything cpprof reads is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

struct bytes {
	const uint8_t *at;
	size_t len;
};

/* The part [offset, offset + len) of bytes, cut off at its end; empty if offset lies behind it. */
struct bytes bytes_slice(struct bytes bytes, uint64_t offset, uint64_t len);
bool bytes_equal(struct bytes a, struct bytes b);
static inline struct bytes bytes_from(struct bytes bytes, uint64_t offset)
{
	return bytes_slice(bytes, offset, UINT64_MAX);
}

struct reader {
	const uint8_t *start, *at, *end;
	bool failed; /* something was read past the end, or was malformed */
};

struct reader reader_of(struct bytes bytes);
static inline size_t reader_left(const struct reader *r)
{
	return (size_t)(r->end - r->at);
}
static inline size_t reader_offset(const struct reader *r)
{
	return (size_t)(r->at - r->start);
}

uint8_t read_u8(struct reader *r);
uint16_t read_u16(struct reader *r);
uint32_t read_u32(struct reader *r);
uint64_t read_u64(struct reader *r);
/* An unsigned integer of 1, 2, 4 or 8 bytes. */
uint64_t read_uint(struct reader *r, unsigned size);
uint64_t read_uleb(struct reader *r);
int64_t read_sleb(struct reader *r);
/* A zero-terminated string inside the bytes; "" and failed if it has no end. */
const char *read_cstr(struct reader *r);
/* The next len bytes; empty and failed if there are fewer. */
struct bytes read_bytes(struct reader *r, uint64_t len);
void reader_skip(struct reader *r, uint64_t len);
/* Moves to an offset from the start; failed if it lies outside. */
void reader_seek(struct reader *r, uint64_t offset);
