/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as JSON: what was measured, the rows of one view, the quality. For programs that need one view;
 * those that need the whole profile use `cpprof export --format json`.
 */
#include <math.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "report/allocations.h"
#include "report/calls.h"
#include "report/label.h"
#include "report/quality.h"
#include "report/text/columns.h"
#include "report/text/rows.h"
#include "report/text/text_loops.h"
#include "report/text/text_rows.h"

static double hundredths(double value)
{
	return round(value * 100) / 100;
}

static void json_rows_put_cell(struct json *json, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_INDEX:
		json_int(json, cell->number == UINT32_MAX ? -1 : (int64_t)cell->number);
		return;
	case CELL_COUNT:
	case CELL_CALLS:
	case CELL_EACH:
	case CELL_AMOUNT:
		json_uint(json, cell->number);
		return;
	case CELL_PERCENT:
		json_number(json, cell->percent);
		return;
	case CELL_INTERVAL:
		json_array(json);
		json_number(json, hundredths(cell->interval.low));
		json_number(json, hundredths(cell->interval.high));
		json_end_array(json);
		return;
	case CELL_REAL:
		json_number(json, cell->real);
		return;
	case CELL_TEXT:
		json_text(json, cell->text);
		return;
	}
}

struct row_writer {
	const struct text_report *report;
	const struct columns *columns;
	struct json *json;
};

/* Properties of its machine code. */
static void json_rows_put_code(const struct row_writer *writer, const struct scope *loop)
{
	struct loop_code code;

	if (!loop_code_find(writer->report->profile, loop->image, loop->vaddr, &code))
		return;
	if (code.width && code.width != 255)
		json_uint_of(writer->json, "vector_bits", code.width * 8);
	json_uint_of(writer->json, "copies", code.n_copies);
	json_uint_of(writer->json, "calls", code.n_calls);
	struct loop_rounds rounds = loop_counts_find(
		writer->report->counts, label_image(writer->report->profile, loop->image), &code);
	if (rounds.rounds >= 0 && !rounds.is_relative)
		json_number_of(writer->json, "rounds", rounds.rounds);
	if (rounds.each >= 0)
		json_number_of(writer->json, "rounds_each", rounds.each);
	if (code.n_on_line > 1) {
		json_uint_of(writer->json, "index_on_line", code.index_on_line);
		json_uint_of(writer->json, "loops_on_line", code.n_on_line);
	}
}

/* What was measured besides its cost. */
static void json_rows_put_measured(const struct row_writer *writer, const struct loop_facts *facts)
{
	const struct text_report *report = writer->report;
	struct json *json = writer->json;

	json_uint_of(json, "own", facts->own);
	json_uint_of(json, "own_vector", facts->vector);
	if (facts->hot_line) {
		json_text_of(json, "hottest_file", intern_text(&report->profile->strings, facts->hot_file));
		json_uint_of(json, "hottest_line", facts->hot_line);
		json_uint_of(json, "hottest_cost", facts->hot_cost);
		const char *text = text_loop_hot_text(report, facts);
		if (text)
			json_text_of(json, "hottest_text", text);
	}
	json_uint_of(json, "threads", facts->share.n_threads);
	json_uint_of(json, "thread_min", facts->share.least);
	json_number_of(json, "thread_mean",
		       facts->share.n_threads ? (double)facts->share.sum / facts->share.n_threads : 0);
	json_uint_of(json, "thread_max", facts->share.most);
	json_number_of(json, "imbalance_percent", hundredths(loop_facts_imbalance(facts)));
	json_name(json, "doubts");
	json_array(json);
	for (unsigned doubt = DOUBT_NOT_VECTOR; doubt <= DOUBT_IMBALANCE; doubt <<= 1)
		if (loop_facts_doubts(facts, report->total) & doubt)
			json_text(json, loop_doubt_name((enum loop_doubt)doubt));
	json_end_array(json);
}

/* Additional fields of a loop. */
static void json_rows_put_loop(const struct row_writer *writer, const struct scope *loop)
{
	const struct intern *strings = &writer->report->profile->strings;
	struct loop_place place = loop_place_of(writer->report->tree, loop);

	json_text_of(writer->json, "function", intern_text(strings, loop->name));
	json_uint_of(writer->json, "end_line", loop->end_line);
	json_uint_of(writer->json, "nesting", place.nesting);
	json_bool_of(writer->json, "vector", loop->flags & SCOPE_VECTOR);
	json_bool_of(writer->json, "unrolled", loop->flags & SCOPE_UNROLLED);
	json_rows_put_code(writer, loop);
	if (!place.is_inlined)
		return;
	json_text_of(writer->json, "inlined_into", intern_text(strings, place.host));
	json_text_of(writer->json, "call_file", intern_text(strings, place.call_file));
	json_uint_of(writer->json, "call_line", place.call_line);
}

