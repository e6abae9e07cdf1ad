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
 * The offset in .debug_info up to which it must be read for these addresses (sorted): the end of the last
 * unit that is needed. UINT64_MAX if the table does not cover all of them. file: contains the debug
 * information; image: contains the code.
 */
uint64_t aranges_reach(struct image *file, const struct image *image, const uint64_t *vaddrs, size_t n);
/* Is the address in a linker stub or a compiler helper, which no unit describes? */
bool aranges_is_stub(const struct image *image, uint64_t vaddr);
