/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/budget.h"

#include <math.h>

#include "base/alloc.h"
#include "base/clock.h"

#define ON_MOST_NS 300000000u /* how long a window is open */
#define ON_LEAST_NS 10000000u
#define CYCLE_NS 1000000000u /* how long a cycle is, if its window allows it */
#define ENDING_NS 200000000u /* how long we wait for calls to end */
#define POLL_NS 10000000u    /* ... and how often that is checked */
#define LOOK_NS 250000000u   /* at least this long between two measurements of the rates */
#define APART_MAX 1000u

void budget_init(struct budget *budget, double most, uint64_t now)
{
	*budget = (struct budget){ .most = most, .looked_ns = now, .random = now };
}

uint64_t budget_due(const struct budget *budget)
{
	return budget->due_ns;
}

static uint64_t budget_random(struct budget *budget)
{
	budget->random = budget->random * 6364136223846793005u + 1442695040888963407u;
	return budget->random;
}

/* At least 0, less than 1. */
static double budget_fraction(uint64_t random)
{
	return (double)(random >> 11) * 0x1p-53;
}

/* ---- cycles ------------------------------------------------------------------------------------------- */

struct budget_cycle budget_cycle_plan(uint64_t start_ns, uint64_t n, uint64_t random)
{
	struct budget_cycle cycle = { .start_ns = start_ns, .on_ns = CYCLE_NS / n };

	if (cycle.on_ns > ON_MOST_NS)
		cycle.on_ns = ON_MOST_NS;
	if (cycle.on_ns < ON_LEAST_NS)
		cycle.on_ns = ON_LEAST_NS;
	cycle.len_ns = cycle.on_ns * n;
	cycle.on_at_ns =
		start_ns + (uint64_t)(budget_fraction(random) * (double)(cycle.len_ns - cycle.on_ns));
	return cycle;
}

double budget_cycle_open(struct budget_cycle *cycle, uint64_t now)
{
	cycle->on_at_ns = now;
	if (cycle->start_ns + cycle->len_ns < now + cycle->on_ns)
		cycle->len_ns = now + cycle->on_ns - cycle->start_ns;
	return (double)cycle->len_ns / (double)cycle->on_ns;
}

uint64_t budget_cycle_end(const struct budget_cycle *cycle)
{
	return cycle->start_ns + cycle->len_ns;
}

/* ---- windows ------------------------------------------------------------------------------------------ */

void budget_windows_add(struct budget_windows *windows, double rate)
{
	double before = rate - windows->mean;

	windows->mean += before / (double)++windows->n;
	windows->squares += before * (rate - windows->mean);
}

/* The 97.5 % quantile of Student's t, by its expansion for many degrees of freedom; from 4 on within 2 %. */
static double budget_quantile(double df)
{
	const double z = 1.959964;

	return z + (pow(z, 3) + z) / (4 * df) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * df * df);
}

double budget_windows_error(const struct budget_windows *windows)
{
	double df = (double)windows->n - 1;

	if (windows->n < 5 || windows->mean <= 0)
		return 0;
	return budget_quantile(df) * sqrt(windows->squares / df / (double)windows->n) / windows->mean;
}

/* ---- rates -------------------------------------------------------------------------------------------- */

/* Functions that are watched part of the time have been watched for the window only. */
static void budget_look(struct budget *budget, const struct trace *trace, const struct perf_probe *probe,
			uint64_t now)
{
	double seconds = (double)(now - budget->looked_ns) / 1e9;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		uint64_t entries = bpf_trace_count(probe->program, i).entries;
		bool is_at_times = probe->links.state[i] == PROBE_AT_TIMES;
		budget->rate[i] = (double)(entries - budget->entries[i]) /
				  (is_at_times ? (double)budget->cycle.on_ns / 1e9 : seconds);
		budget->entries[i] = entries;
	}
	budget->looked_ns = now;
}

