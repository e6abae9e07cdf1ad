/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/diff_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/diff/stem.h"
#include "report/label.h"
#include "report/tree/view.h"

uint32_t diff_n_runs(const struct diff *diff)
{
	return diff->n_a + diff->n_b;
}

/* ---- one quantity --------------------------------------------------------------------------------- */

/* From sample counts alone: the sum of n independent samples varies by the square root of n. One is added, so
 * that a count of 0 does not mean certainty. */
static double variance_of_count(const struct diff *diff, const uint64_t *values, uint32_t run)
{
	double value = (double)values[run] * diff->factor[run];
	double samples = (double)values[diff_n_runs(diff) + run];
	double weight = samples > 0 ? value / samples : diff->weight[run];

	return (samples + 1) * weight * weight;
}

static struct run_spread spread_of_runs(const struct diff *diff, const uint64_t *values, uint32_t from,
					uint32_t n)
{
	CLEANUP(freep) double *scaled = alloc_zero(n + 1, sizeof(*scaled));
	double weight = 0;

	for (uint32_t i = 0; i < n; i++) {
		scaled[i] = (double)values[from + i] * diff->factor[from + i];
		weight += diff->weight[from + i] / n;
	}
	struct run_spread spread = run_spread_of(scaled, n);
	if (spread.variance < weight * weight)
		spread.variance = weight * weight;
	return spread;
}

struct change diff_change(const struct diff *diff, const uint64_t *values, double scale)
{
	struct run_spread a = spread_of_runs(diff, values, 0, diff->n_a);
	struct run_spread b = spread_of_runs(diff, values, diff->n_a, diff->n_b);
	struct change change = { .a = a.mean, .b = b.mean };

	a.mean *= scale;
	a.variance *= scale * scale;
	if (diff->from_runs) {
		change.welch = welch_of_runs(&a, &b);
	} else {
		double left = 0, right = 0;
		for (uint32_t i = 0; i < diff->n_a; i++)
			left += variance_of_count(diff, values, i) / diff->n_a / diff->n_a;
		for (uint32_t i = 0; i < diff->n_b; i++)
			right += variance_of_count(diff, values, diff->n_a + i) / diff->n_b / diff->n_b;
		change.welch = welch_of_known(a.mean, left * scale * scale, b.mean, right);
	}
	double half = welch_half_width(&change.welch, DIFF_CONFIDENCE);
	change.delta = change.welch.delta;
	change.low = change.delta - half;
	change.high = change.delta + half;
	change.p = welch_p(&change.welch);
	return change;
}

struct change diff_means(const struct diff *diff, const uint64_t *values)
{
	struct change change = { 0 };

	for (uint32_t i = 0; i < diff->n_a; i++)
		change.a += (double)values[i] * diff->factor[i] / diff->n_a;
	for (uint32_t i = diff->n_a; i < diff_n_runs(diff); i++)
		change.b += (double)values[i] * diff->factor[i] / diff->n_b;
	change.delta = change.b - change.a;
	return change;
}

void diff_inclusive(const struct diff *diff, uint32_t scope, uint64_t *ret)
{
	for (uint32_t i = 0; i < 2 * diff_n_runs(diff); i++)
		ret[i] = costs_inclusive(&diff->costs, scope, i);
}

double diff_percent(const struct diff *diff, double value)
{
	return diff->total.a > 0 ? 100 * value / diff->total.a : 0;
}

/* ---- normalization -------------------------------------------------------------------------------- */

/* The inclusive cost of a function, by run. */
static int cost_of_scope(const struct diff *diff, const char *name, uint64_t *ret, struct diag *diag)
{
	CLEANUP(groups_done) struct groups groups;
	CLEANUP(view_done) struct view view;
	bool is_found = false;

	joint_groups(&diff->joint, GROUP_FUNCTION, &groups);
	view_groups(&diff->joint.tree, &diff->costs, &groups, &view);
	for (uint32_t row = 0; row < view.rows.n; row++) {
		const struct scope_frame *frame = scope_frame(&diff->joint.tree, view.rows.at[row].scope);
		const char *shown = intern_text(&diff->joint.names->strings, frame->name);
		const char *linkage = intern_text(&diff->joint.names->strings, frame->linkage);
		size_t len = stem_arguments(shown);
		bool is_bare = strlen(name) == len && memcmp(name, shown, len) == 0;
		if (strcmp(shown, name) != 0 && strcmp(linkage, name) != 0 && !is_bare)
			continue;
		is_found = true;
		for (uint32_t i = 0; i < diff_n_runs(diff); i++)
			ret[i] += view_inclusive(&view, row, i);
	}
	if (is_found)
		return 0;
	return diag_set(diag, -ENOENT, "cannot normalize by '%s': no function of that name was sampled",
			name);
}

