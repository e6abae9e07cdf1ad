/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/frequency.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define WAITS_FROM 1.5 /* a block whose quotient is this many times the usual one stalls */
#define CLUSTER_ROUNDS 8
#define SAMPLES_LEAST 8 /* a block with fewer says nothing on its own */
#define SAMPLES_MEDIUM 25
#define SAMPLES_HIGH 100
#define AGREES_WITHIN 0.2 /* flows in and out of a block */
#define ROUNDS_MAX 64     /* of propagation */

const char *confidence_name(enum confidence confidence)
{
	static const char *const names[] = { "not known", "low", "medium", "high", "exact" };

	return names[confidence];
}

/* ---- propagation ------------------------------------------------------------------------------------- */

/* The flow through one side of a block. */
struct flow_side {
	double sum;
	uint32_t n, n_unknown, unknown; /* unknown: the last class that is not known */
	uint8_t confidence;             /* the lowest */
};

static struct flow_side frequency_side(const struct frequency *f, uint32_t block, bool is_in)
{
	const struct frequency_sides *sides = is_in ? &f->in : &f->out;
	struct flow_side side = { .confidence = CONFIDENCE_EXACT };

	for (uint32_t i = sides->first[block]; i < sides->first[block + 1]; i++) {
		const struct frequency_edge *edge = &f->edges.at[sides->at[i]];
		const struct frequency_class *class = &f->classes.at[edge->class];
		side.n++;
		if (class->confidence == CONFIDENCE_NONE) {
			side.n_unknown++;
			side.unknown = edge->class;
			continue;
		}
		side.sum += class->executions;
		side.confidence = class->confidence < side.confidence ? class->confidence : side.confidence;
	}
	return side;
}

static void frequency_set(struct frequency_class *class, double executions, uint8_t confidence)
{
	class->executions = executions > 0 ? executions : 0;
	class->confidence = confidence == CONFIDENCE_HIGH ? CONFIDENCE_MEDIUM
							  : confidence; /* differences accumulate errors */
}

/* One side of a block: the block from its edges, or the single edge that is missing. */
static bool frequency_propagate_side(struct frequency *f, uint32_t block, bool is_in)
{
	struct flow_side side = frequency_side(f, block, is_in);
	struct frequency_class *own = &f->classes.at[f->class_of[block]];

	if (!side.n)
		return false;
	if (!side.n_unknown && own->confidence == CONFIDENCE_NONE) {
		frequency_set(own, side.sum, side.confidence);
		return true;
	}
	if (side.n_unknown != 1 || own->confidence == CONFIDENCE_NONE)
		return false;
	uint8_t confidence = side.confidence < own->confidence ? side.confidence : own->confidence;
	/* A small difference of large numbers is nearly all error. */
	if (own->executions - side.sum < AGREES_WITHIN * own->executions && confidence < CONFIDENCE_EXACT)
		confidence = CONFIDENCE_LOW;
	frequency_set(&f->classes.at[side.unknown], own->executions - side.sum, confidence);
	return true;
}

static void frequency_propagate(struct frequency *f)
{
	bool grows = true;

	for (unsigned round = 0; grows && round < ROUNDS_MAX; round++) {
		grows = false;
		for (uint32_t block = 0; block < f->n_blocks; block++) {
			if (f->class_of[block] == FREQUENCY_NONE)
				continue;
			grows |= frequency_propagate_side(f, block, true);
			grows |= frequency_propagate_side(f, block, false);
		}
	}
}

/* ---- time -------------------------------------------------------------------------------------------- */

struct quotient {
	double cycles, best, value;
	uint64_t samples;
	uint32_t class;
};
typedef VEC(struct quotient) quotients;

static int quotient_compare(const void *left, const void *right)
{
	const struct quotient *a = left, *b = right;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

/* For all blocks whose best case is known; weights: how often each is executed per execution of its class,
 * NULL = 1. */
static void frequency_quotients(const struct frequency *f, const struct frequency_input *input,
				const double *weights, quotients *ret)
{
	for (uint32_t i = 0; i < f->n_blocks; i++) {
		double weight = weights ? weights[i] : 1;
		if (f->class_of[i] == FREQUENCY_NONE || !(input->best[i] > 0) || !(weight > 0))
			continue;
		double best = input->best[i] * weight;
		vec_push(ret, ((struct quotient){ input->cycles[i], best, input->cycles[i] / best,
						  input->samples[i], weights ? 0 : f->class_of[i] }));
	}
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), quotient_compare);
}

/* Does a block certainly take longer than its class suggests, or only by chance? */
static bool quotient_waits(const struct quotient *q, double usual)
{
	double expected = q->value > 0 ? (double)q->samples * usual / q->value : 0;

	return q->value > WAITS_FROM * usual && (double)q->samples > expected + 3 * sqrt(expected) + 3;
}

/*
 * The estimate from the quotients of one class, [first, end), without those of blocks that stall. They are
 * summed up, not compared one by one: with a timer, the samples of a block may be attributed to the next one.
 */
static struct frequency_class frequency_cluster(const struct quotient *first, const struct quotient *end)
{
	double usual = INFINITY, cycles, best, all, met = 0;
	struct frequency_class ret = { 0 };
	uint64_t samples = 0;

