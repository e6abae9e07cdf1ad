/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples: the values of an epoch as sections 22 and 24 have them (FORMAT.md): samples with their rounds and
 * weights by node and thread, and calls. Shared by who writes and who reads it.
 */
#pragma once

#include <stdbool.h>

#include "unwinder/cct.h"

/* What both who writes and who reads do not exceed: a few bytes may stand for very many pairs. */
#define SAMPLES_PAIRS_MAX (1u << 22)
#define SAMPLES_STEPS_MAX (1u << 26)
#define SAMPLES_NONE UINT32_MAX
#define SAMPLES_FIRST_NODE (CCT_INCOMPLETE + 1)
#define SAMPLES_USUAL 64 /* a weight of one sample, in units; about */
#define SAMPLES_USUAL_MAX 256

enum { SAMPLES_HAVE_ROUNDS = 1, SAMPLES_HAVE_CALLS = 2, SAMPLES_FOLLOW = 4 };
enum samples_column {
	COUNT_ROWS,
	ROW_THREAD,
	ROW_SAMPLES,
	ROUND,
	ROUND_SAMPLES,
	WEIGHT,
	REST,
	CALLS,
	SAMPLES_COLUMNS
};

struct sample_row {
	uint32_t node, thread;
	uint64_t samples, weight;
};

struct sample_round {
	uint32_t row, round;
	uint64_t samples;
};

/* What a thread has in a node and below it. */
struct sample_pair {
	uint32_t thread, next; /* of the same node, by thread */
	uint64_t samples;      /* below the roots these are never more than there are in all */
	uint64_t old;          /* of them, those whose call is not new */
};

struct samples {
	const struct cct *cct;
	VEC(struct sample_row) rows;     /* by node and thread */
	VEC(struct sample_round) rounds; /* by row and round */
	VEC(struct cct_value) calls;     /* by node and thread */
	VEC(struct sample_pair) pairs;
	uint64_t usual[CCT_ROUNDS]; /* weight of a sample in each round, in units */
	uint32_t *first;            /* by node: its pairs */
	bool *has_below;            /* by node: has it children? */
	uint64_t n_steps;           /* that were made in lists of pairs */
};

void samples_init(struct samples *s, const struct cct *cct);
void samples_done(struct samples *s);
/* Makes the pairs of the rows: sums from the leaves up; not those of the two roots, which nobody asks for.
 * False: that is too much. */
bool samples_sum(struct samples *s);
/* Where a thread is in a list of pairs, from a link on, which moves; or SAMPLES_NONE. */
uint32_t samples_find(struct samples *s, uint32_t **link, uint32_t thread);
/* Are all calls of this thread on the way to the node's parent new? above: NULL at a node's first thread. */
bool samples_follows(struct samples *s, uint32_t node, uint32_t **above, uint32_t thread);
