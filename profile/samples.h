/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples: the values of an epoch as sections 22 and 24 have them (FORMAT.md): samples with their rounds and
 * weights by node and thread, and calls. Shared by writer and reader.
 */
#pragma once

#include <stdbool.h>

#include "unwinder/cct.h"

/* A limit for writer and reader: a few bytes may encode very many pairs. */
#define SAMPLES_PAIRS_MAX (1u << 22)
#define SAMPLES_STEPS_MAX (1u << 26)
#define SAMPLES_NONE UINT32_MAX
#define SAMPLES_FIRST_NODE (CCT_INCOMPLETE + 1)
#define SAMPLES_USUAL 64 /* approximate weight of one sample, in units */
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

/* The samples of a thread in a node and below it. */
struct sample_pair {
	uint32_t thread, next; /* of the same node, by thread */
	uint64_t samples;      /* below the roots, never more than all samples */
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
	uint64_t n_steps;           /* taken in lists of pairs */
};

void samples_init(struct samples *s, const struct cct *cct);
void samples_done(struct samples *s);
/* Computes the pairs from the rows: sums from the leaves up, except for the two roots, where they are not
 * needed. False if there are too many. */
bool samples_sum(struct samples *s);
/* Finds a thread in a list of pairs, starting at a link, which is moved there; or SAMPLES_NONE. */
uint32_t samples_find(struct samples *s, uint32_t **link, uint32_t thread);
/* Are all calls of this thread on the path to the node's parent new? above: NULL for a node's first thread.
 */
bool samples_follows(struct samples *s, uint32_t node, uint32_t **above, uint32_t thread);
