/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover: functions in text that neither a symbol nor an unwind entry covers.
 *
 * Code that is called is a function. Analysing it marks the code that it reaches (coverage.h). A pointer to
 * code that is still unmarked is also a function, if the code can be an entry. So is code at an aligned
 * address after code that does not fall through, or after traps that fill the space. Each function found is
 * analysed at once, so that the next gap is judged by what it covers. Coverage by real control flow, not
 * adjacency, prevents splitting functions.
 */
#include "binary/flow/entry.h"
#include "binary/flow/flow.h"
#include "binary/functions/coverage.h"
#include "binary/functions/filled.h"
#include "binary/functions/function_private.h"
#include "binary/functions/sketch.h"
#include "binary/functions/suspect.h"

#include <string.h>

#define MAX_ROUNDS 4  /* passes over the gaps; later ones find next to nothing */
#define MANY_TRAPS 2  /* this many consecutive ones are padding */
#define MAX_JUMPERS 8 /* jumps to one address that are considered */

struct discovery {
	struct functions *functions;
	const struct isa *isa;
	struct vaddr_range gap,
		window; /* functions are searched in the window, which is all or part of the gap */
	struct function_starts found;
	VEC(uint64_t)
	tails; /* targets of jumps that look like tail calls; they are starts only if nothing else reaches
		  them */
	bool only_inferred; /* unwind entries cover the rest, which need not be analysed for small gaps */
	bool only_aligned;  /* other addresses are not considered yet */
	bool has_coverage;  /* coverage of the functions in the current index */
	struct coverage coverage;
	struct sketches sketches;
	struct filled filled; /* code in the window that is certainly one function each */
};

static bool discover_is_aligned(const struct discovery *d, uint64_t vaddr)
{
	return !d->isa->call_pushes_ra || vaddr % 16 == 0;
}

static bool discover_is_covered(const struct discovery *d, uint64_t vaddr)
{
	return evidence_has(d->functions, EVIDENCE_COVERED, vaddr);
}

static bool discover_is_in_window(const struct discovery *d, uint64_t vaddr)
{
	return vaddr >= d->window.start && vaddr < d->window.end;
}

static bool discover_begins(struct discovery *d, uint64_t vaddr)
{
	struct sketch first;

	return sketch_at(&d->sketches, vaddr, UINT64_MAX, &first) &&
	       (first.is_prologue || first.is_entry_mark);
}

/* Is it aligned, or does it begin like a function? */
static bool discover_may_begin(struct discovery *d, uint64_t vaddr)
{
	return discover_is_aligned(d, vaddr) || discover_begins(d, vaddr);
}

/* In no function, or in one whose bounds are only inferred? */
static bool discover_is_free(const struct discovery *d, uint64_t vaddr)
{
	uint32_t index = functions_index(d->functions, vaddr);

	return index == FUNCTION_NONE ||
	       (function_is_inferred(&d->functions->at[index]) && d->functions->at[index].start != vaddr);
}

static void discover_add(struct discovery *d, uint64_t vaddr, uint16_t source)
{
	vec_push(&d->found.list, ((struct function_start){ .vaddr = vaddr,
							   .kind = FUNCTION_WHOLE,
							   .sources = source,
							   .preference = PREFER_OTHER }));
}

/* --- results of the analysis of a function ------------------------------------------------------- */

