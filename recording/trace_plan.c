/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_plan: what a trace costs; shows what it would do, without doing it.
 */
#include "collector/live/perf_source.h"
#include "recording/trace.h"

/* CPU time of a probe at an instruction that the kernel emulates, and of the record with a stack at the end
 * of a call; measured, see docs/trace.md. */
#define EMULATED_NS 500.0
#define RECORD_NS 1500.0

double trace_call_ns(const struct trace *trace, const struct chosen_function *f)
{
	bool is_free = !f->exits_in_code && f->is_exit_stepped; /* the exit, of single-stepping */
	unsigned n = trace->grants ? 1 : 2, n_stepped = f->n_stepped - is_free;

	n_stepped = n_stepped < n ? n_stepped : n;
	return n_stepped * trace->stepped_ns + (n - n_stepped) * EMULATED_NS +
	       (trace->grants ? 0 : RECORD_NS);
}

void trace_plan(const struct trace *trace, struct images *images, const struct source *source, double seconds,
		struct text *ret)
{
	text_printf(ret, "%12s %8s %10s %10s %8s  %s\n", "entry", "exits", "a call", "calls/s", "of a CPU",
		    "function");
	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		const struct chosen_function *f = &trace->chosen.functions.at[i];
		const struct image *image = images_get(images, f->image);
		double ns = trace_call_ns(trace, f);
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