static int normalize(struct diff *diff, const struct diff_normalization *by, struct diag *diag)
{
	uint32_t n = diff_n_runs(diff);
	CLEANUP(freep) uint64_t *base = alloc_zero(n + 1, sizeof(*base));
	double mean = 0;

	if (by->by == NORMALIZE_NONE)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		base[i] = by->by == NORMALIZE_TOTAL  ? costs_inclusive(&diff->costs, 0, i)
			  : by->by == NORMALIZE_TIME ? by->duration_ns[i]
						     : 0;
	if (by->by == NORMALIZE_SCOPE) {
		int error = cost_of_scope(diff, by->scope, base, diag);
		if (error < 0)
			return error;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (base[i] == 0)
			return diag_set(diag, -ENOENT, "cannot normalize: run %u has no cost to divide by",
					i + 1);
		mean += i < diff->n_a ? (double)base[i] / diff->n_a : 0;
	}
	for (uint32_t i = 0; i < n; i++)
		diff->factor[i] = mean / (double)base[i];
	return 0;
}

int diff_init(struct diff *diff, struct joint *joint, uint32_t n_a, uint32_t n_b,
	      const struct diff_normalization *normalization, struct diag *diag)
{
	uint32_t n = n_a + n_b;

	*diff = (struct diff){ .joint = *joint, .n_a = n_a, .n_b = n_b, .from_runs = n_a > 1 && n_b > 1 };
	*joint = (struct joint){ 0 };
	costs_init(&diff->costs, &diff->joint.tree, NULL);
	diff->factor = alloc_zero(n, sizeof(*diff->factor));
	diff->weight = alloc_zero(n, sizeof(*diff->weight));
	for (uint32_t i = 0; i < n; i++)
		diff->factor[i] = 1;
	int error = normalize(diff, normalization, diag);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t samples = costs_inclusive(&diff->costs, 0, n + i);
		if (samples)
			diff->weight[i] = diff->factor[i] * (double)costs_inclusive(&diff->costs, 0, i) /
					  (double)samples;
	}
	CLEANUP(freep) uint64_t *values = alloc_zero(2 * n, sizeof(*values));
	diff_inclusive(diff, 0, values);
	diff->total = diff_change(diff, values, 1);
	return error;
}

void diff_done(struct diff *diff)
{
	joint_done(&diff->joint);
	costs_done(&diff->costs);
	free(diff->factor);
	free(diff->weight);
	*diff = (struct diff){ 0 };
}

/* ---- rows ----------------------------------------------------------------------------------------- */

void diff_table_done(struct diff_table *table)
{
	vec_done(&table->rows);
}

/* Marks significant rows among all that are large enough to be tested. */
static void table_test(const struct diff *diff, struct diff_table *table)
{
	double least = DIFF_TESTED * (diff->total.a + diff->total.b) / 2;
	VEC(double) p = { 0 };

	for (size_t i = 0; i < table->rows.n; i++) {
		const struct change *key = diff_key(table, &table->rows.at[i]);
		table->rows.at[i].is_tested = (key->a + key->b) / 2 >= least && key->a + key->b > 0;
		if (table->rows.at[i].is_tested)
			vec_push(&p, key->p);
	}
	CLEANUP(freep) bool *holds = alloc_zero(p.n + 1, sizeof(*holds));
	benjamini_hochberg(p.at, p.n, DIFF_FALSE_SHARE, holds);
	for (size_t i = 0, k = 0; i < table->rows.n; i++)
		if (table->rows.at[i].is_tested)
			table->n_significant += table->rows.at[i].is_significant = holds[k++];
	table->n_tested = p.n;
	vec_done(&p);
}

static double table_size(const struct diff_table *table, const struct diff_row *row)
{
	return fabs(diff_key(table, row)->delta);
}

static int compare_self(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	double x = fabs(a->self.delta), y = fabs(b->self.delta);

	return x > y ? -1 : x < y ? 1 : a->scope < b->scope ? -1 : a->scope > b->scope;
}

