/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality_table: everything that is known about the quality of a profile, and its cost, as a table.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/number.h"
#include "report/quality.h"
#include "report/tree/costs.h"
#include "report/tree/document.h"

#define MODULE_ROWS 8
#define TAKEN_NS 2200u       /* what a sample takes from the target ... */
#define TAKEN_KB_NS 95u      /* ... plus this for each KB of stack that is copied ... */
#define TAKEN_DEEP_NS 10000u /* ... and this if the stack is deeper */

static void quality_table_put(struct text *ret, const char *what, uint64_t value, uint64_t whole)
{
	char count[NUMBER_MAX], share[NUMBER_MAX];

	text_printf(ret, "  %-26s%14s", what, number_count(value, count));
	if (whole)
		text_printf(ret, "  %7s", number_percent(number_share(value, whole), share));
	text_printf(ret, "\n");
}

static void quality_table_row(struct text *ret, const char *what, uint64_t value, uint64_t whole)
{
	CLEANUP(text_done) struct text words = { 0 };

	quality_add_words(&words, what);
	quality_table_put(ret, words.at, value, whole);
}

static void quality_table_account_row(const struct quality_account *account, const char *what, double value,
				      struct text *ret)
{
	char number[NUMBER_MAX], share[NUMBER_MAX];
	uint64_t size = (uint64_t)(value < 0 ? -value : value);

	text_printf(ret, "  %-26s%s%*s  %7s\n", what, value < 0 ? "-" : "", value < 0 ? 13 : 14,
		    account->is_time ? number_time(size, number) : number_count(size, number),
		    number_percent(100 * value / (double)account->counted, share));
}

/* Every part of it, so that what is missing is visible. */
static void quality_table_account(const struct profile *profile, struct text *ret)
{
	struct quality_account account;

	if (!quality_account(profile, &account))
		return;
	quality_add_what(ret, profile);
	text_printf(ret, "\n");
	quality_table_account_row(&account, "counted by the kernel", (double)account.counted, ret);
	quality_table_account_row(&account, "in samples", (double)account.sampled, ret);
	quality_table_account_row(&account, "lost with samples", (double)account.lost, ret);
	if (account.idle)
		quality_table_account_row(&account, "of idle CPUs", (double)account.idle, ret);
	if (account.others)
		quality_table_account_row(&account, "of other processes", (double)account.others, ret);
	quality_table_account_row(&account,
				  account.between < 0          ? "excess in samples"
				  : profile->run.is_checkpoint ? "not received, or between"
				  : account.has_kernel         ? "in the kernel, or between"
							       : "between samples",
				  (double)account.between, ret);
}

static void quality_table_tallies(const struct profile *profile, struct text *ret)
{
	const struct profile_quality *quality = &profile->quality;
	uint64_t steps = 0;

	text_printf(ret, "how stacks ended\n");
	for (int end = 0; end < STACK_END_N; end++)
		if (quality->by_end[end] || end == STACK_COMPLETE)
			quality_table_row(ret, stack_end_name((enum stack_end)end), quality->by_end[end],
					  quality->samples);
	for (int witness = 0; witness < WITNESS_N; witness++)
		steps += quality->steps_by_witness[witness];
	if (steps)
		text_printf(ret, "frames unwound by\n");
	for (int witness = 0; witness < WITNESS_N; witness++)
		if (quality->steps_by_witness[witness])
			quality_table_row(ret, witness_name((enum witness)witness),
					  quality->steps_by_witness[witness], steps);
}

/* Incomplete samples by the module of their outermost frame; the last entry: in no module. */
static uint64_t *quality_ended_in(const struct profile *profile, const struct scope_tree *tree,
				  const struct costs *costs)
{
	size_t n_images = profile->images.n, n_nodes = scope_tree_n_nodes(tree);
	uint64_t *by_image = alloc_zero(n_images + 1, sizeof(*by_image));

	for (uint32_t i = 1; i < n_nodes; i++) {
		struct scope scope = scope_at(tree, i);
		if (scope.kind != SCOPE_INCOMPLETE && scope_kind(tree, scope.parent) == SCOPE_INCOMPLETE)
			by_image[scope.image < n_images ? scope.image : n_images] +=
				costs_inclusive(costs, i, 0);
	}
	return by_image;
}

void quality_ends_each(const struct profile *profile, const struct scope_tree *tree,
		       const struct costs *costs,
		       void (*put)(void *context, const char *module, uint64_t samples), void *context)
{
	CLEANUP(freep) uint64_t *by_image = quality_ended_in(profile, tree, costs);

	for (;;) {
		size_t most = 0;
		for (size_t i = 1; i <= profile->images.n; i++)
			most = by_image[i] > by_image[most] ? i : most;
		if (!by_image[most])
			return;
		put(context, most < profile->images.n ? profile_image_name(profile, (image_id)most) : NULL,
		    by_image[most]);
		by_image[most] = 0;
	}
}

