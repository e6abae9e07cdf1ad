/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/columns.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum column_kind {
	COLUMN_ROW,
	COLUMN_PARENT,
	COLUMN_DEPTH,
	COLUMN_KIND,
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_SELF,
	COLUMN_SELF_PERCENT,
	COLUMN_SELF_CI95,
	COLUMN_SELF_SAMPLES,
	COLUMN_TOTAL,
	COLUMN_TOTAL_PERCENT,
	COLUMN_TOTAL_CI95,
	COLUMN_TOTAL_SAMPLES,
	COLUMN_MIN,
	COLUMN_MEAN,
	COLUMN_MAX,
	COLUMN_IMBALANCE,
	COLUMN_SLOWEST,
	COLUMN_ACTIVATIONS,
	COLUMN_PER_ACTIVATION,
	COLUMN_FACTS,
	COLUMN_N,
	COLUMN_FORMULA, /* has no fixed name */
};

/* In the order of CSV and JSON. */
static const struct {
	const char *name;
	bool is_of_csv, is_of_json;
} kinds[COLUMN_N] = {
	[COLUMN_ROW] = { "row", true, false }, /* in JSON it is the index in the array */
	[COLUMN_PARENT] = { "parent", true, true },
	[COLUMN_DEPTH] = { "depth", true, true },
	[COLUMN_KIND] = { "kind", true, true },
	[COLUMN_NAME] = { "name", true, true },
	[COLUMN_MODULE] = { "module", true, true },
	[COLUMN_FILE] = { "file", true, true },
	[COLUMN_LINE] = { "line", true, true },
	[COLUMN_SELF] = { "self", true, true },
	[COLUMN_SELF_PERCENT] = { "self_percent", true, true },
	[COLUMN_SELF_CI95] = { "self_ci95", false, true },
	[COLUMN_SELF_SAMPLES] = { "self_samples", true, true },
	[COLUMN_TOTAL] = { "total", true, true },
	[COLUMN_TOTAL_PERCENT] = { "total_percent", true, true },
	[COLUMN_TOTAL_CI95] = { "total_ci95", false, true },
	[COLUMN_TOTAL_SAMPLES] = { "total_samples", true, true },
	[COLUMN_MIN] = { "min", false, false }, /* over threads, including callees */
	[COLUMN_MEAN] = { "mean", false, false },
	[COLUMN_MAX] = { "max", false, false },
	[COLUMN_IMBALANCE] = { "imbalance", false, false }, /* of threads, or of ranks of a reduced profile */
	[COLUMN_SLOWEST] = { "slowest_rank", false, false },
	[COLUMN_ACTIVATIONS] = { "activations", false, false }, /* only if requested */
	[COLUMN_PER_ACTIVATION] = { "per_activation", false, false },
	[COLUMN_FACTS] = { "facts", true, false }, /* of a loop; JSON has separate fields for them */
};

void columns_names(struct text *ret)
{
	for (unsigned i = 0; i < COLUMN_N; i++)
		text_printf(ret, "%s%s", i ? ", " : "", kinds[i].name);
}

static bool has_metric(unsigned kind)
{
	return kind == COLUMN_SELF || kind == COLUMN_SELF_PERCENT || kind == COLUMN_TOTAL ||
	       kind == COLUMN_TOTAL_PERCENT;
}

static uint32_t columns_find_metric(const struct profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile->metrics.n; i++)
		if (strcmp(intern_text(&profile->strings, profile->metrics.at[i].name), name) == 0)
			return i;
	return COLUMN_OWN_METRIC;
}

static bool column_is_of_calls(unsigned kind)
{
	return kind == COLUMN_ACTIVATIONS || kind == COLUMN_PER_ACTIVATION;
}

bool column_is_calls(const struct column *column)
{
	return column->kind == COLUMN_ACTIVATIONS;
}

bool columns_want_calls(const struct columns *columns)
{
	for (size_t i = 0; i < columns->of.n; i++)
		if (column_is_of_calls(columns->of.at[i].kind))
			return true;
	return false;
}

static bool columns_has_calls(const struct profile *profile)
{
	for (size_t i = 0; i < profile->cct.values.n; i++)
		if (profile->cct.values.at[i].metric == CCT_ACTIVATIONS)
			return true;
	return false;
}

int columns_add(struct columns *columns, const struct profile *profile, const char *name, struct diag *diag)
{
	const char *colon = strchr(name, ':');
	size_t len = colon ? (size_t)(colon - name) : strlen(name);
	struct column column = { .title = name, .metric = COLUMN_OWN_METRIC };
	struct text names = { 0 };

	while (column.kind < COLUMN_N &&
	       (strlen(kinds[column.kind].name) != len || strncmp(kinds[column.kind].name, name, len) != 0))
		column.kind++;
	if (column.kind == COLUMN_N || (colon && !has_metric(column.kind))) {
		columns_names(&names);
		diag_set(diag, -EINVAL, "there is no column '%s'", name);
		diag_why(diag,
			 "the columns are %s; self, total and their percentages can be followed by :METRIC",
			 names.at);
		text_done(&names);
		return -EINVAL;
	}
	if (colon && (column.metric = columns_find_metric(profile, colon + 1)) == COLUMN_OWN_METRIC) {
		diag_set(diag, -EINVAL, "there is no column '%s'", name);
		diag_why(diag, "this profile has no metric '%s'", colon + 1);
		return -EINVAL;
	}
	if (column_is_of_calls(column.kind) && !columns_has_calls(profile)) {
		diag_set(diag, -EINVAL, "there is no column '%s'", name);
		diag_why(diag, "this profile does not count distinct calls: it is from an older cpprof, from "
			       "a trace, or has no complete stack");
		return -EINVAL;
	}
	vec_push(&columns->of, column);
	return 0;
}

