/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sketch: a cache of the properties of instructions that discovery needs.
 *
 * A gap is scanned many times, and much of it is data that looks like code. Everything that is cached depends
 * only on the bytes.
 */
#pragma once

#include "base/vec.h"
#include "binary/functions/function.h"

struct sketch {
	uint64_t target; /* of a direct jump, branch or call */
	uint8_t len;     /* 0: not an instruction */
	uint8_t flow;    /* as in struct insn */
	bool is_padding, is_entry_mark, is_prologue;
	uint8_t entry; /* for sketch_is_entry */
};

struct sketch_page;
struct sketches {
	const struct functions *functions; /* borrowed */
	uint64_t start, end; /* the cached range; instructions outside it are decoded each time */
	VEC(struct sketch_page *) pages;
	size_t n_pages; /* allocated */
};

/* For the code in [start, end). */
void sketches_init(struct sketches *sketches, const struct functions *functions, uint64_t start,
		   uint64_t end);
void sketches_done(struct sketches *sketches);

/* False if there is no instruction, or one that extends past `end`. */
bool sketch_at(struct sketches *sketches, uint64_t vaddr, uint64_t end, struct sketch *ret);
/* entry_is_plausible */
bool sketch_is_entry(struct sketches *sketches, uint64_t vaddr);
/* Does the straight-line code at vaddr end in bytes that do not decode? Most of the bytes between functions
 * are data. */
bool sketch_runs_into_data(struct sketches *sketches, uint64_t vaddr, uint64_t end);
/* Do the next instructions all decode? What looks like a jump may be an entry of a table. */
bool sketch_is_code(struct sketches *sketches, uint64_t vaddr);
/*
 * Where the code of a function that ends at `end` or earlier has certainly ended: control does not fall
 * through, and no earlier jump leads further. `end` if that cannot be determined, for example if a jump
 * leaves and may come back.
 */
uint64_t sketch_closed_end(struct sketches *sketches, uint64_t start, uint64_t end);