static void json_rows_put_row(void *context, const struct row_facts *facts)
{
	const struct row_writer *writer = context;

	json_object(writer->json);
	for (size_t i = 0; i < writer->columns->of.n; i++) {
		struct cell cell = column_cell(writer->report, &writer->columns->of.at[i], facts);
		json_name(writer->json, writer->columns->of.at[i].title);
		json_rows_put_cell(writer->json, &cell);
	}
	const struct scope scope =
		scope_at(writer->report->tree, facts->view->rows.at[facts->view_row].scope);
	if (scope.kind == SCOPE_LOOP && writer->columns->is_usual)
		json_rows_put_loop(writer, &scope);
	bool has_facts = writer->columns->is_usual || writer->report->options->view == TEXT_LOOPS;
	if (scope.kind == SCOPE_LOOP && writer->report->loops && has_facts)
		json_rows_put_measured(writer, loop_table_find(writer->report->loops, writer->report->tree,
							       facts->view->rows.at[facts->view_row].scope));
	json_end_object(writer->json);
}

static void json_rows_put_task(const struct text_report *report, const struct task_cost *cost,
			       struct json *json)
{
	const struct profile *profile = report->profile;
	bool is_thread = report->options->tasks == TASKS_BY_THREAD;
	const struct profile_thread *thread = is_thread ? &profile->threads.at[cost->task] : NULL;
	const struct profile_process *process = &profile->processes.at[thread ? thread->process : cost->task];

	json_object(json);
	json_int_of(json, "pid", process->pid);
	if (thread)
		json_int_of(json, "tid", thread->tid);
	json_text_of(json, "name", intern_text(&profile->strings, thread ? thread->comm : process->comm));
	json_uint_of(json, "total", cost->cost);
	json_number_of(json, "total_percent", number_share(cost->cost, report->total));
	json_uint_of(json, "total_samples", cost->samples);
	json_end_object(json);
}

static void json_rows_put_waker(const struct text_report *report, const struct wait_row *row,
				struct json *json)
{
	CLEANUP(text_done) struct text path = { 0 };

	if (row->waker) {
		json_text_of(json, "woken_by", wait_row_waker(report->profile, row));
		json_uint_of(json, "woken_by_ns", row->woken_by);
	}
	if (row->woken_in) {
		text_path(report, row->woken_in, TEXT_PATH_NAMES, &path);
		json_text_of(json, "woken_in", path.at ? path.at : "");
		json_uint_of(json, "woken_in_ns", row->woken_in_ns);
	}
	if (row->holder && row->kind == WAIT_FUTEX) {
		json_text_of(json, "held_by", wait_row_holder(report->profile, row));
		json_uint_of(json, "held_by_ns", row->held_by);
	}
}

static void json_rows_put_waits(const struct text_report *report, struct json *json)
{
	wait_rows rows = { 0 };

	wait_rows_find(report->profile, report->tree, report->threads, &rows);
	for (size_t i = 0; i < rows.n && (!report->options->limit || i < report->options->limit); i++) {
		CLEANUP(text_done) struct text path = { 0 };
		text_path(report, rows.at[i].scope, TEXT_PATH_NAMES, &path);
		json_object(json);
		json_text_of(json, "kind",
			     report->waits.is_near ? "approximate" : wait_kind_name(rows.at[i].kind));
		if (wait_row_is_mixed(&report->waits, &rows.at[i]))
			json_bool_of(json, "or_runnable", true);
		json_uint_of(json, "off_cpu_ns", rows.at[i].off_cpu);
		json_uint_of(json, "waits", rows.at[i].waits);
		if (rows.at[i].of_others)
			json_uint_of(json, "of_other_waits_ns", rows.at[i].of_others);
		if (rows.at[i].waits && rows.at[i].longest)
			json_uint_of(json, "longest_ns", rows.at[i].longest);
		json_text_of(json, "path", path.at ? path.at : "");
		json_rows_put_waker(report, &rows.at[i], json);
		json_end_object(json);
	}
	vec_done(&rows);
}

