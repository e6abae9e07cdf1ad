/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycles: executions of the loops and basic blocks of a function, cycles per execution, the best case, and
 * possible causes of the difference.
 *
 * Results are given for blocks and loops, not for instructions: a timer's sample usually hits a later
 * instruction than the one that took the time (skid), but mostly in the same block.
 */
#pragma once

#include "binary/flow/cfg.h"
#include "report/annotate/annotate.h"
#include "report/cycles/counts.h"
#include "report/cycles/culprits.h"
#include "report/cycles/mca.h"
#include "structure/frequency.h"
#include "structure/loops.h"

struct cycles_cost {
	uint64_t samples;
	double spent;       /* cycles */
	double executions;  /* of a loop: iterations */
	double best;        /* cycles of one execution, 0 = not known */
	uint8_t confidence; /* enum confidence */
	uint8_t culprits;   /* enum culprit, if it took longer than its best case */
};

/* The cost of an execution path: all of the time in blocks that belong to no other path, and its share of the
 * time in other blocks. */
struct way_cost {
	double spent, samples;
	uint32_t n_insns;
	bool is_dense; /* more cycles per instruction than the function's average */
};

struct cycles {
	const struct cfg *cfg;
	struct frequency frequency;
	struct loop_forest forest;
	VEC(struct cycles_cost) blocks, loops; /* as in cfg and forest; loops include their inner loops */
	VEC(struct way_cost) ways;             /* as in the counts */
	uint64_t samples;                      /* in the function's own code */
	struct diag mca_failed;                /* why there is no best case; error 0 = there is one */
};

struct cycles_input {
	const struct cfg *cfg;
	const struct image *image;
	const struct isa *isa;
	const struct annotation *annotation;
	uint32_t metric;
	double unit;                        /* cycles per unit of the metric */
	struct mca *mca;                    /* NULL = no best case */
	const struct cycles_counts *counts; /* NULL = none */
};

void cycles_find(const struct cycles_input *input, struct cycles *ret);
void cycles_done(struct cycles *cycles);

/* Cycles of one execution; negative = not known. */
double cycles_each(const struct cycles_cost *cost);
