/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_maker: unwind entries for tests. Addresses are written pc-relative in four bytes, as compilers do.
 */
#pragma once

#include <string.h>

#include "base/writer.h"

static inline void frame_patch_u32(struct writer *w, size_t at, uint32_t number)
{
	memcpy(w->at + at, &number, 4);
}

/* Pads with DW_CFA_nop and fills in the length that stands at `start`. */
static inline void frame_close(struct writer *w, size_t start)
{
	while ((w->len - start) % 8)
		write_u8(w, 0);
	frame_patch_u32(w, start, (uint32_t)(w->len - start - 4));
}

/* A version 1 CIE "zR" + more; returns its offset. lsda: "zLR" with four pc-relative bytes. */
static inline size_t frame_cie(struct writer *w, const char *augmentation, uint8_t code_align,
			       int8_t data_align, uint8_t ra, struct bytes program)
{
	size_t start = w->len;

	write_u32(w, 0);
	write_u32(w, 0);
	write_u8(w, 1);
	write_bytes(w, (struct bytes){ (const uint8_t *)augmentation, strlen(augmentation) + 1 });
	write_uleb(w, code_align);
	write_sleb(w, data_align);
	write_u8(w, ra);
	size_t n_data = 0;
	for (const char *c = augmentation; *c; c++)
		n_data += *c == 'R' || *c == 'L';
	write_uleb(w, n_data);
	for (size_t i = 0; i < n_data; i++)
		write_u8(w, 0x1b); /* pc-relative, four bytes, signed */
	write_bytes(w, program);
	frame_close(w, start);
	return start;
}

/* table_vaddr: of the writer's first byte. lsda: 0 if the CIE has no 'L'. Returns the entry's offset. */
static inline size_t frame_fde(struct writer *w, uint64_t table_vaddr, size_t cie, uint64_t function,
			       uint32_t size, uint64_t lsda, struct bytes program)
{
	size_t start = w->len;

	write_u32(w, 0);
	write_u32(w, (uint32_t)(w->len - cie));
	write_u32(w, (uint32_t)(function - (table_vaddr + w->len)));
	write_u32(w, size);
	write_u8(w, lsda ? 4 : 0);
	if (lsda)
		write_u32(w, (uint32_t)(lsda - (table_vaddr + w->len)));
	write_bytes(w, program);
	frame_close(w, start);
	return start;
}

#define PROGRAM(...) \
	((struct bytes){ (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }) })