/* Targets that are only reached by jumps in entry-like state, like tail calls, and not by falling through. */
static void discover_note_tail_targets(struct discovery *d, const struct flow *flow)
{
	const struct flow_part *part = &flow->parts.at[0];

	for (uint32_t i = part->first + 1; flow->is_inferred && i < part->first + part->n; i++) {
		if ((flow->flags.at[i] & (INSN_TAIL_TARGET | INSN_OTHER_TARGET)) != INSN_TAIL_TARGET ||
		    filled_piece(&d->filled, flow->vaddrs.at[i]))
			continue;
		bool is_behind_stop =
			flow->insns.at[i - 1].flow == FLOW_STOP; /* a trap in the middle of a function */
		bool begins = (flow->vaddrs.at[i] % 16 == 0 && !is_behind_stop) ||
			      entry_is_beginning(flow->isa, flow_insn(flow, i));
		if (begins && sketch_is_entry(&d->sketches, flow->vaddrs.at[i]))
			discover_add(d, flow->vaddrs.at[i], FROM_GAP);
	}
	for (uint32_t i = 0; i < flow->insns.n; i++) {
		uint64_t target = flow->insns.at[i].target;
		bool is_tail = (flow->flags.at[i] & INSN_TAIL) && (flow->flags.at[i] & INSN_EXIT_PASSES);
		if (is_tail && target && discover_is_in_window(d, target) && discover_is_free(d, target) &&
		    !filled_piece(&d->filled, target) && functions_text(d->functions, target) &&
		    discover_may_begin(d, target))
			vec_push(&d->tails, target);
	}
}

static void discover_note_flow(void *context, uint32_t function, struct flow *flow)
{
	struct discovery *d = context;

	(void)function;
	if (flow->parts.n == 0)
		return;
	coverage_note(&d->coverage, flow);
	discover_note_tail_targets(d, flow);
}

/* Functions with inferred ends end at the end of the window at the latest. */
static void discover_end_at_window(struct discovery *d)
{
	size_t first, end;

	coverage_functions(&d->coverage, &first, &end);
	for (size_t i = first; i < end; i++) {
		struct function *f = &d->functions->at[i];
		if (function_is_inferred(f) && discover_is_in_window(d, f->start) && f->end > d->window.end)
			f->end = d->window.end;
	}
}

static void discover_merge_finds(struct discovery *d)
{
	struct function_starts starts;
	size_t first, end;

	coverage_functions(&d->coverage, &first, &end);
	function_starts_sort(&d->found);
	functions_starts(d->functions, first, end, &d->found, &starts);
	vec_clear(&d->found.list);
	functions_merge(d->functions, first, end, &starts);
	vec_done(&starts.list);
	coverage_functions(&d->coverage, &first, &end);
	functions_apply_evidence(d->functions, first, end);
}

/* A function is decoded up to its end, so an inferred end is moved from the next known start, which may be
 * far away, to where its code has certainly ended. */
static void discover_end_where_closed(struct discovery *d)
{
	size_t first, end;

	coverage_functions(&d->coverage, &first, &end);
	for (size_t i = first; i < end; i++) {
		struct function *f = &d->functions->at[i];
		bool is_open = function_is_inferred(f) && !f->is_analysed && !(f->sources & FROM_FILL);
		if (is_open && discover_is_in_window(d, f->start))
			f->end = sketch_closed_end(&d->sketches, f->start, f->end);
	}
}

/* Merges the finds into the index and analyses new functions. False if there were none. */
static bool discover_take_finds(struct discovery *d)
{
	size_t before = d->functions->n;

	for (size_t i = 0; i < d->tails.n; i++)
		if (!discover_is_covered(d, d->tails.at[i]))
			discover_add(d, d->tails.at[i], FROM_GAP);
	vec_clear(&d->tails);
	if (d->found.list.n == 0 && d->has_coverage)
		return false;
	if (d->found.list.n)
		discover_merge_finds(d);
	discover_end_at_window(d);
	discover_end_where_closed(d);
	struct analyse_options options = { .only_inferred = d->only_inferred,
					   .skips_guesses = true,
					   .window = d->window };
	functions_analyse_some(d->functions, options, discover_note_flow, d);
	coverage_apply(&d->coverage);
	d->has_coverage = true;
	return d->functions->n != before;
}

/* --- where starts come from ------------------------------------------------------------------- */

/* AArch64: the label after a switch jump, to which the entries of its table are relative. */
static bool discover_is_table_base(struct discovery *d, uint64_t at)
{
	struct sketch insn;

	return d->isa->min_insn == 4 && at >= 4 && sketch_at(&d->sketches, at - 4, at, &insn) &&
	       insn.flow == FLOW_JUMP_INDIRECT;
}

