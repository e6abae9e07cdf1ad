/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/budget.h"

#include <math.h>

#include "base/alloc.h"
#include "base/clock.h"

#define ON_NS 300000000u     /* how long calls are watched at a time */
#define ENDING_NS 200000000u /* how long their ends are waited for */
#define LOOK_NS 250000000u   /* from one look at the rates to the next, at least */
#define APART_MAX 1000u
/*
 * CPU time that a call of a traced function costs: two probes, and a record with its stack. As measured
 * (docs/trace.md); on x86-64 the kernel steps over the return instruction.
 */
#if defined(__x86_64__)
#define CALL_NS 9000.0
#define HIT_NS 600.0
#else
#define CALL_NS 2500.0
#define HIT_NS 500.0
#endif

void budget_init(struct budget *budget, double most, uint64_t now)
{
	*budget = (struct budget){ .most = most, .since_ns = now, .looked_ns = now, .random = now };
}

uint64_t budget_due(const struct budget *budget)
{
	return budget->until_ns;
}

static double budget_call_ns(const struct trace *trace)
{
	return trace->grants ? HIT_NS : CALL_NS;
}

/* Between a half and one and a half times that. */
static uint64_t budget_about(struct budget *budget, double ns)
{
	budget->random = budget->random * 6364136223846793005u + 1442695040888963407u;
	return (uint64_t)(ns * (0.5 + (double)(budget->random >> 11) * 0x1p-53));
}

static void budget_begin(struct budget *budget, enum budget_phase phase, uint64_t now, uint64_t ns)
{
	budget->phase = phase;
	budget->since_ns = now;
	budget->until_ns = ns ? now + ns : 0;
}

/* ---- rates -------------------------------------------------------------------------------------------- */

static void budget_skip(struct budget *budget, const struct trace *trace, const struct perf_probe *probe,
			uint64_t now)
{
	budget->looked_ns = now;
	for (uint32_t i = 0; i < trace->chosen.functions.n; i++)
		budget->entries[i] = bpf_trace_count(probe->program, i).entries;
}

static void budget_look(struct budget *budget, const struct trace *trace, const struct perf_probe *probe,
			uint64_t now)
{
	double seconds = (double)(now - budget->looked_ns) / 1e9;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		uint64_t entries = bpf_trace_count(probe->program, i).entries;
		budget->rate[i] = (double)(entries - budget->entries[i]) / seconds;
		budget->entries[i] = entries;
	}
	budget->looked_ns = now;
}

static uint32_t budget_busiest(const struct budget *budget, const struct trace *trace,
			       const struct perf_probe *probe, enum probe_state state)
{
	uint32_t found = TRACE_FUNCTIONS_MAX;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++)
		if (probe->links.state[i] == state && budget->rate[i] > 0 &&
		    (found == TRACE_FUNCTIONS_MAX || budget->rate[i] > budget->rate[found]))
			found = i;
	return found;
}

static double budget_share(const struct budget *budget, const struct trace *trace,
			   const struct perf_probe *probe, enum probe_state state)
{
	double sum = 0;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++)
		sum += probe->links.state[i] == state ? budget->rate[i] : 0;
	return sum * budget_call_ns(trace) / 1e9;
}

/* ---- what follows ------------------------------------------------------------------------------------- */

static void budget_remove(struct budget *budget, struct trace *trace, struct perf_probe *probe)
{
	unsigned hits = trace->grants ? 1 : 2;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		if (probe->links.state[i] == PROBE_NEVER || budget->rate[i] * hits <= BUDGET_HITS_MAX)
			continue;
		probe_links_change(&probe->links, i, PROBE_NEVER);
		trace_note(trace,
			   alloc_printf("%s is called %.0f times a second and is no longer traced: its "
					"probes would cost too much",
					trace->chosen.functions.at[i].name, budget->rate[i]));
		budget->rate[i] = 0;
	}
}

/* Those that are called most, until what the others cost is less than half of what is allowed. */
static void budget_thin(struct budget *budget, struct trace *trace, struct perf_probe *probe)
{
	uint64_t before = budget->n_apart;
	uint32_t busiest;

	if (budget_share(budget, trace, probe, PROBE_ALWAYS) > budget->most)
		while (budget_share(budget, trace, probe, PROBE_ALWAYS) > budget->most / 2 &&
		       (busiest = budget_busiest(budget, trace, probe, PROBE_ALWAYS)) < TRACE_FUNCTIONS_MAX) {
			probe_links_change(&probe->links, busiest, PROBE_AT_TIMES);
			trace_note(trace, alloc_printf("%s is called %.0f times a second: only some of its "
						       "calls are measured, and stand for the others",
						       trace->chosen.functions.at[busiest].name,
						       budget->rate[busiest]));
		}
	double at_times = budget_share(budget, trace, probe, PROBE_AT_TIMES);
	if (at_times > 0)
		budget->n_apart = (uint64_t)ceil(at_times / (budget->most / 2));
	if (budget->n_apart > APART_MAX)
		budget->n_apart = APART_MAX;
	if (budget->n_apart < 2)
		budget->n_apart = before ? 2 : 0;
}

static void budget_stand(const struct budget *budget, const struct trace *trace,
			 const struct perf_probe *probe)
{
	for (uint32_t i = 0; i < trace->chosen.functions.n; i++)
		if (probe->links.state[i] == PROBE_AT_TIMES)
			bpf_trace_stand(probe->program, i, budget->n_apart);
}

static void budget_tick_on(struct budget *budget, struct trace *trace, struct perf_probe *probe, uint64_t now)
{
	bool was_thin = budget->n_apart > 0;

	if (now - budget->looked_ns < LOOK_NS)
		return;
	budget_look(budget, trace, probe, now);
	budget_remove(budget, trace, probe);
	budget_thin(budget, trace, probe);
	if (!budget->n_apart || (was_thin && now < budget->until_ns))
		return;
	probe_links_pause(&probe->links, false);
	budget_begin(budget, BUDGET_ENDING, now, ENDING_NS);
}

void budget_tick(struct budget *budget, struct trace *trace, struct perf_probe *probe, uint64_t now)
{
	if (budget->most == 0 || (budget->phase != BUDGET_ON && now < budget->until_ns))
		return;
	switch (budget->phase) {
	case BUDGET_ON:
		budget_tick_on(budget, trace, probe, now);
		return;
	case BUDGET_ENDING:
		probe_links_pause(&probe->links, true);
		bpf_trace_forget_calls(probe->program);
		/* What was waited is part of the time in which nothing begins. */
		budget_begin(budget, BUDGET_OFF, now,
			     budget_about(budget, (double)ON_NS * (double)(budget->n_apart - 1)));
		return;
	case BUDGET_OFF:
		budget_stand(budget, trace, probe);
		probe_links_resume(&probe->links);
		now = clock_now_ns();
		budget_skip(budget, trace, probe, now);
		budget_begin(budget, BUDGET_ON, now, ON_NS);
		return;
	}
}