static void json_rows_put_calls(const struct text_report *report, struct json *json)
{
	call_rows rows = { 0 };

	call_rows_find(report->tree, report->threads, &rows);
	for (size_t i = 0; i < rows.n && (!report->options->limit || i < report->options->limit); i++) {
		CLEANUP(text_done) struct text path = { 0 };
		const struct call_row *row = &rows.at[i];
		text_path(report, row->scope, 0, &path);
		json_object(json);
		json_uint_of(json, "calls", row->calls);
		json_uint_of(json, "sum_ns", row->sum);
		json_uint_of(json, "min_ns", row->least);
		json_number_of(json, "mean_ns", row->calls ? (double)row->sum / (double)row->calls : 0);
		json_uint_of(json, "p50_ns", row->p50);
		json_uint_of(json, "p90_ns", row->p90);
		json_uint_of(json, "p99_ns", row->p99);
		json_uint_of(json, "max_ns", row->most);
		json_text_of(json, "path", path.at ? path.at : "");
		json_end_object(json);
	}
	vec_done(&rows);
}

/* For each estimate: the value and half the width of its 95 % interval. */
static void json_rows_put_allocations(const struct text_report *report, struct json *json)
{
	static const char *const names[ALLOCATION_N][2] = { { "bytes", "bytes_margin" },
							    { "allocations", "allocations_margin" },
							    { "held_bytes", "held_bytes_margin" },
							    { "held_allocations",
							      "held_allocations_margin" } };
	allocation_rows rows = { 0 };
	bool is_followed;

	if (allocations_are_in(report->profile, &is_followed))
		allocation_rows_find(report->tree, report->threads, &rows);
	for (size_t i = 0; i < rows.n && (!report->options->limit || i < report->options->limit); i++) {
		CLEANUP(text_done) struct text path = { 0 };
		text_path(report, rows.at[i].scope, 0, &path);
		json_object(json);
		json_uint_of(json, "samples", rows.at[i].samples);
		for (size_t kind = 0; kind < (is_followed ? ALLOCATION_N : ALLOCATION_HELD_BYTES); kind++) {
			json_uint_of(json, names[kind][0], rows.at[i].of[kind].value);
			json_number_of(json, names[kind][1], estimate_margin(&rows.at[i].of[kind]));
		}
		json_text_of(json, "path", path.at ? path.at : "");
		json_end_object(json);
	}
	vec_done(&rows);
}

static void json_rows_put(const struct text_report *report, struct json *json)
{
	CLEANUP(view_done) struct view view = { 0 };
	CLEANUP(columns_done) struct columns usual = { 0 };

	columns_add_default(&usual, true, report->options->ranks);
	columns_derive_usual(&usual, report->profile);
	json_name(json, "rows");
	json_array(json);
	if (report->options->view == TEXT_FLAT && report->options->tasks) {
		size_t n;
		CLEANUP(freep) struct task_cost *costs = text_task_costs(report, report->options->tasks, &n);
		for (size_t i = 0; i < n && (!report->options->limit || i < report->options->limit); i++)
			json_rows_put_task(report, &costs[i], json);
	} else if (report->options->view == TEXT_WAITS) {
		json_rows_put_waits(report, json);
	} else if (report->options->view == TEXT_CALLS) {
		json_rows_put_calls(report, json);
	} else if (report->options->view == TEXT_ALLOCATIONS) {
		json_rows_put_allocations(report, json);
	} else if (report->options->view != TEXT_QUALITY && report->costs->n_metrics > 0) {
		text_build_view(report, &view);
		row_facts_each(
			report, &view, json_rows_put_row,
			&(struct row_writer){
				report, report->options->columns ? report->options->columns : &usual, json });
	}
	json_end_array(json);
}

static void json_rows_put_end(void *context, const char *module, uint64_t samples)
{
	struct json *json = context;

	json_object(json);
	json_name(json, "module");
	if (module)
		json_text(json, module);
	else
		json_null(json);
	json_uint_of(json, "samples", samples);
	json_end_object(json);
}

static void json_rows_put_change(void *context, const char *name, uint64_t value)
{
	json_uint_of(context, name, value);
}

