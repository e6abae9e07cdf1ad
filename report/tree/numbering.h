/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbering: a number for each distinct key, in the order of first use. Keys are structs without padding,
 * compared byte by byte.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/slots.h"

struct numbering {
	size_t key_size;
	uint8_t *keys; /* by number */
	size_t n, cap;
	struct slots slots;
};

void numbering_init(struct numbering *numbering, size_t key_size);
void numbering_done(struct numbering *numbering);
/* If it returns the previous numbering->n, the key is new. */
uint32_t numbering_add(struct numbering *numbering, const void *key);
/* UINT32_MAX if there is none. */
uint32_t numbering_find(const struct numbering *numbering, const void *key);
