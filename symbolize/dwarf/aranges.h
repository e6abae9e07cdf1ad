/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aranges: .debug_aranges, a table of the address ranges of units in .debug_info. Not every compiler writes
 * it.
 */
#pragma once

#include "symbolize/dwarf/dwarf.h"

struct arange {
	uint64_t start, end;
	uint64_t unit; /* offset in .debug_info */
};

/* In the order of the section. Damage ends the set it is in. */
struct aranges {
	struct reader all, set;
	uint64_t unit;
	unsigned address_size;
};

struct aranges aranges_open(struct bytes section);
bool aranges_next(struct aranges *aranges, struct arange *ret);

/*
 * Where in .debug_info the last unit ends that is needed for these addresses, sorted: no more must be read.
 * UINT64_MAX if the table does not tell for all of them. file: where the debug information is; image: the
 * code.
 */
uint64_t aranges_reach(struct image *file, const struct image *image, const uint64_t *vaddrs, size_t n);
/* Is it in a stub of the linker's or a helper of the compiler's, which no unit has? */
bool aranges_is_stub(const struct image *image, uint64_t vaddr);
