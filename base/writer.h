/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer: a growing byte buffer, the counterpart of struct reader. All integers are little-endian.
 *
 *     struct writer w = { 0 };
 *     write_uleb(&w, 300);
 *     use(writer_bytes(&w));
 *     writer_done(&w);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct writer {
	uint8_t *at; /* malloc'ed */
	size_t len, cap;
};

void write_u8(struct writer *w, uint8_t value);
void write_u16(struct writer *w, uint16_t value);
void write_u32(struct writer *w, uint32_t value);
void write_u64(struct writer *w, uint64_t value);
void write_uleb(struct writer *w, uint64_t value);
void write_sleb(struct writer *w, int64_t value);
void write_bytes(struct writer *w, struct bytes bytes);
/* Room for len bytes, zeroed, at the end; valid until the next write. */
uint8_t *write_space(struct writer *w, size_t len);

static inline struct bytes writer_bytes(const struct writer *w)
{
	return (struct bytes){ w->at, w->len };
}
/* Discards the content, keeps the memory. */
static inline void writer_clear(struct writer *w)
{
	w->len = 0;
}
void writer_done(struct writer *w);
