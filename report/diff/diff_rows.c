/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_rows: the rows of a diff in markdown, CSV and JSON.
 */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "report/diff/diff_report.h"
#include "report/diff/signed_number.h"
#include "report/label.h"
#include "report/quote.h"
#include "report/tree/document.h"

/* ---- markdown ------------------------------------------------------------------------------------- */

static void markdown_row(const struct diff_report *report, const struct change *change, bool is_sure,
			 struct text *to)
{
	char a[SIGNED_MAX], b[SIGNED_MAX], delta[SIGNED_MAX], percent[SIGNED_MAX];
	const char *bold = is_sure ? "**" : "";

	text_printf(to, "| %s | %s | %s%s%s | %s | %+.1f to %+.1f | ",
		    plain_value(change->a, report->unit, a), plain_value(change->b, report->unit, b), bold,
		    signed_value(change->delta, report->unit, delta), bold,
		    signed_percent(diff_percent(report->diff, change->delta), percent),
		    diff_percent(report->diff, change->low), diff_percent(report->diff, change->high));
}

static void markdown_table(const struct diff_report *report, struct text *to)
{
	struct diff_table table;

	diff_report_table(report, &table);
	text_printf(to, "| before | after | change | of before | 95 %% interval | %s |\n",
		    diff_report_title(&table));
	text_printf(to, "|---:|---:|---:|---:|---:|---|\n");
	for (size_t i = 0; i < table.rows.n; i++) {
		const struct diff_row *row = &table.rows.at[i];
		CLEANUP(text_done) struct text name = { 0 };
		diff_label(report->diff, &table, row, &name);
		markdown_row(report, diff_key(&table, row), row->is_significant, to);
		for (uint32_t k = 0; k < row->depth && k < 30; k++)
			text_printf(to, "· ");
		quote_markdown(to, name.at);
		text_printf(to, "%s%s |\n", *diff_state(row) ? " " : "", diff_state(row));
	}
	if (table.n_left_out) {
		struct change left = { .a = table.left_a,
				       .b = table.left_b,
				       .delta = table.left_b - table.left_a };
		char a[SIGNED_MAX], b[SIGNED_MAX], delta[SIGNED_MAX], percent[SIGNED_MAX];
		text_printf(
			to, "| %s | %s | %s | %s | | %zu more |\n", plain_value(left.a, report->unit, a),
			plain_value(left.b, report->unit, b), signed_value(left.delta, report->unit, delta),
			signed_percent(diff_percent(report->diff, left.delta), percent), table.n_left_out);
	}
	text_printf(to,
		    "\n"
		    "Bold: the change exceeds noise (%zu of %zu rows tested).\n",
		    table.n_significant, table.n_tested);
	diff_table_done(&table);
}

void diff_markdown(const struct diff_report *report, struct text *ret)
{
	diff_report_total(report, ret);
	text_printf(ret, " %s\n\n", diff_report_source(report));
	for (size_t i = 0; i < report->n_notes; i++) {
		quote_markdown(ret, report->notes[i]);
		text_printf(ret, "\n\n");
	}
	markdown_table(report, ret);
	for (size_t i = 0; i < report->verdicts->n; i++) {
		CLEANUP(text_done) struct text line = { 0 };
		rule_verdict_say(&report->verdicts->at[i], report->unit, &line);
		text_printf(ret, "%s- %s", i ? "" : "\n",
			    report->verdicts->at[i].n_failed ? "**failed** " : "");
		quote_markdown(ret, line.at);
		text_printf(ret, "\n");
	}
}

/* ---- CSV ------------------------------------------------------------------------------------------ */

static void csv_change(const struct diff_report *report, const struct change *change, struct text *to)
{
	text_printf(to, "%.17g,%.17g,%.17g,%.4f,%.17g,%.17g,%.6g", change->a, change->b, change->delta,
		    diff_percent(report->diff, change->delta), change->low, change->high, change->p);
}