void columns_add_default(struct columns *columns, bool is_json, bool is_reduced)
{
	for (unsigned kind = 0; kind < COLUMN_N; kind++)
		if ((is_json ? kinds[kind].is_of_json : kinds[kind].is_of_csv) ||
		    (is_reduced && (kind == COLUMN_IMBALANCE || kind == COLUMN_SLOWEST)))
			vec_push(&columns->of,
				 (struct column){ kinds[kind].name, kind, COLUMN_OWN_METRIC, NULL });
	columns->is_usual = true;
}

int columns_derive(struct columns *columns, const struct profile *profile, const char *formula,
		   struct diag *diag)
{
	struct formula *parsed = alloc_zero(1, sizeof(*parsed));
	int error = formula_parse(formula, profile, parsed, diag);

	if (error) {
		free(parsed);
		return error;
	}
	vec_push(&columns->formulas, parsed);
	vec_push(&columns->of, (struct column){ parsed->label, COLUMN_FORMULA, COLUMN_OWN_METRIC, parsed });
	return 0;
}

size_t columns_derive_usual(struct columns *columns, const struct profile *profile)
{
	struct diag diag = { 0 };
	size_t n = 0;

	for (size_t i = 0; formula_usual(i); i++)
		n += columns_derive(columns, profile, formula_usual(i), &diag) == 0;
	return n;
}

bool columns_need_threads(const struct columns *columns)
{
	for (size_t i = 0; i < columns->of.n; i++)
		if (columns->of.at[i].kind >= COLUMN_MIN && columns->of.at[i].kind <= COLUMN_IMBALANCE)
			return true;
	return false;
}

void columns_done(struct columns *columns)
{
	for (size_t i = 0; i < columns->formulas.n; i++) {
		formula_done(columns->formulas.at[i]);
		free(columns->formulas.at[i]);
	}
	vec_done(&columns->formulas);
	vec_done(&columns->of);
}

bool column_is_text(const struct column *column)
{
	return column->kind == COLUMN_KIND || column->kind == COLUMN_NAME || column->kind == COLUMN_MODULE ||
	       column->kind == COLUMN_FILE || column->kind == COLUMN_FACTS;
}

bool column_is_name(const struct column *column)
{
	return column->kind == COLUMN_NAME;
}

static struct cell cost_cell(const struct text_report *report, const struct column *column,
			     const struct row_facts *facts)
{
	bool is_self = column->kind == COLUMN_SELF || column->kind == COLUMN_SELF_PERCENT;
	bool is_own = column->metric == COLUMN_OWN_METRIC;
	uint32_t metric = is_own ? report->metric : column->metric;
	uint64_t value = is_self ? view_self(facts->view, facts->view_row, metric)
				 : view_inclusive(facts->view, facts->view_row, metric);
	bool has_unit = metric < report->profile->metrics.n;

	if (column->kind == COLUMN_SELF || column->kind == COLUMN_TOTAL)
		return (struct cell){ .type = CELL_AMOUNT,
				      .number = value,
				      .text = has_unit ? intern_text(&report->profile->strings,
								     report->profile->metrics.at[metric].unit)
						       : "count" };
	if (is_own)
		return (struct cell){ .type = CELL_PERCENT,
				      .percent = is_self ? facts->self_percent : facts->total_percent };
	return (struct cell){ .type = CELL_PERCENT,
			      .percent = number_share(value, costs_inclusive(report->costs, 0, metric)) };
}

/*
 * Only functions have calls; one that is only reached by jumps had at least one. If nearly every sample shows
 * a new one, it is only known that they are shorter than the sampling interval.
 */
static struct cell calls_cell(const struct text_report *report, const struct column *column,
			      const struct row_facts *facts)
{
	uint32_t metric = report->tree->activations;
	const struct scope scope = scope_at(report->tree, facts->view->rows.at[facts->view_row].scope);
	uint64_t calls = metric ? view_self(facts->view, facts->view_row, metric) : 0;
	bool is_function = strcmp(facts->kind, "function") == 0 && facts->total_samples;

	if (is_function && !calls && scope.kind == SCOPE_FUNCTION && !(scope.flags & SCOPE_KERNEL))
		calls = 1;
	if (!is_function || !calls)
		return (struct cell){ .type = CELL_REAL, .real = NAN }; /* empty; null in JSON */
	struct cell cell = { .type = CELL_CALLS,
			     .number = calls,
			     .is_every = calls >= facts->total_samples - facts->total_samples / 10 };
	if (column->kind == COLUMN_ACTIVATIONS)
		return cell;
	cell.type = CELL_EACH;
	cell.number = facts->total / (cell.is_every ? facts->total_samples : calls);
	cell.text = report->metric < report->profile->metrics.n
			    ? intern_text(&report->profile->strings,
					  report->profile->metrics.at[report->metric].unit)
			    : "count";
	return cell;
}