static void discover_judge_evidence(struct discovery *d, enum evidence what, uint8_t source, uint64_t at)
{
	bool is_pointer = what != EVIDENCE_CALLED;
	bool is_new =
		is_pointer ? functions_index(d->functions, at) == FUNCTION_NONE && !discover_is_covered(d, at)
			   : discover_is_free(d, at);

	if (!discover_is_in_window(d, at) ||
	    (what == EVIDENCE_TAKEN &&
	     (discover_is_table_base(d, at) || functions_is_array(d->functions, at))) ||
	    (is_pointer && filled_piece(&d->filled, at)) || (d->only_aligned && !discover_is_aligned(d, at)))
		return;
	if (is_new && at % d->isa->min_insn == 0 && (!is_pointer || sketch_is_entry(&d->sketches, at)) &&
	    !(d->only_aligned && what == EVIDENCE_POINTED && !discover_begins(d, at)))
		discover_add(d, at, source);
}

/* Every address with this evidence; pointers are used only outside code that is already covered. */
static void discover_find_by_evidence(struct discovery *d, enum evidence what, uint8_t source)
{
	const struct functions_private *p = d->functions->private;

	for (size_t i = 0; i < p->text.n; i++) {
		const struct text_range *range = &p->text.at[i];
		const uint64_t *bits = evidence_bits(range, what);
		uint64_t end = range->end < d->window.end ? range->end : d->window.end;
		size_t word = d->window.start > range->start ? text_bit(range, d->window.start) / 64 : 0;
		for (; end > range->start && word <= text_bit(range, end) / 64; word++)
			for (uint64_t left = bits[word]; left; left &= left - 1)
				discover_judge_evidence(
					d, what, source,
					text_vaddr(range, word * 64 + (unsigned)__builtin_ctzll(left)));
	}
	discover_take_finds(d);
}

/* --- after traps ------------------------------------------------------------------------------ */

/* The number of traps before an address, as far as it matters: one or more. */
static unsigned discover_count_traps(const struct discovery *d, uint64_t at, uint64_t start)
{
	const struct isa *isa = d->isa;
	unsigned n = 0;

	for (; n < MANY_TRAPS && at - start > n * isa->min_insn; n++) {
		uint64_t before = at - (n + 1) * isa->min_insn;
		struct insn insn;
		if (isa->decode(image_code(d->functions->image, before), before, &insn) < 0 || !insn.is_fill)
			break;
	}
	return n;
}

/* A single trap may follow a call that does not return: then more evidence for a function is needed. */
static bool discover_is_behind_traps(struct discovery *d, uint64_t at, uint64_t start)
{
	unsigned n = discover_count_traps(d, at, start);
	struct sketch first;

	if (n == 0 || discover_is_covered(d, at) || !sketch_at(&d->sketches, at, UINT64_MAX, &first) ||
	    first.is_padding)
		return false;
	return entry_makes_frame(d->isa, d->functions->image, at) ||
	       (n == MANY_TRAPS && sketch_is_code(&d->sketches, at));
}

/* Control does not pass through traps. If they fill the space up to an aligned address, a function starts
 * there. The same bytes in known code are a constant, such as the one for dividing by ten. */
static void discover_find_behind_traps(struct discovery *d)
{
	const struct functions_private *p = d->functions->private;

	if (d->isa->min_insn != 1) /* nops and zeros fill the space there, or see filled.h */
		return;
	for (size_t i = 0; i < p->text.n; i++) {
		const struct text_range *range = &p->text.at[i];
		uint64_t start = range->start > d->window.start ? range->start : d->window.start;
		uint64_t end = range->end < d->window.end ? range->end : d->window.end;
		for (uint64_t at = (start + 15) / 16 * 16; at < end; at += 16) {
			uint32_t index = functions_index(d->functions, at);
			const struct function *f = index == FUNCTION_NONE ? NULL : &d->functions->at[index];
			if (f && !function_is_inferred(f)) {
				at = (f->end - 1) / 16 * 16;
				continue;
			}
			if (discover_is_behind_traps(d, at, start))
				discover_add(d, at, FROM_GAP | FROM_TRAPS);
		}
	}
}

