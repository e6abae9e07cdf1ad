/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate: the cost of each line and instruction of a function.
 *
 * A line's own cost is that of its instructions; the cost of inlined code is added to the line of the inlined
 * call, and is also available separately. The cost of calls is the line's `calls`. Recursive calls of the
 * function itself are counted once.
 */
#pragma once

#include "base/arena.h"
#include "profile/profile.h"

struct annotated_line {
	uint32_t line;
	uint64_t *self, *inlined, *calls; /* [metric]; inlined is part of self */
	uint32_t inlined_name;            /* the heaviest call inlined here, string id; 0 = none */
};

struct annotated_insn {
	uint32_t offset; /* in the code's map */
	uint32_t len, line, file;
	uint64_t *self, *calls;
};

/* A contiguous piece of machine code: the function's own, a part that was split off, or a function that it
 * was inlined into. */
struct annotated_code {
	const struct function_map *map;
	size_t first, n; /* of the instructions, in order; for an inlined function only its own */
	uint64_t *self;  /* [metric]: of all of them */
};

struct annotation {
	const struct function_map *map;
	uint32_t n_metrics;               /* including those of the rounds, after the others */
	VEC(struct annotated_line) lines; /* of the function's own file, sorted */
	VEC(struct annotated_insn) insns; /* of all codes */
	VEC(struct annotated_code)
	codes; /* as far as the profile contains them; the function's own first, others by their cost */
	uint64_t *own;                /* [metric]: of the function without inlined code: its self cost */
	uint64_t *self, *total, *all; /* [metric]: of the function, and of the whole profile */
	struct arena arena;
	struct function_map inlined; /* for a function without code of its own: what map points to */
};

/* map is the function's own (not a part of it). */
void annotate(const struct profile *profile, const struct function_map *map, struct annotation *ret);
/*
 * The same for all inlined copies of a function together: its lines, what was inlined into it, what it calls;
 * its instructions in each function that contains a copy. -ENOENT if no function of that name was inlined
 * into a sampled function.
 */
int annotate_inlined(const struct profile *profile, const char *name, struct annotation *ret);
void annotation_done(struct annotation *annotation);