/* Additional data of the quality view. */
static void json_rows_put_trust(const struct text_report *report, struct json *json)
{
	const struct profile *profile = report->profile;
	struct quality_account account;
	CLEANUP(text_done) struct text what = { 0 };

	quality_add_what(&what, profile);
	if (quality_account(profile, &account)) {
		json_name(json, "account");
		json_object(json);
		json_text_of(json, "of", what.at);
		json_uint_of(json, account.is_time ? "counted_ns" : "counted", account.counted);
		json_uint_of(json, account.is_time ? "sampled_ns" : "sampled", account.sampled);
		json_uint_of(json, account.is_time ? "lost_ns" : "lost", account.lost);
		json_uint_of(json, account.is_time ? "idle_ns" : "idle", account.idle);
		json_uint_of(json, account.is_time ? "others_ns" : "others", account.others);
		json_number_of(json, account.is_time ? "between_ns" : "between", (double)account.between);
		json_end_object(json);
	}
	json_uint_of(json, "own_peak_kb", profile->quality.own_peak_kb);
	quality_changes_each(profile, json_rows_put_change, json);
	json_name(json, "ended_in");
	json_array(json);
	quality_ends_each(profile, report->tree, report->costs, json_rows_put_end, json);
	json_end_array(json);
}

static void put_quality(const struct text_report *report, struct json *json)
{
	const struct profile *profile = report->profile;
	const struct profile_quality *quality = &profile->quality;

	json_name(json, "quality");
	json_object(json);
	json_uint_of(json, "samples", quality->samples);
	json_number_of(json, "complete_percent", quality_percent(quality));
	json_uint_of(json, "lost", quality->lost);
	json_uint_of(json, "throttled", quality->throttled);
	if (quality_missing(profile)) { /* and the reason */
		json_number_of(json, "between_samples_percent", quality_between(profile));
		json_text_of(json, "between_samples", quality_missing(profile));
	}
	json_uint_of(json, "unsymbolized", quality->unsymbolized);
	json_uint_of(json, "without_lines", quality->without_lines);
	json_number_of(json, "rate_hz", quality_rate(profile));
	json_uint_of(json, "own_cpu_ns", quality->own_cpu_ns);
	json_name(json, "by_end");
	json_object(json);
	for (int end = 0; end < STACK_END_N; end++)
		if (quality->by_end[end])
			json_uint_of(json, stack_end_name((enum stack_end)end), quality->by_end[end]);
	json_end_object(json);
	json_name(json, "by_witness");
	json_object(json);
	for (int witness = 0; witness < WITNESS_N; witness++)
		if (quality->steps_by_witness[witness])
			json_uint_of(json, witness_name((enum witness)witness),
				     quality->steps_by_witness[witness]);
	json_end_object(json);
	if (report->options->view == TEXT_QUALITY)
		json_rows_put_trust(report, json);
	json_end_object(json);
}

static const char *metric_text(const struct text_report *report, bool is_unit)
{
	if (report->metric >= report->profile->metrics.n)
		return is_unit ? "count" : "samples";

	const struct profile_metric *metric = &report->profile->metrics.at[report->metric];
	return intern_text(&report->profile->strings, is_unit ? metric->unit : metric->name);
}

int report_json(const struct text_input *input, const struct text_options *options, FILE *to)
{
	static const char *const views[] = { [TEXT_SUMMARY] = "summary", [TEXT_TREE] = "tree",
					     [TEXT_CALLERS] = "callers", [TEXT_FLAT] = "flat",
					     [TEXT_HOT] = "hot",         [TEXT_LOOPS] = "loops",
					     [TEXT_QUALITY] = "quality", [TEXT_WAITS] = "waits",
					     [TEXT_CALLS] = "calls",     [TEXT_ALLOCATIONS] = "allocations" };
	struct text_report report = text_report_of(input, options, NULL);
	struct json json;

	json_init(&json, to);
	json_object(&json);
	json_text_of(&json, "schema", "cpprof-report");
	json_text_of(&json, "version", "1.0");
	json_text_of(&json, "target", intern_text(&input->profile->strings, input->profile->run.target));
	json_text_of(&json, "view", views[options->view]);
	json_text_of(&json, "metric", metric_text(&report, false));
	json_text_of(&json, "unit", metric_text(&report, true));
	json_uint_of(&json, "duration_ns", input->profile->run.duration_ns);
	json_uint_of(&json, "total", report.total);
	json_uint_of(&json, "samples", report.samples);
	json_rows_put(&report, &json);
	put_quality(&report, &json);
	json_end_object(&json);
	json_line(&json);
	return json_done(&json);
}
