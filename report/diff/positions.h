/* SPDX-License-Identifier: Apache-2.0 */
/*
 * positions: matches functions without a name between two builds of a module. Compilers and linkers keep the
 * order of functions: those of the same size in the same order are the same, and so are those between two
 * such pairs if there are as many on both sides.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "report/tree/numbering.h"

struct position {
	uint64_t vaddr, size;
	uint32_t module, build;
	uint32_t function; /* UINT32_MAX = not known */
	uint32_t item;     /* for use by the caller */
};

struct positions {
	VEC(struct position) all;
	struct numbering places; /* of all: by build and address */
};

void positions_init(struct positions *positions);
void positions_done(struct positions *positions);
/* Sets the function of each that is known; the order of `ours` changes. */
void positions_find(const struct positions *positions, struct position *ours, size_t n);
void positions_learn(struct positions *positions, const struct position *position);

/*
 * Matches n sizes with m others, both in the order of addresses: ret[i] is an index, UINT32_MAX = none.
 */
void positions_align(const uint64_t *left, size_t n, const uint64_t *right, size_t m, uint32_t *ret);