/* Calls of functions that are watched part of the time, and that have not ended. */
static uint64_t budget_open_calls(const struct trace *trace, const struct perf_probe *probe)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		if (probe->links.state[i] != PROBE_AT_TIMES)
			continue;
		struct trace_count count = bpf_trace_count(probe->program, i);
		n += count.entries - count.exits - count.abandoned;
	}
	return n;
}

/* What measuring a function costs, as a share of a CPU. */
static double budget_cost(const struct budget *budget, const struct trace *trace, uint32_t i)
{
	return budget->rate[i] * trace_call_ns(trace, &trace->chosen.functions.at[i]) / 1e9;
}

static uint32_t budget_dearest(const struct budget *budget, const struct trace *trace,
			       const struct perf_probe *probe, enum probe_state state)
{
	uint32_t found = TRACE_FUNCTIONS_MAX;
	double most = 0;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++)
		if (probe->links.state[i] == state && budget_cost(budget, trace, i) > most) {
			found = i;
			most = budget_cost(budget, trace, i);
		}
	return found;
}

static double budget_share(const struct budget *budget, const struct trace *trace,
			   const struct perf_probe *probe, enum probe_state state)
{
	double sum = 0;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++)
		if (probe->links.state[i] == state)
			sum += budget_cost(budget, trace, i);
	return sum;
}

/* ---- what follows from them --------------------------------------------------------------------------- */

static bool budget_is_exceeded(const struct budget *budget, const struct trace *trace, uint32_t i)
{
	unsigned hits = trace->grants ? 1 : 2;

	return budget->rate[i] * hits > BUDGET_HITS_MAX || budget_cost(budget, trace, i) > BUDGET_COST_MAX;
}

static void budget_remove(struct budget *budget, struct trace *trace, struct perf_probe *probe)
{
	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		if (probe->links.state[i] == PROBE_NEVER || !budget_is_exceeded(budget, trace, i))
			continue;
		probe_links_change(&probe->links, i, PROBE_NEVER);
		trace_note(trace, alloc_printf("%s is called %.0f times per second and is no longer traced: "
					       "its probes would cost too much",
					       trace->chosen.functions.at[i].name, budget->rate[i]));
		budget->rate[i] = 0;
	}
}

static void budget_watch_at_times(const struct budget *budget, struct trace *trace, struct perf_probe *probe,
				  uint32_t function)
{
	probe_links_pause(&probe->links, true);
	probe_links_change(&probe->links, function, PROBE_AT_TIMES);
	trace_note(trace, alloc_printf("%s is called %.0f times per second: only some of its calls are "
				       "measured, and the results are extrapolated",
				       trace->chosen.functions.at[function].name, budget->rate[function]));
}

/* Takes the functions that cost most, until the others cost less than half of what is allowed. */
static void budget_thin(struct budget *budget, struct trace *trace, struct perf_probe *probe)
{
	uint32_t dearest;

	if (budget_share(budget, trace, probe, PROBE_ALWAYS) > budget->most)
		while (budget_share(budget, trace, probe, PROBE_ALWAYS) > budget->most / 2 &&
		       (dearest = budget_dearest(budget, trace, probe, PROBE_ALWAYS)) < TRACE_FUNCTIONS_MAX)
			budget_watch_at_times(budget, trace, probe, dearest);
	double at_times = budget_share(budget, trace, probe, PROBE_AT_TIMES);
	if (at_times > 0)
		budget->n_apart = (uint64_t)ceil(at_times / (budget->most / 2));
	if (budget->n_apart > APART_MAX)
		budget->n_apart = APART_MAX;
	if (budget->n_apart == 1)
		budget->n_apart = 2;
}

/* Acts on the rates, once they are known. */
static void budget_judge(struct budget *budget, struct trace *trace, struct perf_probe *probe)
{
	budget_remove(budget, trace, probe);
	budget_thin(budget, trace, probe);
}

