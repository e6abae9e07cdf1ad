/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

struct check {
	const struct profile *profile;
	const char *name;
	struct diag *diag;
};

__attribute__((format(printf, 2, 3))) static int contradiction(const struct check *check, const char *why,
							       ...)
{
	char text[200];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	diag_set(check->diag, -EINVAL, "profile '%s' is inconsistent", check->name);
	diag_why(check->diag, "%s", text);
	return -EINVAL;
}

static int check_metrics(const struct check *check)
{
	const struct profile *p = check->profile;

	if (p->metrics.n == 0)
		return p->cct.values.n ? contradiction(check, "it has values but no metrics") : 0;
	if (strcmp(intern_text(&p->strings, p->metrics.at[0].name), "samples") != 0)
		return contradiction(check, "metric 0 is not samples");
	if (p->metrics.n != 1 + p->events.n)
		return contradiction(check, "%zu metrics for %zu events", p->metrics.n, p->events.n);
	for (size_t i = 1; i < p->metrics.n; i++)
		if (p->metrics.at[i].event != i - 1)
			return contradiction(check, "metric %zu is not of event %zu", i, i - 1);
	return 0;
}

static int check_samples(const struct check *check)
{
	const struct profile *p = check->profile;
	CLEANUP(freep) bool *is_incomplete = cct_incomplete(&p->cct);
	uint64_t complete = 0, incomplete = 0, ended = 0, in_rounds = 0;

	for (size_t i = 0; i < p->cct.values.n; i++) {
		const struct cct_value *value = &p->cct.values.at[i];
		if (value->metric == CCT_ACTIVATIONS || value->metric >= CCT_DURATION)
			continue;
		if (value->metric >= CCT_ROUND)
			in_rounds += value->value;
		else if (value->metric == 0 && is_incomplete[value->node])
			incomplete += value->value;
		else if (value->metric == 0)
			complete += value->value;
	}
	for (size_t i = 0; i < STACK_END_N; i++)
		ended += p->quality.by_end[i];
	if (complete + incomplete != p->quality.samples)
		return contradiction(check, "the tree holds %llu samples, the quality tally %llu",
				     (unsigned long long)complete + incomplete,
				     (unsigned long long)p->quality.samples);
	if (in_rounds > p->quality.samples)
		return contradiction(check, "rounds hold %llu samples, of %llu",
				     (unsigned long long)in_rounds, (unsigned long long)p->quality.samples);
	if (ended != p->quality.samples)
		return contradiction(check, "%llu stacks ended, of %llu samples", (unsigned long long)ended,
				     (unsigned long long)p->quality.samples);
	if (complete != p->quality.by_end[STACK_COMPLETE])
		return contradiction(check, "%llu samples are below the root, %llu stacks were complete",
				     (unsigned long long)complete,
				     (unsigned long long)p->quality.by_end[STACK_COMPLETE]);
	return 0;
}

/* Readers of exports have signed numbers. Values of damaged files may have wrapped around. */
static int check_sums(const struct check *check)
{
	const struct profile *p = check->profile;
	CLEANUP(freep) uint64_t *sums = alloc_zero(p->metrics.n + 1, sizeof(*sums));

	for (size_t i = 0; i < p->cct.values.n; i++) {
		const struct cct_value *value = &p->cct.values.at[i];
		if (value->metric >= p->metrics.n)
			continue;
		uint64_t *sum = &sums[value->metric];
		if (value->value > INT64_MAX || *sum > INT64_MAX - value->value)
			return contradiction(check, "the values of metric %u are too large to be added",
					     value->metric);
		*sum += value->value;
	}
	return 0;
}

static int check_tasks(const struct check *check)
{
	const struct profile *p = check->profile;

	for (size_t i = 0; i < p->processes.n; i++)
		if (p->processes.at[i].pid < 0)
			return contradiction(check, "process %zu has the id %d", i, p->processes.at[i].pid);
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.at[i].tid < 0)
			return contradiction(check, "thread %zu has the id %d", i, p->threads.at[i].tid);
	return 0;
}

static int check_timeline(const struct check *check)
{
	const struct profile *p = check->profile;
	CLEANUP(freep) uint64_t *in_tree = alloc_zero(p->threads.n + 1, sizeof(*in_tree));
	CLEANUP(freep) uint64_t *in_time = alloc_zero(p->threads.n + 1, sizeof(*in_time));

	if (p->timeline.n == 0)
		return 0;
	for (size_t i = 0; i < p->cct.values.n; i++)
		if (p->cct.values.at[i].metric == 0)
			in_tree[p->cct.values.at[i].thread] += p->cct.values.at[i].value;
	for (size_t i = 0; i < p->timeline.n; i++)
		in_time[p->timeline.at[i].thread] += p->timeline.at[i].samples;
	for (size_t i = 0; i < p->threads.n; i++)
		if (in_tree[i] != in_time[i])
			return contradiction(
				check, "thread %d has %llu samples in the tree and %llu in the timeline",
				p->threads.at[i].tid, (unsigned long long)in_tree[i],
				(unsigned long long)in_time[i]);
	return 0;
}

static int check_functions(const struct check *check)
{
	const struct profile *p = check->profile;

	if (!p->run.is_resolved)
		return 0;
	for (size_t i = CCT_INCOMPLETE + 1; i < p->cct.nodes.n; i++) {
		const struct cct_node *node = &p->cct.nodes.at[i];
		uint64_t vaddr = node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0);
		if (node->image != IMAGE_NONE && !profile_function(p, node->image, vaddr))
			return contradiction(check, "node %zu at 0x%llx of image %u has no function", i,
					     (unsigned long long)vaddr, node->image);
	}
	return 0;
}

int profile_check(const struct profile *profile, const char *name, struct diag *diag)
{
	static int (*const checks[])(const struct check *check) = { check_metrics,  check_samples,
								    check_sums,     check_tasks,
								    check_timeline, check_functions };
	struct check check = { profile, name, diag };

	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		int error = checks[i](&check);
		if (error < 0)
			return error;
	}
	return 0;
}
