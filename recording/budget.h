/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget: limits the cost of probes for the traced processes.
 *
 * The kernel counts calls. If the probes would cost more than allowed, those of the most frequently called
 * functions are set only part of the time. An idle probe costs as much as an active one, so it must be
 * removed.
 *
 * Time is then divided into cycles. In each cycle there is one window at a random position, whose calls are
 * measured; each call is weighted by the ratio of cycle to window. Every moment of a cycle, except those at
 * its very ends, is equally likely to be in the window, so estimates are unbiased, also for the last cycle,
 * which is truncated. The BPF program itself ends the window, because cpprof may be late.
 */
#pragma once

#include "collector/probe/perf_probe.h"
#include "recording/trace.h"

/* A function with more hits per second is no longer traced, nor one whose probes cost this share of a CPU. */
#define BUDGET_HITS_MAX 200000
#define BUDGET_COST_MAX 0.75

enum budget_phase {
	BUDGET_ALL,    /* every call is measured */
	BUDGET_OFF,    /* no calls of functions that are called too often are measured: before and after the
			  window */
	BUDGET_ON,     /* the window is open */
	BUDGET_ENDING, /* it is closed; calls that began in it have not all ended */
};

struct budget_cycle {
	uint64_t start_ns, len_ns;
	uint64_t on_at_ns, on_ns; /* the window */
};
/* A cycle in which one call in n is measured. random: any number. */
struct budget_cycle budget_cycle_plan(uint64_t start_ns, uint64_t n, uint64_t random);
/* The window was opened at this time, which may be late. Returns how many calls a measured one represents on
 * average. */
double budget_cycle_open(struct budget_cycle *cycle, uint64_t now);
/* When the next cycle begins. */
uint64_t budget_cycle_end(const struct budget_cycle *cycle);

/* Calls per second in each window so far: their number, mean, and sum of squared deviations. */
struct budget_windows {
	uint64_t n;
	double mean, squares;
};
void budget_windows_add(struct budget_windows *windows, double rate);
/* The 95 % interval of the mean, as a fraction of it: plus or minus this. 0 = not known. */
double budget_windows_error(const struct budget_windows *windows);

struct budget {
	double most;      /* share of a CPU; 0 = no limit */
	uint64_t n_apart; /* one in this many calls is measured, for functions that are called too often; 0 =
			     every call */
	enum budget_phase phase;
	uint64_t due_ns; /* when there is something to do; 0 = at the next tick */
	struct budget_cycle cycle;
	uint64_t ending_ns; /* when the phase began */
	uint64_t n_open;    /* calls that had not ended when the window was opened, and never will */
	uint64_t looked_ns; /* when rates were last computed */
	uint64_t random;
	uint64_t entries[TRACE_FUNCTIONS_MAX]; /* at that time */
	double rate[TRACE_FUNCTIONS_MAX];      /* calls per second while their probes were set */
	struct budget_windows windows[TRACE_FUNCTIONS_MAX];
	struct budget_windows slowed; /* the share of a CPU that probes cost in a window */
};

void budget_init(struct budget *budget, double most, uint64_t now);
/* To be called at least every half second. Adds notes to the trace. */
void budget_tick(struct budget *budget, struct trace *trace, struct perf_probe *probe, uint64_t now);
/* At the end: notes how exact extrapolated counts are. */
void budget_note_error(const struct budget *budget, struct trace *trace);
/* When it must be called again; 0 = at any time. */
uint64_t budget_due(const struct budget *budget);
