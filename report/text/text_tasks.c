/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and processes by cost.
 */
#include "base/cleanup.h"
#include "report/number.h"
#include "report/text/text_rows.h"

static int compare_costs(const void *a, const void *b)
{
	const struct task_cost *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return (x->task > y->task) - (x->task < y->task);
}

struct task_cost *text_task_costs(const struct text_report *report, enum text_tasks tasks, size_t *ret_n)
{
	size_t n = tasks == TASKS_BY_THREAD ? report->profile->threads.n : report->profile->processes.n;
	struct task_cost *costs = alloc_zero(n + 1, sizeof(*costs));

	for (size_t i = 0; i < n; i++)
		costs[i].task = (uint32_t)i;
	for (size_t i = 0; i < report->tree->values.n; i++) {
		const struct scope_value *value = &report->tree->values.at[i];
		uint32_t process = report->profile->threads.at[value->thread].process;
		struct task_cost *cost = &costs[tasks == TASKS_BY_THREAD ? value->thread : process];
		if (!text_has_thread(report, value->thread))
			continue;
		cost->cost += value->metric == report->metric ? value->value : 0;
		cost->samples += value->metric == 0 ? value->value : 0;
	}
	qsort(costs, n, sizeof(*costs), compare_costs);
	while (n > 0 && costs[n - 1].samples == 0 && costs[n - 1].cost == 0) /* a wait need not be sampled */
		n--;
	*ret_n = n;
	return costs;
}

static void text_tasks_put_name(const struct text_report *report, struct line *line, enum tint tint,
				uint32_t comm)
{
	line_name(line, tint, comm ? intern_text(&report->profile->strings, comm) : "[unnamed]");
}

static void put_thread(const struct text_report *report, struct line *line, uint32_t index)
{
	const struct profile_thread *thread = &report->profile->threads.at[index];
	const struct profile_process *process = &report->profile->processes.at[thread->process];

	line_printf(line, TINT_PLAIN, "%8d  ", thread->tid);
	text_tasks_put_name(report, line, TINT_PLAIN, thread->comm);
	if (thread->tid == process->pid)
		return;
	line_printf(line, TINT_DIM, "  of ");
	text_tasks_put_name(report, line, TINT_DIM, process->comm);
	line_printf(line, TINT_DIM, " (%d)", process->pid);
}

static void put_process(const struct text_report *report, struct line *line, uint32_t index)
{
	const struct profile_process *process = &report->profile->processes.at[index];

	line_printf(line, TINT_PLAIN, "%8d  ", process->pid);
	text_tasks_put_name(report, line, TINT_PLAIN, process->comm);
	if (!process->command_line)
		return;
	line_printf(line, TINT_PLAIN, "  ");
	line_name(line, TINT_DIM, intern_text(&report->profile->strings, process->command_line));
}

static void text_tasks_put_task(const struct text_report *report, const struct task_cost *cost,
				enum text_tasks tasks)
{
	struct line line = line_start(report->to, &report->options->style);
	char number[NUMBER_MAX];

	line_printf(&line, TINT_PLAIN, "%6.1f%% ", number_share(cost->cost, report->total));
	if (!text_is_narrow(report))
		line_printf(&line, TINT_PLAIN, "%7s  ", number_count(cost->samples, number));
	if (tasks == TASKS_BY_THREAD)
		put_thread(report, &line, cost->task);
	else
		put_process(report, &line, cost->task);
	line_end(&line);
}

void text_tasks(const struct text_report *report, enum text_tasks tasks, size_t limit)
{
	bool is_thread = tasks == TASKS_BY_THREAD;
	char number[NUMBER_MAX];
	size_t n;
	CLEANUP(freep) struct task_cost *costs = text_task_costs(report, tasks, &n);
	struct line line = line_start(report->to, &report->options->style);

	line_printf(&line, TINT_DIM, "%7s ", "total");
	if (!text_is_narrow(report))
		line_printf(&line, TINT_DIM, "%7s  ", "samples");
	line_printf(&line, TINT_DIM, "%8s  %s", is_thread ? "tid" : "pid", is_thread ? "thread" : "process");
	line_end(&line);
	for (size_t i = 0; i < n && (limit == 0 || i < limit); i++)
		text_tasks_put_task(report, &costs[i], tasks);
	if (limit == 0 || n <= limit)
		return;
	line = line_start(report->to, &report->options->style);
	line_printf(&line, TINT_DIM, "and %s more%s", number_count(n - limit, number),
		    report->options->tasks == TASKS_NOT ? ": --group-by thread" : "");
	line_end(&line);
}
