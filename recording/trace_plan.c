/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_plan: shows what a trace would do, without doing it.
 */
#include <elf.h>

#include "collector/live/perf_source.h"
#include "recording/returns.h"
#include "recording/trace.h"

/* CPU time of a probe, and of the record with a stack at the end of a call; measured, see docs/trace.md. */
struct plan_cost {
	double emulated_ns, stepped_ns, record_ns;
};

static struct plan_cost plan_cost_of(const struct image *image)
{
	return image->elf_machine == EM_X86_64 ? (struct plan_cost){ 500, 6500, 1500 }
					       : (struct plan_cost){ 400, 600, 1500 };
}

static double plan_call_ns(const struct trace *trace, const struct chosen_function *f,
			   const struct image *image)
{
	struct plan_cost cost = plan_cost_of(image);
	bool at_return = returns_are_taken(trace->exits, f->exits.n, image->elf_machine, true);
	unsigned n = trace->grants ? 1 : 2, n_stepped = f->n_stepped - (at_return && f->is_exit_stepped);

	n_stepped = n_stepped < n ? n_stepped : n;

	return n_stepped * cost.stepped_ns + (n - n_stepped) * cost.emulated_ns +
	       (trace->grants ? 0 : cost.record_ns);
}

void trace_plan(const struct trace *trace, struct images *images, const struct source *source, double seconds,
		struct text *ret)
{
	text_printf(ret, "%12s %8s %10s %10s %8s  %s\n", "entry", "exits", "a call", "calls/s", "of a CPU",
		    "function");
	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		const struct chosen_function *f = &trace->chosen.functions.at[i];
		const struct image *image = images_get(images, f->image);
		double ns = plan_call_ns(trace, f, image);
		double rate = seconds > 0 ? (double)perf_source_trace_count(source, i).entries / seconds : 0;
		text_printf(ret, "%#12llx %8zu %7.1f us ", (unsigned long long)f->vaddr, f->exits.n,
			    ns / 1000);
		if (seconds > 0)
			text_printf(ret, "%10.0f %7.2f%%", rate, rate * ns / 1e7);
		else
			text_printf(ret, "%10s %8s", "?", "?");
		text_printf(ret, "  %s [%s]%s\n", f->name, image_name(image),
			    !f->is_start ? ": refused, no function starts there"
			    : !f->exits.n && trace->exits == CALL_EXITS_CODE && !trace->grants
				    ? ": refused, the end of the function cannot be determined from its code"
				    : "");
	}
}