/* Does a function seem to start after this call? */
static bool discover_is_last_call(struct discovery *d, const struct sketch *call, uint64_t next, uint64_t end)
{
	struct sketch first;

	if (call->flow != FLOW_CALL && call->flow != FLOW_CALL_INDIRECT)
		return false;
	if (call->flow == FLOW_CALL && !functions_returns(d->functions, call->target))
		return true;
	return discover_is_aligned(d, next) && sketch_at(&d->sketches, next, end, &first) &&
	       first.is_prologue;
}

/* The end of the straight-line code at `at`, which is not a function: it ends where control leaves it. */
static uint64_t discover_skip_run(struct discovery *d, uint64_t at, uint64_t end)
{
	struct sketch insn;

	while (at < end && !discover_is_covered(d, at)) {
		if (!sketch_at(&d->sketches, at, end, &insn))
			return at + d->isa->min_insn;
		at += insn.len;
		if (insn.flow == FLOW_JUMP || insn.flow == FLOW_RETURN || insn.flow == FLOW_STOP ||
		    insn.flow == FLOW_JUMP_INDIRECT || discover_is_last_call(d, &insn, at, end))
			return at;
	}
	return at;
}

/* Is there a function at this address, judging by its own code? If so, marks what it reaches as covered. */
static bool discover_try_start(struct discovery *d, struct flow *flow, uint64_t at, uint64_t end)
{
	if (!discover_may_begin(d, at) || !sketch_is_entry(&d->sketches, at) ||
	    sketch_runs_into_data(&d->sketches, at, end))
		return false;
	if (!suspect_is_function(d->functions, flow, at, end))
		return false;
	coverage_add(&d->coverage, flow);
	return true;
}

/* One gap between intervals: searches for starts after each run of code. */
static void discover_sweep_gap(struct discovery *d, struct flow *flow, uint64_t from, uint64_t to)
{
	uint64_t aligned = 0; /* the last aligned address in the padding above; 0 = none */

	for (uint64_t at = from; at < to;) {
		struct sketch insn;
		bool is_code = !discover_is_covered(d, at) && sketch_at(&d->sketches, at, to, &insn);
		if (!is_code || (insn.is_padding && !insn.is_entry_mark)) {
			aligned = !is_code ? 0 : at % 16 == 0 ? at : aligned;
			at += is_code ? insn.len : d->isa->min_insn;
			continue;
		}
		/* Padding aligns the following code: if an aligned nop precedes unaligned code, the function
		 * starts at the nop. */
		uint64_t start = aligned && at % 16 ? aligned : at;
		aligned = 0;
		if (discover_try_start(d, flow, start, to))
			discover_add(d, start, FROM_GAP);
		else
			at = discover_skip_run(d, at, to);
	}
}

static void discover_sweep(struct discovery *d)
{
	const struct functions_private *p = d->functions->private;
	struct flow flow;

	flow_init(&flow, functions_facts(d->functions));
	flow.skips_guesses = true;
	for (size_t i = 0; i < p->text.n; i++) {
		uint64_t at = p->text.at[i].start > d->window.start ? p->text.at[i].start : d->window.start;
		uint64_t end = p->text.at[i].end < d->window.end ? p->text.at[i].end : d->window.end;
		while (at < end) {
			uint32_t index = functions_index(d->functions, at);
			if (index != FUNCTION_NONE) {
				at = d->functions->at[index].end;
				continue;
			}
			uint64_t next = functions_next_start(d->functions, at);
			discover_sweep_gap(d, &flow, at, next < end ? next : end);
			at = next;
		}
	}
	flow_done(&flow);
}

/* Does code in the gap, but outside the window, jump there? Then it belongs to that code: functions share
 * their ends. */
static bool discover_is_others(struct discovery *d, uint64_t at)
{
	uint64_t from[MAX_JUMPERS];
	size_t n = 0;

	if (d->gap.start < d->window.start || d->gap.end > d->window.end)
		n = functions_jumpers(d->functions, at, at + 1, from, MAX_JUMPERS);
	for (size_t i = 0; i < n && i < MAX_JUMPERS; i++)
		if (!discover_is_in_window(d, from[i]) && from[i] >= d->gap.start && from[i] < d->gap.end &&
		    sketch_is_code(&d->sketches, from[i]))
			return true;
	return false;
}

