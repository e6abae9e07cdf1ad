/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frequency: how often the blocks and edges of a function were executed, from what is known of some of them.
 *
 * Blocks and edges that are executed equally often form a class, whatever the input: they lie on the same
 * cycles of the graph whose ends lead back to its entry (Johnson, Pearson, Pingali 1994). A class is
 * estimated from its blocks: time that was spent in a block, divided by what the block needs at best, is too
 * high where it waits, so blocks that take much longer than others of their class are left out (Anderson et
 * al. 1997, 6.1). What flows into a block flows out of it: what is not known yet follows from what is, step
 * by step.
 *
 * Pure: takes the graph.
 */
#pragma once

#include "base/vec.h"
#include "binary/flow/cfg.h"

#define FREQUENCY_NONE UINT32_MAX

enum confidence {
	CONFIDENCE_NONE, /* not known */
	CONFIDENCE_LOW,
	CONFIDENCE_MEDIUM,
	CONFIDENCE_HIGH,
	CONFIDENCE_EXACT, /* counted */
};
const char *confidence_name(enum confidence confidence);

struct frequency_input {
	const struct cfg *cfg;
	const double *cycles;    /* by block: spent in it */
	const uint64_t *samples; /* by block: of which that is known */
	const double *best;      /* by block: cycles that it needs at best; 0 = not known */
};

struct frequency_edge {
	uint32_t from, to; /* blocks; FREQUENCY_NONE: outside the function */
	uint32_t class;
};

struct frequency_class {
	double executions;
	uint8_t confidence;       /* enum confidence */
	uint32_t n_blocks, n_met; /* of the class; of those that agree on it */
};

/* Edges of block b: at[first[b]] to at[first[b + 1]]. */
struct frequency_sides {
	uint32_t *first, *at;
};

struct frequency {
	uint32_t *class_of; /* by block; FREQUENCY_NONE: control does not come here */
	uint32_t n_blocks;
	VEC(struct frequency_edge) edges;
	VEC(struct frequency_class) classes;
	struct frequency_sides in, out;
};

/* The classes; nothing is known of them. */
void frequency_init(struct frequency *frequency, const struct cfg *cfg);
void frequency_done(struct frequency *frequency);
/* From time alone. */
void frequency_estimate(struct frequency *frequency, const struct frequency_input *input);
/* From counts by block, in the same unit (confidence says how good they are); negative = not counted. */
void frequency_take(struct frequency *frequency, const double *counts, enum confidence confidence);
/* From counts by block of which only the proportion is known: time tells the rest. */
void frequency_scale(struct frequency *frequency, const struct frequency_input *input, const double *counts);
/* All that is known, so many times as often. */
void frequency_multiply(struct frequency *frequency, double times, enum confidence confidence);

/* Of a block. */
double frequency_of(const struct frequency *frequency, uint32_t block, enum confidence *ret);
/* Of an edge between two blocks; negative = not known. Several edges between the same blocks count together.
 */
double frequency_of_edge(const struct frequency *frequency, uint32_t from, uint32_t to);