struct module_rows {
	struct text *to;
	const struct style *style;
	uint64_t samples, left; /* in total; in modules beyond the last row */
	int n;
};

static void quality_table_put_module(void *context, const char *module, uint64_t samples)
{
	struct module_rows *rows = context;
	CLEANUP(text_done) struct text name = { 0 };

	if (rows->n++ >= MODULE_ROWS) {
		rows->left += samples;
		return;
	}
	if (rows->n == 1)
		text_printf(rows->to, "where stacks ended early\n");
	style_safe(&name, rows->style, module ? module : "in no module");
	quality_table_put(rows->to, name.at, samples, rows->samples);
}

static void quality_table_modules(const struct profile *profile, const struct scope_tree *tree,
				  const struct costs *costs, const struct style *style, struct text *ret)
{
	struct module_rows rows = { ret, style, profile->quality.samples, 0, 0 };

	quality_ends_each(profile, tree, costs, quality_table_put_module, &rows);
	if (rows.left)
		quality_table_row(ret, "other modules", rows.left, rows.samples);
}

/*
 * An estimate of what sampling took from the target: the interrupt, and copying a stack. Measured on one
 * machine (docs/benchmarks.md), so it is only the order of magnitude; stacks that are not as deep as
 * --stack-size take less.
 */
static uint64_t quality_taken(const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;

	return quality->samples * (TAKEN_NS + TAKEN_KB_NS * (profile->run.stack_size >> 10)) +
	       quality->outer * TAKEN_DEEP_NS;
}

void quality_changes_each(const struct profile *profile,
			  void (*put)(void *context, const char *name, uint64_t value), void *context)
{
	if (!profile->quality.locked_kb) /* an import, or not recorded */
		return;
	put(context, "target_ns_estimated", quality_taken(profile));
	put(context, "locked_kb", profile->quality.locked_kb);
	put(context, "priority_raised_by", profile->quality.raised_by);
}

static void quality_table_changes(const struct profile *profile, struct text *ret)
{
	const struct profile_quality *quality = &profile->quality;
	char number[NUMBER_MAX];

	if (!quality->locked_kb)
		return;
	text_printf(ret, "  %-26s%14s\n", "taken from the target, ~",
		    number_time(quality_taken(profile), number));
	text_printf(ret, "changed on the machine\n");
	text_printf(ret, "  %-26s%14s\n", "locked memory",
		    number_value(quality->locked_kb * 1024, "bytes", number));
	text_printf(ret, "  %-26s%14llu\n", "priority raised by", (unsigned long long)quality->raised_by);
}

void quality_table(const struct profile *profile, const struct scope_tree *tree, const struct costs *costs,
		   const struct style *style, struct text *ret)
{
	const struct profile_quality *quality = &profile->quality;
	char number[NUMBER_MAX];

	text_printf(ret, "samples\n");
	quality_table_row(ret, "received", quality->samples, 0);
	quality_table_row(ret, "lost", quality->lost, quality->samples + quality->lost);
	quality_table_row(ret, "times throttled", quality->throttled, 0);
	quality_table_row(ret, "reached the stack's end", quality->clipped, quality->samples);
	if (quality->outer)
		quality_table_row(ret, "deeper than --stack-size", quality->outer, quality->samples);
	if (profile->run.is_resolved) {
		quality_table_row(ret, "without a name", quality->unsymbolized, quality->samples);
		quality_table_row(ret, "without a line", quality->without_lines, quality->samples);
	}
	quality_table_account(profile, ret);
	quality_table_tallies(profile, ret);
	if (tree && costs)
		quality_table_modules(profile, tree, costs, style, ret);
	text_printf(ret, "cost\n");
	if (quality->own_cpu_ns) /* not of an import, whose cost is not stored */
		text_printf(ret, "  %-26s%14s\n", "cpprof's CPU time",
			    number_time(quality->own_cpu_ns, number));
	if (quality->own_peak_kb)
		text_printf(ret, "  %-26s%14s\n", "cpprof's peak memory",
			    number_value(quality->own_peak_kb * 1024, "bytes", number));
	text_printf(ret, "  %-26s%11.0f Hz\n", "effective rate", quality_rate(profile));
	quality_table_changes(profile, ret);
	if (quality->damaged_units)
		quality_table_row(ret, "corrupt debug units", quality->damaged_units, 0);
	for (size_t i = 0; i < profile->notes.n; i++) {
		text_printf(ret, "%snote: ", i ? "" : "\n");
		style_safe(ret, style, intern_text(&profile->strings, profile->notes.at[i]));
		text_printf(ret, "\n");
	}
}
