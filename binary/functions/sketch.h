/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sketch: a cache of what discovery asks about instructions.
 *
 * A gap is scanned many times, and much of it is data that keeps looking like code. All that is cached
 * depends on the bytes alone.
 */
#pragma once

#include "base/vec.h"
#include "binary/functions/function.h"

struct sketch {
	uint64_t target; /* of a direct jump, branch or call */
	uint8_t len;     /* 0: no instruction */
	uint8_t flow;    /* as of struct insn */
	bool is_padding, is_entry_mark, is_prologue;
	uint8_t entry; /* for sketch_is_entry */
};

struct sketch_page;
struct sketches {
	const struct functions *functions; /* borrowed */
	uint64_t start, end; /* what is cached; outside of it instructions are decoded each time */
	VEC(struct sketch_page *) pages;
	size_t n_pages; /* that are there */
};

/* Of the code in [start, end). */
void sketches_init(struct sketches *sketches, const struct functions *functions, uint64_t start,
		   uint64_t end);
void sketches_done(struct sketches *sketches);

/* False if there is no instruction, or one that does not end by `end`. */
bool sketch_at(struct sketches *sketches, uint64_t vaddr, uint64_t end, struct sketch *ret);
/* entry_is_plausible */
bool sketch_is_entry(struct sketches *sketches, uint64_t vaddr);
/* Does the straight run of code at vaddr end in bytes that do not decode? Most of what lies between functions
 * is data. */
bool sketch_runs_into_data(struct sketches *sketches, uint64_t vaddr, uint64_t end);
/* Do the next instructions all decode? What looks like a jump may be a word of a table. */
bool sketch_is_code(struct sketches *sketches, uint64_t vaddr);
/*
 * Where the code of a function that ends at `end` or earlier has surely ended: control does not run on,
 * and no earlier jump leads further. `end` if that cannot be told, as when a jump leaves and may come
 * back.
 */
uint64_t sketch_closed_end(struct sketches *sketches, uint64_t start, uint64_t end);