/* At the end of a window. */
static void budget_keep_window(struct budget *budget, const struct trace *trace,
			       const struct perf_probe *probe)
{
	for (uint32_t i = 0; i < trace->chosen.functions.n; i++)
		if (probe->links.state[i] == PROBE_AT_TIMES)
			budget_windows_add(&budget->windows[i], budget->rate[i]);
	budget_windows_add(&budget->slowed, budget_share(budget, trace, probe, PROBE_AT_TIMES));
}

void budget_note_error(const struct budget *budget, struct trace *trace)
{
	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		double error = budget_windows_error(&budget->windows[i]);
		if (error > 0)
			trace_note(trace,
				   alloc_printf("%s: the number of calls is extrapolated from %llu "
						"windows: +/- %.1f %%",
						trace->chosen.functions.at[i].name,
						(unsigned long long)budget->windows[i].n, 100 * error));
		else if (budget->windows[i].n)
			trace_note(trace, alloc_printf("%s: the number of calls is extrapolated from only "
						       "%llu windows: measure for longer",
						       trace->chosen.functions.at[i].name,
						       (unsigned long long)budget->windows[i].n));
	}
	if (budget->slowed.mean >= 0.01)
		trace_note(trace,
			   alloc_printf("measured calls take longer: a thread that never waits makes up to "
					"%.0f %% fewer in a window, and the extrapolated numbers are too low "
					"by as much",
					100 * fmin(budget->slowed.mean, 0.99)));
}

/* ---- phases ------------------------------------------------------------------------------------------- */

static void budget_start_cycle(struct budget *budget, uint64_t start)
{
	budget->cycle = budget_cycle_plan(start, budget->n_apart, budget_random(budget));
	budget->phase = BUDGET_OFF;
	budget->due_ns = budget->cycle.on_at_ns;
}

static void budget_open(struct budget *budget, const struct trace *trace, struct perf_probe *probe)
{
	probe_links_resume(&probe->links);
	budget->n_open = budget_open_calls(trace, probe);
	uint64_t now = clock_now_ns();
	double n = budget_cycle_open(&budget->cycle, now);
	/* Rounded up or down at random, so that the average is the exact number. */
	uint64_t n_stands = (uint64_t)(n + budget_fraction(budget_random(budget)));
	for (uint32_t i = 0; i < trace->chosen.functions.n; i++)
		if (probe->links.state[i] == PROBE_AT_TIMES)
			bpf_trace_stand(probe->program, i, n_stands);
	bpf_trace_open_window(probe->program, now + budget->cycle.on_ns);
	budget->phase = BUDGET_ON;
	budget->due_ns = now + budget->cycle.on_ns;
}

static void budget_end_cycle(struct budget *budget, struct trace *trace, struct perf_probe *probe,
			     uint64_t now)
{
	bool is_over = budget_open_calls(trace, probe) <= budget->n_open;

	if (!is_over && now < budget->ending_ns + ENDING_NS) {
		budget->due_ns = now + POLL_NS;
		return;
	}
	probe_links_pause(&probe->links, true);
	bpf_trace_forget_calls(probe->program);
	budget_look(budget, trace, probe, now);
	budget_keep_window(budget, trace, probe);
	budget_judge(budget, trace, probe);
	budget_start_cycle(budget, budget_cycle_end(&budget->cycle));
}

void budget_tick(struct budget *budget, struct trace *trace, struct perf_probe *probe, uint64_t now)
{
	if (budget->most == 0 || now < budget->due_ns)
		return;
	switch (budget->phase) {
	case BUDGET_ALL:
		if (now - budget->looked_ns < LOOK_NS)
			return;
		budget_look(budget, trace, probe, now);
		budget_judge(budget, trace, probe);
		if (budget->n_apart)
			budget_start_cycle(budget, clock_now_ns());
		return;
	case BUDGET_OFF:
		budget_open(budget, trace, probe);
		return;
	case BUDGET_ON:
		probe_links_pause(&probe->links, false);
		budget->phase = BUDGET_ENDING;
		budget->ending_ns = now;
		budget->due_ns = now + POLL_NS;
		return;
	case BUDGET_ENDING:
		budget_end_cycle(budget, trace, probe, now);
		return;
	}
}