	for (unsigned round = 0; round < CLUSTER_ROUNDS; round++) {
		cycles = best = all = met = 0;
		samples = ret.n_met = 0;
		for (const struct quotient *q = first; q < end; q++) {
			all += q->best;
			if (round && quotient_waits(q, usual))
				continue;
			cycles += q->cycles;
			best += q->best;
			samples += q->samples;
			ret.n_met += q->samples >= SAMPLES_LEAST;
			met += q->samples >= SAMPLES_LEAST ? q->best : 0;
		}
		if (!samples)
			return (struct frequency_class){ 0 };
		usual = cycles / best;
	}
	ret.executions = usual;
	ret.confidence = ret.n_met >= 3 && met >= all / 2 && samples >= SAMPLES_HIGH     ? CONFIDENCE_HIGH
			 : ret.n_met >= 2 && met >= all / 4 && samples >= SAMPLES_MEDIUM ? CONFIDENCE_MEDIUM
											 : CONFIDENCE_LOW;
	return ret;
}

/* Independent estimates that agree are better than either alone. */
static void frequency_compare(struct frequency *f)
{
	CLEANUP(freep) bool *agrees = alloc_zero(f->classes.n + 1, sizeof(*agrees));

	for (uint32_t block = 0; block < f->n_blocks; block++) {
		uint32_t class = f->class_of[block];
		for (int is_in = 0; class != FREQUENCY_NONE && is_in < 2; is_in++) {
			struct flow_side side = frequency_side(f, block, is_in);
			double own = f->classes.at[class].executions, off = side.sum - own;
			if (side.n > 1 && !side.n_unknown && own > 0 && off < AGREES_WITHIN * own &&
			    -off < AGREES_WITHIN * own)
				agrees[class] = true;
		}
	}
	for (size_t i = 0; i < f->classes.n; i++)
		if (agrees[i] && f->classes.at[i].confidence == CONFIDENCE_LOW)
			f->classes.at[i].confidence = CONFIDENCE_MEDIUM;
}

void frequency_estimate(struct frequency *f, const struct frequency_input *input)
{
	quotients all = { 0 };

	frequency_quotients(f, input, NULL, &all);
	for (size_t i = 0, end; i < all.n; i = end) {
		for (end = i; end < all.n && all.at[end].class == all.at[i].class;)
			end++;
		uint32_t n_blocks = f->classes.at[all.at[i].class].n_blocks;
		struct frequency_class found = frequency_cluster(&all.at[i], &all.at[end]);
		found.n_blocks = n_blocks;
		f->classes.at[all.at[i].class] = found;
	}
	vec_done(&all);
	frequency_compare(f);
	/* Doubtful estimates are dropped if they follow from the others. */
	CLEANUP(freep) struct frequency_class *doubtful = alloc_zero(f->classes.n + 1, sizeof(*doubtful));
	for (size_t i = 0; i < f->classes.n; i++) {
		doubtful[i] = f->classes.at[i];
		if (doubtful[i].confidence == CONFIDENCE_LOW)
			f->classes.at[i].confidence = CONFIDENCE_NONE;
	}
	frequency_propagate(f);
	for (size_t i = 0; i < f->classes.n; i++)
		if (f->classes.at[i].confidence == CONFIDENCE_NONE)
			f->classes.at[i] = doubtful[i];
	frequency_propagate(f);
}

/* ---- counts ------------------------------------------------------------------------------------------ */

void frequency_take(struct frequency *f, const double *counts, enum confidence confidence)
{
	for (uint32_t i = 0; i < f->n_blocks; i++)
		if (f->class_of[i] != FREQUENCY_NONE && counts[i] >= 0) {
			struct frequency_class *class = &f->classes.at[f->class_of[i]];
			class->executions = counts[i];
			class->confidence = (uint8_t)confidence;
		}
	frequency_propagate(f);
}

void frequency_scale(struct frequency *f, const struct frequency_input *input, const double *counts)
{
	CLEANUP(freep) double *scaled = alloc_zero(f->n_blocks + 1, sizeof(*scaled));
	quotients all = { 0 };

	frequency_quotients(f, input, counts, &all);
	struct frequency_class found = frequency_cluster(all.at, all.at + all.n);
	vec_done(&all);
	for (uint32_t i = 0; i < f->n_blocks; i++)
		scaled[i] = counts[i] < 0 ? -1 : counts[i] * found.executions;
	if (found.confidence != CONFIDENCE_NONE)
		frequency_take(f, scaled, (enum confidence)found.confidence);
}

void frequency_multiply(struct frequency *f, double times, enum confidence confidence)
{
	for (size_t i = 0; i < f->classes.n; i++) {
		f->classes.at[i].executions *= times;
		if (f->classes.at[i].confidence != CONFIDENCE_NONE)
			f->classes.at[i].confidence = (uint8_t)confidence;
	}
}

/* ---- answers ----------------------------------------------------------------------------------------- */

double frequency_of(const struct frequency *f, uint32_t block, enum confidence *ret)
{
	uint32_t class = block < f->n_blocks ? f->class_of[block] : FREQUENCY_NONE;

	if (ret)
		*ret = class == FREQUENCY_NONE ? CONFIDENCE_NONE
					       : (enum confidence)f->classes.at[class].confidence;
	return class == FREQUENCY_NONE ? 0 : f->classes.at[class].executions;
}

double frequency_of_edge(const struct frequency *f, uint32_t from, uint32_t to)
{
	double sum = -1;

	for (uint32_t i = f->out.first[from]; i < f->out.first[from + 1]; i++) {
		const struct frequency_edge *edge = &f->edges.at[f->out.at[i]];
		if (edge->to != to)
			continue;
		if (f->classes.at[edge->class].confidence == CONFIDENCE_NONE)
			return -1;
		sum = (sum < 0 ? 0 : sum) + f->classes.at[edge->class].executions;
	}
	return sum;
}
