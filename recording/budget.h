/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget: what probes may cost the processes that run into them.
 *
 * The kernel counts calls. If they come so often that their probes would cost more than allowed, those of the
 * functions that are called most are set at times only: for stretches in between, of random length, nothing
 * is measured, and each call that is measured stands for as many as it takes. A probe that does
 * nothing costs as much as one that does: it must be removed.
 */
#pragma once

#include "collector/probe/perf_probe.h"
#include "recording/trace.h"

#define BUDGET_HITS_MAX 200000 /* a second: a function with more is not traced any more */

enum budget_phase {
	BUDGET_ON,     /* all probes are set */
	BUDGET_ENDING, /* calls that were seen to begin are waited for */
	BUDGET_OFF,
};

struct budget {
	double most;      /* share of a CPU; 0 = no limit */
	uint64_t n_apart; /* one call in so many is measured, of functions that are called too often; 0 =
			     every */
	enum budget_phase phase;
	uint64_t since_ns, until_ns; /* of the phase; until 0 = open */
	uint64_t looked_ns;          /* when rates were last looked at */
	uint64_t random;
	uint64_t entries[TRACE_FUNCTIONS_MAX]; /* at that time */
	double rate[TRACE_FUNCTIONS_MAX];      /* calls a second while they were watched */
};

void budget_init(struct budget *budget, double most, uint64_t now);
/* Is called at least every half second. Notes are the trace's. */
void budget_tick(struct budget *budget, struct trace *trace, struct perf_probe *probe, uint64_t now);
/* When it wants to be called again; 0 = whenever. */
uint64_t budget_due(const struct budget *budget);
