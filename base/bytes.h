/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes: a borrowed range of memory, and a reader that cannot run past its end.
 *
 * Every parser of foreign input uses struct reader: a read past the end returns 0 and sets `failed`, so a
 * parser may read a whole record and check once. All integers are little-endian, like everything that cpprof
 * reads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

struct bytes {
	const uint8_t *at;
	size_t len;
};

/* The part [offset, offset + len) of bytes, truncated at its end; empty if offset is beyond it. */
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

/* Sets `failed` and moves to the end. */
void reader_fail(struct reader *r);

/* Inline: whole debug files are read through these. */
#define READER_INTEGER(name, type)                    \
	static inline type name(struct reader *r)     \
	{                                             \
		type value;                           \
		if (reader_left(r) < sizeof(value)) { \
			reader_fail(r);               \
			return 0;                     \
		}                                     \
		memcpy(&value, r->at, sizeof(value)); \
		r->at += sizeof(value);               \
		return value;                         \
	}
READER_INTEGER(read_u8, uint8_t)
READER_INTEGER(read_u16, uint16_t)
READER_INTEGER(read_u32, uint32_t)
READER_INTEGER(read_u64, uint64_t)
#undef READER_INTEGER

/* An unsigned integer of 1 to 8 bytes. */
uint64_t read_uint(struct reader *r, unsigned size);

uint64_t read_uleb_long(struct reader *r);
int64_t read_sleb_long(struct reader *r);
/* LEB128; bits beyond 64 are dropped. */
static inline uint64_t read_uleb(struct reader *r)
{
	if (r->at < r->end && *r->at < 0x80)
		return *r->at++;
	return read_uleb_long(r);
}
static inline int64_t read_sleb(struct reader *r)
{
	if (r->at < r->end && *r->at < 0x80) {
		int64_t value = *r->at++;
		return value - (value & 0x40) * 2;
	}
	return read_sleb_long(r);
}
/* A zero-terminated string inside the bytes; "" and failed if it is not terminated. */
const char *read_cstr(struct reader *r);
/* The next len bytes; empty and failed if there are fewer. */
struct bytes read_bytes(struct reader *r, uint64_t len);
void reader_skip(struct reader *r, uint64_t len);
/* Moves to an offset from the start; failed if it is outside. */
void reader_seek(struct reader *r, uint64_t offset);
