/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

struct bytes bytes_slice(struct bytes bytes, uint64_t offset, uint64_t len)
{
	if (offset >= bytes.len)
		return (struct bytes){ 0 };

	uint64_t left = bytes.len - offset;
	return (struct bytes){ bytes.at + offset, (size_t)(len < left ? len : left) };
}

bool bytes_equal(struct bytes a, struct bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

struct reader reader_of(struct bytes bytes)
{
	static const uint8_t nothing[1];

	/* Never NULL, so that pointer arithmetic on an empty reader is defined. */
	if (!bytes.at)
		bytes = (struct bytes){ nothing, 0 };
	return (struct reader){ bytes.at, bytes.at, bytes.at + bytes.len, false };
}

void reader_fail(struct reader *r)
{
	r->failed = true;
	r->at = r->end;
}

uint64_t read_uint(struct reader *r, unsigned size)
{
	uint64_t value = 0;

	if (reader_left(r) < size) {
		reader_fail(r);
		return 0;
	}
	memcpy(&value, r->at, size);
	r->at += size;
	return value;
}

uint64_t read_uleb_long(struct reader *r)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = read_u8(r);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

int64_t read_sleb_long(struct reader *r)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = read_u8(r);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

const char *read_cstr(struct reader *r)
{
	const char *text = (const char *)r->at;
	const uint8_t *end = reader_left(r) ? memchr(r->at, 0, reader_left(r)) : NULL;

	if (!end) {
		reader_fail(r);
		return "";
	}
	r->at = end + 1;
	return text;
}

struct bytes read_bytes(struct reader *r, uint64_t len)
{
	if (reader_left(r) < len) {
		reader_fail(r);
		return (struct bytes){ 0 };
	}

	struct bytes bytes = { r->at, (size_t)len };
	r->at += len;
	return bytes;
}

void reader_skip(struct reader *r, uint64_t len)
{
	read_bytes(r, len);
}

void reader_seek(struct reader *r, uint64_t offset)
{
	if (offset > (size_t)(r->end - r->start))
		reader_fail(r);
	else
		r->at = r->start + offset;
}