static uint64_t column_all(const void *costs, uint32_t metric)
{
	return costs_inclusive(costs, 0, metric);
}

static struct cell column_formula_cell(const struct text_report *report, const struct column *column,
				       const struct row_facts *facts)
{
	size_t at = facts->view_row * facts->view->n_metrics;
	struct formula_costs costs = { &facts->view->self.at[at], &facts->view->inclusive.at[at], column_all,
				       report->costs };
	double value = formula_value(column->formula, &costs);

	return (struct cell){ .type = CELL_REAL, .real = value };
}

/* Over ranks, if the profile has no threads any more. */
static struct cell column_thread_cell(const struct text_report *report, const struct column *column,
				      const struct row_facts *facts)
{
	const struct thread_spreads *spreads = report->options->spreads;
	const char *unit = report->metric < report->profile->metrics.n
				   ? intern_text(&report->profile->strings,
						 report->profile->metrics.at[report->metric].unit)
				   : "count";

	if (!spreads && (!report->options->ranks || column->kind != COLUMN_IMBALANCE))
		return (struct cell){ .type = CELL_REAL, .real = NAN }; /* empty; null in JSON */
	if (!spreads)
		return (struct cell){ .type = CELL_PERCENT,
				      .percent = facts->imbalance < 0 ? 0 : facts->imbalance };
	struct thread_spread spread =
		thread_spreads_find(spreads, facts->view->rows.at[facts->view_row].scope);
	double imbalance = thread_spread_imbalance(&spread, spreads->n_threads);
	double mean = thread_spread_mean(&spread, spreads->n_threads);
	if (column->kind == COLUMN_IMBALANCE)
		return (struct cell){ .type = CELL_PERCENT, .percent = imbalance < 0 ? 0 : imbalance };
	return (struct cell){ .type = CELL_AMOUNT,
			      .text = unit,
			      .number = column->kind == COLUMN_MIN   ? spread.least
					: column->kind == COLUMN_MAX ? spread.most
								     : (uint64_t)(mean + 0.5) };
}

struct cell column_cell(const struct text_report *report, const struct column *column,
			const struct row_facts *facts)
{
	size_t at = facts->view_row * facts->view->n_metrics;

	switch ((enum column_kind)column->kind) {
	case COLUMN_ROW:
		return (struct cell){ .type = CELL_INDEX, .number = facts->row };
	case COLUMN_PARENT:
		return (struct cell){ .type = CELL_INDEX, .number = facts->parent };
	case COLUMN_DEPTH:
		return (struct cell){ .type = CELL_INDEX, .number = facts->depth };
	case COLUMN_KIND:
		return (struct cell){ .type = CELL_TEXT, .text = facts->kind };
	case COLUMN_NAME:
		return (struct cell){ .type = CELL_TEXT, .text = facts->name.at ? facts->name.at : "" };
	case COLUMN_MODULE:
		return (struct cell){ .type = CELL_TEXT, .text = facts->module };
	case COLUMN_FILE:
		return (struct cell){ .type = CELL_TEXT, .text = facts->file };
	case COLUMN_FACTS:
		return (struct cell){ .type = CELL_TEXT, .text = facts->told.at ? facts->told.at : "" };
	case COLUMN_LINE:
		return (struct cell){ .type = CELL_INDEX, .number = facts->line };
	case COLUMN_SELF_SAMPLES:
		return (struct cell){ .type = CELL_COUNT, .number = facts->self_samples };
	case COLUMN_TOTAL_SAMPLES:
		return (struct cell){ .type = CELL_COUNT, .number = facts->total_samples };
	case COLUMN_MIN:
	case COLUMN_MEAN:
	case COLUMN_MAX:
	case COLUMN_IMBALANCE:
		return column_thread_cell(report, column, facts);
	case COLUMN_FORMULA:
		return column_formula_cell(report, column, facts);
	case COLUMN_ACTIVATIONS:
	case COLUMN_PER_ACTIVATION:
		return calls_cell(report, column, facts);
	case COLUMN_SLOWEST:
		return (struct cell){ .type = CELL_INDEX, .number = facts->slowest };
	case COLUMN_SELF_CI95:
		return (struct cell){ .type = CELL_INTERVAL,
				      .interval = text_interval(report, &facts->view->self.at[at]) };
	case COLUMN_TOTAL_CI95:
		return (struct cell){ .type = CELL_INTERVAL,
				      .interval = text_interval(report, &facts->view->inclusive.at[at]) };
	default:
		return cost_cell(report, column, facts);
	}
}
