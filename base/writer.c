/* SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static uint8_t *writer_grow(struct writer *w, size_t more)
{
	if (w->cap - w->len < more) {
		size_t want = w->len + more;
		w->cap = want > w->cap * 2 ? want : w->cap * 2;
		w->at = alloc_resize(w->at, w->cap, 1);
	}
	w->len += more;
	return w->at + w->len - more;
}

static void write_uint(struct writer *w, uint64_t value, size_t size)
{
	memcpy(writer_grow(w, size), &value, size);
}

void write_u8(struct writer *w, uint8_t value)
{
	write_uint(w, value, 1);
}

void write_u16(struct writer *w, uint16_t value)
{
	write_uint(w, value, 2);
}

void write_u32(struct writer *w, uint32_t value)
{
	write_uint(w, value, 4);
}

void write_u64(struct writer *w, uint64_t value)
{
	write_uint(w, value, 8);
}

void write_uleb(struct writer *w, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	if (value < 0x80) {
		*writer_grow(w, 1) = (uint8_t)value;
		return;
	}
	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	memcpy(writer_grow(w, n), bytes, n);
}

void write_sleb(struct writer *w, int64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value < -0x40 || value >= 0x40; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)(value & 0x7f);
	memcpy(writer_grow(w, n), bytes, n);
}

void write_bytes(struct writer *w, struct bytes bytes)
{
	if (bytes.len)
		memcpy(writer_grow(w, bytes.len), bytes.at, bytes.len);
}

uint8_t *write_space(struct writer *w, size_t len)
{
	uint8_t *space = writer_grow(w, len);

	if (len)
		memset(space, 0, len);
	return space;
}

void writer_done(struct writer *w)
{
	free(w->at);
	*w = (struct writer){ 0 };
}
