/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text_report.h"

#include <math.h>

#include "report/quality.h"
#include "report/spread.h"

#define NARROW 64 /* columns: below that, names are more important than sample counts and modules */

uint32_t text_default_metric(const struct profile *profile, const struct scope_tree *tree,
			     const bool *is_kept)
{
	if (profile->metrics.n < 2 || tree->n_metrics < 2)
		return 0;
	for (size_t i = 0; i < tree->values.n; i++)
		if (tree->values.at[i].metric == 1 && tree->values.at[i].value > 0 &&
		    (!is_kept || is_kept[tree->values.at[i].thread]))
			return 1;
	return 0;
}

enum view_key text_default_sort(enum text_view view, enum group_by group)
{
	if (view == TEXT_FLAT && group == GROUP_LOOP)
		return VIEW_BY_INCLUSIVE;
	return view == TEXT_FLAT || view == TEXT_CALLERS ? VIEW_BY_SELF : VIEW_BY_INCLUSIVE;
}

double text_default_percent_limit(enum text_view view)
{
	return view == TEXT_TREE || view == TEXT_CALLERS ? 1 : 0.5;
}

struct text_report text_report_of(const struct text_input *input, const struct text_options *options,
				  struct text *to)
{
	struct text_report report = { .profile = input->profile,
				      .tree = input->tree,
				      .costs = input->costs,
				      .threads = input->threads,
				      .loops = input->loops,
				      .counts = input->counts,
				      .options = options,
				      .metric = options->metric,
				      .to = to };

	if (input->costs->n_metrics > 0) {
		report.total = costs_inclusive(input->costs, 0, options->metric);
		report.samples = report.sampled = costs_inclusive(input->costs, 0, 0);
		report.waits = wait_metrics_of(input->profile);
		if (report.waits.sampled)
			report.sampled -= costs_inclusive(input->costs, 0, report.waits.sampled);
	}
	for (uint32_t i = 0; i < input->tree->n_rounds && i < CCT_ROUNDS; i++)
		report.rounds[i] =
			costs_inclusive(input->costs, 0, input->tree->n_metrics - input->tree->n_rounds + i);
	return report;
}

/* The interval for what is sampled: everything, or CPU time besides waits. */
static struct interval text_sampled_interval(const struct text_report *report, const uint64_t *costs,
					     uint32_t metric, uint64_t total)
{
	const struct scope_tree *tree = report->tree;
	double spread =
		spread_factor(costs + tree->n_metrics - tree->n_rounds, report->rounds, tree->n_rounds);
	uint64_t n_waits = report->waits.sampled ? costs[report->waits.sampled] : 0;
	uint64_t samples = costs[0] > n_waits ? costs[0] - n_waits : 0;

	return number_interval_of_cost(costs[metric], total, samples, report->sampled, spread);
}

/* Sampled waits represent different numbers of waits, of different length, so their shares vary more than if
 * each were one of as many equal ones: in practice like half as many. */
#define WAITS_SPREAD 2

/* Waits are measured, unless a thread has so many that only some are sampled. */
static struct interval text_wait_interval(const struct text_report *report, const uint64_t *costs,
					  uint32_t metric)
{
	const struct wait_metrics *waits = &report->waits;
	uint64_t total = costs_inclusive(report->costs, 0, metric);
	uint64_t all = costs_inclusive(report->costs, 0, waits->waits);
	uint64_t sampled = waits->sampled ? costs_inclusive(report->costs, 0, waits->sampled) : all;
	double share = number_share(costs[metric], total);

	if (sampled >= all)
		return (struct interval){ share, share };
	return number_interval_of_share(share / 100, (double)sampled / WAITS_SPREAD);
}

/* The interval of a share in a whole, given that of the share in one part of it. */
static struct interval text_scaled(struct interval interval, double share, double part)
{
	return (struct interval){ (share - interval.low) * part, (interval.high - share) * part };
}

/* Of wall time, the part on a CPU is sampled, and waits are as above; both vary independently. */
static struct interval text_wall_interval(const struct text_report *report, const uint64_t *costs)
{
	uint32_t off_cpu = report->waits.off_cpu;
	uint64_t cpu = costs_inclusive(report->costs, 0, 1), off = costs_inclusive(report->costs, 0, off_cpu);
	double share = number_share(costs[report->metric], report->total);
	struct interval running =
		text_scaled(text_sampled_interval(report, costs, 1, cpu), number_share(costs[1], cpu),
			    number_share(cpu, report->total) / 100);
	struct interval waiting =
		text_scaled(text_wait_interval(report, costs, off_cpu), number_share(costs[off_cpu], off),
			    number_share(off, report->total) / 100);

	return (struct interval){ fmax(share - hypot(running.low, waiting.low), 0),
				  fmin(share + hypot(running.high, waiting.high), 100) };
}

struct interval text_interval(const struct text_report *report, const uint64_t *costs)
{
	const struct wait_metrics *waits = &report->waits;
	double share = number_share(costs[report->metric], report->total);

	/* Of traced calls, all are measured, or all in some windows of time: how much those differ is in a
	 * note. */
	if (quality_is_traced(report->profile))
		return (struct interval){ share, share };
	if (waits->off_cpu && report->metric == waits->wall)
		return text_wall_interval(report, costs);
	if (waits->off_cpu && (report->metric == waits->off_cpu || report->metric == waits->waits ||
			       (waits->runnable && report->metric == waits->runnable)))
		return text_wait_interval(report, costs, report->metric);
	return text_sampled_interval(report, costs, report->metric, report->total);
}

uint64_t text_min_cost(const struct text_report *report)
{
	return (uint64_t)ceil((double)report->total * report->options->percent_limit / 100);
}

void text_heading(const struct text_report *report, const char *text)
{
	struct line line = line_start(report->to, &report->options->style);

	line_printf(&line, TINT_BOLD, "%s", text);
	line_end(&line);
}

bool text_is_narrow(const struct text_report *report)
{
	size_t width = report->options->style.width;

	return width != 0 && width < NARROW;
}

bool text_is_shown(const struct text_report *report, const struct view *view, uint32_t row)
{
	return view->rows.at[row].scope != 0 || view_self(view, row, report->metric) > 0;
}
