/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoded: the pointers of unwind and exception tables. One byte says how a pointer is written
 * (size, signedness) and what it is relative to.
 */
#pragma once

#include "binary/elf/image.h"

#define ENCODING_ABSOLUTE 0x00 /* a plain address */
#define ENCODING_OMIT 0xff     /* there is no pointer */

struct encoded_base {
	const struct image *image; /* for indirect pointers; NULL: there are none */
	uint64_t vaddr;            /* of the reader's first byte, for pc-relative ones */
	uint64_t data, function;   /* for the other two kinds */
};

/* The vaddr; 0 for a null pointer. Marks the reader failed for an encoding that does not exist. */
uint64_t read_encoded(struct reader *r, uint8_t encoding, const struct encoded_base *base);
/* Only the number as written: lengths and offsets in the same table ignore what the pointer is relative to.
 */
uint64_t read_encoded_value(struct reader *r, uint8_t encoding);
