/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frequency: how often the blocks and edges of a function were executed, derived from what is known about
 * some of them.
 *
 * Blocks and edges that are executed equally often for every input form a class: they are on the same cycles
 * of the graph, once its exits are connected to its entry (Johnson, Pearson, Pingali 1994). A class is
 * estimated from its blocks: the time spent in a block, divided by the time the block needs at best. That is
 * too high for a block that stalls, so blocks that take much longer than others of their class are ignored
 * (Anderson et al. 1997, 6.1). Since as much flows out of a block as into it, unknown classes are then
 * derived step by step from known ones.
 *
 * Pure: depends only on the graph.
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
	const uint64_t *samples; /* by block: the number of samples that `cycles` is based on */
	const double *best;      /* by block: the fewest cycles that it can take; 0 = not known */
};

struct frequency_edge {
	uint32_t from, to; /* blocks; FREQUENCY_NONE: outside the function */
	uint32_t class;
};

struct frequency_class {
	double executions;
	uint8_t confidence;       /* enum confidence */
	uint32_t n_blocks, n_met; /* blocks of the class; those that agree on the estimate */
};

/* Edges of block b: at[first[b]] to at[first[b + 1]]. */
struct frequency_sides {
	uint32_t *first, *at;
};

struct frequency {
	uint32_t *class_of; /* by block; FREQUENCY_NONE: not reachable */
	uint32_t n_blocks;
	VEC(struct frequency_edge) edges;
	VEC(struct frequency_class) classes;
	struct frequency_sides in, out;
};

/* Finds the classes; no executions are known yet. */
void frequency_init(struct frequency *frequency, const struct cfg *cfg);
void frequency_done(struct frequency *frequency);
/* Estimates from time alone. */
void frequency_estimate(struct frequency *frequency, const struct frequency_input *input);
/* Takes absolute counts by block, whose quality is `confidence`; negative = not counted. */
void frequency_take(struct frequency *frequency, const double *counts, enum confidence confidence);
/* Takes counts by block that are only proportional to the number of executions; the factor is estimated from
 * time. */
void frequency_scale(struct frequency *frequency, const struct frequency_input *input, const double *counts);
/* Multiplies all known numbers of executions. */
void frequency_multiply(struct frequency *frequency, double times, enum confidence confidence);

/* The number of executions of a block. */
double frequency_of(const struct frequency *frequency, uint32_t block, enum confidence *ret);
/* The same for an edge between two blocks; negative = not known. Several edges between the same blocks are
 * added up. */
double frequency_of_edge(const struct frequency *frequency, uint32_t from, uint32_t to);
