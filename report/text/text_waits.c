/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where threads wait: the longest first, by place and kind.
 */
#include "base/cleanup.h"
#include "report/label.h"
#include "report/number.h"
#include "report/text/text_rows.h"
#include "report/waits.h"

/* "main > serve > lock", the innermost last; for a waker, from its own outermost function on. */
void text_path(const struct text_report *report, uint32_t scope, size_t max, struct text *ret)
{
	VEC(uint32_t) path = { 0 };

	for (; scope && (!max || path.n < max); scope = report->tree->scopes.at[scope].parent) {
		if (wait_is_waking(report->profile, report->tree, scope)) {
			scope = 0;
			break;
		}
		unsigned kind = scope_kind(report->tree, scope);
		if (kind != SCOPE_LOOP && kind != SCOPE_LINE)
			vec_push(&path, scope);
	}
	if (scope)
		text_printf(ret, report->options->style.utf8 ? "… > " : "... > ");
	for (size_t i = path.n; i-- > 0;) {
		const struct scope what = scope_at(report->tree, path.at[i]);
		label_scope(report->profile, &what, ret);
		text_printf(ret, i ? " > " : "");
	}
	vec_done(&path);
}

/* The width of the column of kinds. */
static int text_waits_width(const struct text_report *report)
{
	return report->waits.runnable || report->waits.is_near ? 11 : 22;
}

static void text_waits_put_waker(const struct text_report *report, const struct wait_row *row)
{
	CLEANUP(text_done) struct text path = { 0 };
	const char *waker = wait_row_waker(report->profile, row);
	char ns[NUMBER_MAX];

	if (!waker)
		return;
	struct line line = line_start(report->to, &report->options->style);
	line_printf(&line, TINT_DIM, "%59s woken by ", "");
	line_name(&line, TINT_DIM, waker);
	line_printf(&line, TINT_DIM, " for %s of it", number_time(row->woken_by, ns));
	if (row->woken_in) {
		text_path(report, row->woken_in, TEXT_PATH_NAMES, &path);
		line_printf(&line, TINT_DIM, row->woken_in_ns < row->woken_by ? ", mostly in " : ", in ");
		line_name(&line, TINT_DIM, path.at ? path.at : "");
	}
	line_end(&line);
}

static void text_waits_put_holder(const struct text_report *report, const struct wait_row *row)
{
	const char *holder = wait_row_holder(report->profile, row);
	char ns[NUMBER_MAX];

	if (!holder || row->kind != WAIT_FUTEX)
		return;
	struct line line = line_start(report->to, &report->options->style);
	line_printf(&line, TINT_DIM, "%59s held longest by ", "");
	line_name(&line, TINT_DIM, holder);
	line_printf(&line, TINT_DIM, ", for %s of it", number_time(row->held_by, ns));
	line_end(&line);
}

static void text_waits_put(const struct text_report *report, const struct wait_row *row, uint64_t all)
{
	CLEANUP(text_done) struct text path = { 0 };
	struct line line = line_start(report->to, &report->options->style);
	char kind[WAIT_KIND_TEXT], share[NUMBER_MAX], total[NUMBER_MAX], count[NUMBER_MAX], mean[NUMBER_MAX],
		longest[NUMBER_MAX];

	text_path(report, row->scope, TEXT_PATH_NAMES, &path);
	line_printf(&line, TINT_PLAIN, "%6s %9s %8s %9s %9s  %-*s  ",
		    number_percent(number_share(row->off_cpu, all), share), number_time(row->off_cpu, total),
		    row->waits ? number_count(row->waits, count) : "",
		    row->waits ? number_time((row->off_cpu - row->of_others) / row->waits, mean) : "",
		    row->waits && row->longest ? number_time(row->longest, longest) : "",
		    text_waits_width(report), wait_row_kind(&report->waits, row, kind));
	line_name(&line, TINT_PLAIN, path.at ? path.at : "");
	line_end(&line);
	text_waits_put_waker(report, row);
	text_waits_put_holder(report, row);
}

void text_waits(const struct text_report *report)
{
	size_t limit = report->options->limit, n_shown = 0;
	uint64_t all = 0;
	wait_rows rows = { 0 };

	wait_rows_find(report->profile, report->tree, report->threads, &rows);
	for (size_t i = 0; i < rows.n; i++)
		all += rows.at[i].off_cpu;
	struct line line = line_start(report->to, &report->options->style);
	line_printf(&line, TINT_DIM, "%6s %9s %8s %9s %9s  %-*s  %s", "share", "off-cpu", "waits", "mean",
		    "longest", text_waits_width(report), "kind", "where");
	line_end(&line);
	for (size_t i = 0; i < rows.n && (!limit || n_shown < limit); i++)
		if (number_share(rows.at[i].off_cpu, all) >= report->options->percent_limit) {
			text_waits_put(report, &rows.at[i], all);
			n_shown++;
		}
	if (!rows.n)
		text_printf(report->to, "no waits were recorded; record them with: cpprof record --wall\n");
	vec_done(&rows);
}