void diff_csv(const struct diff_report *report, struct text *ret)
{
	const struct profile *names = report->diff->joint.names;
	struct diff_table table;

	diff_report_table(report, &table);
	text_printf(ret,
		    "row,parent,name,module,file,line,state,significant,"
		    "self_before,self_after,self_change,self_percent,self_low,self_high,self_p,"
		    "total_before,total_after,total_change,total_percent,total_low,total_high,total_p\n");
	for (size_t i = 0; i < table.rows.n; i++) {
		const struct diff_row *row = &table.rows.at[i];
		bool has_scope = row->scope != DIFF_REST;
		struct scope scope = has_scope ? scope_at(&report->diff->joint.tree, row->scope)
					       : (struct scope){ .image = IMAGE_NONE };
		CLEANUP(text_done) struct text name = { 0 };
		diff_label(report->diff, &table, row, &name);
		text_printf(ret, "%zu,", i);
		if (row->parent != UINT32_MAX)
			text_printf(ret, "%u", row->parent);
		text_printf(ret, ",");
		quote_csv(ret, name.at);
		text_printf(ret, ",");
		quote_csv(ret, scope.image < names->images.n ? label_image(names, scope.image) : "");
		text_printf(ret, ",");
		quote_csv(ret, profile_text(names, scope.file));
		text_printf(ret, ",%u,%s,%d,", scope.line, diff_state(row), row->is_significant);
		csv_change(report, &row->self, ret);
		text_printf(ret, ",");
		csv_change(report, &row->total, ret);
		text_printf(ret, "\n");
	}
	diff_table_done(&table);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static void json_change(struct json *json, const char *name, const struct diff_report *report,
			const struct change *change)
{
	json_name(json, name);
	json_object(json);
	json_number_of(json, "before", change->a);
	json_number_of(json, "after", change->b);
	json_number_of(json, "change", change->delta);
	json_number_of(json, "percent", diff_percent(report->diff, change->delta));
	json_number_of(json, "low", change->low);
	json_number_of(json, "high", change->high);
	json_number_of(json, "p", change->p);
	json_end_object(json);
}

static void json_row(struct json *json, const struct diff_report *report, const struct diff_table *table,
		     const struct diff_row *row)
{
	const struct profile *names = report->diff->joint.names;
	CLEANUP(text_done) struct text name = { 0 };

	diff_label(report->diff, table, row, &name);
	json_object(json);
	json_text_of(json, "name", name.at);
	if (row->scope != DIFF_REST) {
		struct scope scope = scope_at(&report->diff->joint.tree, row->scope);
		json_text_of(json, "kind", scope_kind_name(scope.kind));
		json_text_of(json, "module",
			     scope.image < names->images.n ? label_image(names, scope.image) : "");
		json_text_of(json, "file", profile_text(names, scope.file));
		json_uint_of(json, "line", scope.line);
	}
	if (row->parent != UINT32_MAX)
		json_uint_of(json, "parent", row->parent);
	json_text_of(json, "state", *diff_state(row) ? diff_state(row) : "both");
	json_bool_of(json, "tested", row->is_tested);
	json_bool_of(json, "significant", row->is_significant);
	json_change(json, "self", report, &row->self);
	json_change(json, "total", report, &row->total);
	json_end_object(json);
}

static void json_side(struct json *json, const char *name, char *const *files, uint32_t n)
{
	json_name(json, name);
	json_array(json);
	for (uint32_t i = 0; i < n; i++)
		json_text(json, files[i]);
	json_end_array(json);
}

static void json_rules(struct json *json, const struct diff_report *report)
{
	json_name(json, "rules");
	json_array(json);
	for (size_t i = 0; i < report->verdicts->n; i++) {
		const struct rule_verdict *verdict = &report->verdicts->at[i];
		json_object(json);
		json_text_of(json, "rule", verdict->rule->text);
		if (verdict->rule->why)
			json_text_of(json, "why", verdict->rule->why);
		json_bool_of(json, "failed", verdict->n_failed > 0);
		json_uint_of(json, "matches", verdict->n_matches);
		json_text_of(json, "worst", verdict->name);
		json_number_of(json, "at_least", verdict->at_least);
		json_change(json, "change", report, &verdict->worst);
		json_end_object(json);
	}
	json_end_array(json);
}

static void json_path(struct json *json, const struct diff_report *report)
{
	view_path path = { 0 };

	diff_hot_path(report->diff, &path);
	json_name(json, "path");
	json_array(json);
	for (size_t i = 1; i < path.n; i++) {
		CLEANUP(text_done) struct text name = { 0 };
		struct scope scope = scope_at(&report->diff->joint.tree, path.at[i]);
		label_scope(report->diff->joint.names, &scope, &name);
		json_text(json, name.at);
	}
	json_end_array(json);
	vec_done(&path);
}

static void json_table(struct json *json, const struct diff_report *report)
{
	struct diff_table table;

	diff_report_table(report, &table);
	json_text_of(json, "rows_are", table.is_tree ? "context" : group_name(table.by));
	json_text_of(json, "sorted_by", table.by_total ? "total" : "self");
	json_uint_of(json, "tested", table.n_tested);
	json_uint_of(json, "significant", table.n_significant);
	json_name(json, "rows");
	json_array(json);
	for (size_t i = 0; i < table.rows.n; i++)
		json_row(json, report, &table, &table.rows.at[i]);
	json_end_array(json);
	json_name(json, "left_out");
	json_object(json);
	json_uint_of(json, "rows", table.n_left_out);
	json_number_of(json, "before", table.left_a);
	json_number_of(json, "after", table.left_b);
	json_end_object(json);
	diff_table_done(&table);
}

int diff_json(const struct diff_report *report, FILE *to)
{
	struct json json;

	json_init(&json, to);
	json_object(&json);
	json_text_of(&json, "metric", report->metric);
	json_text_of(&json, "unit", report->unit);
	json_side(&json, "before", report->files, report->diff->n_a);
	json_side(&json, "after", report->files + report->diff->n_a, report->diff->n_b);
	json_text_of(&json, "intervals_from", report->diff->from_runs ? "runs" : "samples");
	json_text_of(&json, "normalized_by", report->normalized);
	json_change(&json, "total", report, &report->diff->total);
	json_path(&json, report);
	json_table(&json, report);
	json_rules(&json, report);
	json_name(&json, "notes");
	json_array(&json);
	for (size_t i = 0; i < report->n_notes; i++)
		json_text(&json, report->notes[i]);
	json_end_array(&json);
	json_end_object(&json);
	json_line(&json);
	return json_done(&json);
}