/* The end of the unreached code at `at`, without trailing padding. */
static uint64_t discover_unreached_end(struct discovery *d, uint64_t at, uint64_t limit)
{
	uint64_t end = at;

	while (at < limit && !discover_is_covered(d, at) && !discover_is_others(d, at)) {
		struct sketch insn;
		bool is_code = sketch_at(&d->sketches, at, limit, &insn);
		at += is_code ? insn.len : d->isa->min_insn;
		if (is_code && !insn.is_padding)
			end = at;
	}
	return end;
}

/*
 * Unreached code after a function, such as landing pads, is assumed to belong to it: it gets the function's
 * usual frame.
 */
static void discover_extend_functions(struct discovery *d)
{
	size_t first, end;

	coverage_functions(&d->coverage, &first, &end);
	for (size_t i = first; i < end; i++) {
		struct function *f = &d->functions->at[i];
		const struct text_range *range = functions_text(d->functions, f->start);
		uint64_t next = functions_next_start(d->functions, f->start);

		if (!range || !function_is_inferred(f) || !discover_is_in_window(d, f->start))
			continue;
		uint64_t limit = range->end < d->window.end ? range->end : d->window.end;
		f->end = discover_unreached_end(d, f->end, limit < next ? limit : next);
	}
}

/* A window may be wider than the text. Nothing is cached if everything is searched but unwind entries leave
 * little except padding. */
static void discover_begin_sketches(struct discovery *d)
{
	const struct functions_private *p = d->functions->private;
	struct vaddr_range text = { UINT64_MAX, 0 };

	for (size_t i = 0; i < p->text.n; i++) {
		text.start = p->text.at[i].start < text.start ? p->text.at[i].start : text.start;
		text.end = p->text.at[i].end > text.end ? p->text.at[i].end : text.end;
	}
	text.start = d->window.start > text.start ? d->window.start : text.start;
	text.end = d->window.end < text.end ? d->window.end : text.end;
	if (d->only_inferred && d->window.end == UINT64_MAX)
		text.end = text.start;
	sketches_init(&d->sketches, d->functions, text.start, text.end);
}

void functions_discover(struct functions *functions, struct vaddr_range gap, struct vaddr_range window)
{
	bool has_frames = functions->frames && frames_count(functions->frames);
	struct discovery d = { .functions = functions,
			       .isa = functions->isa,
			       .gap = gap,
			       .window = window,
			       .only_inferred = has_frames };

	discover_begin_sketches(&d);
	coverage_init(&d.coverage, functions, window);
	filled_find(&d.filled, functions, window);
	filled_starts(&d.filled, &d.found);
	discover_find_by_evidence(&d, EVIDENCE_CALLED, FROM_CALL);
	d.only_aligned = true; /* a number may look like an address: others are tried last */
	discover_find_by_evidence(&d, EVIDENCE_TAKEN, FROM_ADDRESS);
	if (!has_frames) /* an address inside a function that only pointers lead to is not another one */
		discover_find_by_evidence(&d, EVIDENCE_POINTED, FROM_POINTER);
	d.only_aligned = false;
	discover_find_by_evidence(&d, EVIDENCE_TAKEN, FROM_ADDRESS);
	if (!has_frames && window.end != UINT64_MAX) { /* not all callers were seen: gaps before pointers */
		discover_sweep(&d);
		discover_take_finds(&d);
	}
	discover_find_by_evidence(&d, EVIDENCE_POINTED, FROM_POINTER);
	discover_find_behind_traps(&d);
	discover_take_finds(&d);
	for (unsigned round = 0; round < MAX_ROUNDS; round++) {
		discover_sweep(&d);
		if (!discover_take_finds(&d))
			break;
	}
	discover_extend_functions(&d);
	vec_done(&d.found.list);
	vec_done(&d.tails);
	filled_done(&d.filled);
	coverage_done(&d.coverage);
	sketches_done(&d.sketches);
}