static int compare_total(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	double x = fabs(a->total.delta), y = fabs(b->total.delta);

	return x > y ? -1 : x < y ? 1 : a->scope < b->scope ? -1 : a->scope > b->scope;
}

double diff_cut_least(const struct diff *diff, const struct diff_cut *cut)
{
	return cut->percent / 100 * (diff->total.a > diff->total.b ? diff->total.a : diff->total.b);
}

static void table_cut(const struct diff *diff, struct diff_table *table, const struct diff_cut *cut)
{
	double least = diff_cut_least(diff, cut);
	size_t kept = 0;

	for (size_t i = 0; i < table->rows.n; i++) {
		struct diff_row row = table->rows.at[i];
		bool is_kept = table_size(table, &row) >= least && (!cut->limit || kept < cut->limit);
		if (is_kept) {
			table->rows.at[kept++] = row;
			continue;
		}
		table->n_left_out++;
		table->left_a += row.self.a;
		table->left_b += row.self.b;
	}
	table->rows.n = kept;
}

/* Everything that is in no group: code outside loops, costs without a known line. */
static void table_add_rest(const struct diff *diff, struct diff_table *table, const struct view *view)
{
	size_t n = 2 * diff_n_runs(diff);
	CLEANUP(freep) uint64_t *rest = alloc_zero(n + 1, sizeof(*rest));
	bool is_any = false;

	diff_inclusive(diff, 0, rest);
	for (uint32_t row = 0; row < view->rows.n; row++)
		for (uint32_t i = 0; i < n; i++)
			rest[i] -= view_self(view, row, i);
	for (uint32_t i = 0; i < n; i++)
		is_any |= rest[i] > 0;
	if (!is_any)
		return;
	struct change change = diff_change(diff, rest, 1);
	vec_push(&table->rows,
		 (struct diff_row){
			 .scope = DIFF_REST, .parent = UINT32_MAX, .self = change, .total = change });
}

void diff_flat(const struct diff *diff, enum group_by by, const struct diff_cut *cut, struct diff_table *ret)
{
	CLEANUP(groups_done) struct groups groups;
	CLEANUP(view_done) struct view view;

	*ret = (struct diff_table){ .by = by, .by_total = by == GROUP_LOOP };
	joint_groups(&diff->joint, by, &groups);
	view_groups(&diff->joint.tree, &diff->costs, &groups, &view);
	for (uint32_t row = 0; row < view.rows.n; row++) {
		struct diff_row found = { .scope = view.rows.at[row].scope, .parent = UINT32_MAX };
		found.self = diff_change(diff, &view.self.at[row * view.n_metrics], 1);
		found.total = diff_change(diff, &view.inclusive.at[row * view.n_metrics], 1);
		if (found.total.a > 0 || found.total.b > 0)
			vec_push(&ret->rows, found);
	}
	table_add_rest(diff, ret, &view);
	table_test(diff, ret);
	if (ret->rows.n)
		qsort(ret->rows.at, ret->rows.n, sizeof(*ret->rows.at),
		      ret->by_total ? compare_total : compare_self);
	table_cut(diff, ret, cut);
}

/* ---- texts ---------------------------------------------------------------------------------------- */

void diff_label(const struct diff *diff, const struct diff_table *table, const struct diff_row *row,
		struct text *ret)
{
	static const char *const rests[] = { [GROUP_FUNCTION] = "[in no function]",
					     [GROUP_MODULE] = "[in no module]",
					     [GROUP_FILE] = "[in no file]",
					     [GROUP_LOOP] = "[outside loops]",
					     [GROUP_LINE] = "[no line known]" };

	if (row->scope == DIFF_REST) {
		text_printf(ret, "%s", rests[table->by]);
		return;
	}
	struct scope scope = scope_at(&diff->joint.tree, row->scope);
	if (!table->is_tree && table->by == GROUP_MODULE)
		text_printf(ret, "%s", label_image(diff->joint.names, scope.image));
	else if (!table->is_tree && table->by == GROUP_FILE)
		label_place(diff->joint.names, scope.file, 0, ret);
	else
		label_scope(diff->joint.names, &scope, ret);
}

const char *diff_state(const struct diff_row *row)
{
	return row->total.a == 0 && row->total.b > 0   ? "new"
	       : row->total.b == 0 && row->total.a > 0 ? "gone"
						       : "";
}
