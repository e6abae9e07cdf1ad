/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts: prints a profile as plain lines, for the end-to-end tests to grep. Exit status 1 if it cannot be
 * read or its sums are inconsistent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/profile.h"

static int contradiction(const char *what, uint64_t a, uint64_t b)
{
	if (a == b)
		return 0;
	printf("contradiction: %s: %" PRIu64 " and %" PRIu64 "\n", what, a, b);
	return 1;
}

static int check_sums(const struct profile *p)
{
	uint64_t samples = 0, binned = 0, ended = 0;

	for (size_t i = 0; i < p->cct.values.n; i++)
		if (p->cct.values.at[i].metric == 0)
			samples += p->cct.values.at[i].value;
	for (size_t i = 0; i < p->timeline.n; i++)
		binned += p->timeline.at[i].samples;
	for (size_t i = 0; i < STACK_END_N; i++)
		ended += p->quality.by_end[i];
	return contradiction("samples in the tree and in all", samples, p->quality.samples) +
	       contradiction("samples on the timeline and in all", binned, p->quality.samples) +
	       contradiction("samples by end and in all", ended, p->quality.samples);
}

static uint64_t samples_of(const struct profile *p, size_t thread)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->cct.values.n; i++)
		if (p->cct.values.at[i].metric == 0 && p->cct.values.at[i].thread == thread)
			sum += p->cct.values.at[i].value;
	return sum;
}

static void print_quality(const struct profile *p)
{
	const struct profile_quality *q = &p->quality;

	printf("samples %" PRIu64 "\n", q->samples);
	for (int i = 0; i < STACK_END_N; i++)
		if (q->by_end[i])
			printf("end %s %" PRIu64 "\n", stack_end_name((enum stack_end)i), q->by_end[i]);
	printf("lost %" PRIu64 "\nthrottled %" PRIu64 "\nclipped %" PRIu64 "\nouter %" PRIu64 "\n", q->lost,
	       q->throttled, q->clipped, q->outer);
	printf("counted_ms %" PRIu64 "\nsampled_ms %" PRIu64 "\n", q->counted / 1000000,
	       profile_sum(p, 1) / 1000000);
}

int main(int argc, char **argv)
{
	struct profile *p = NULL;
	struct diag diag = { 0 };

	if (argc != 2 || profile_read(argv[1], &p, &diag) < 0) {
		printf("unreadable: %s: %s\n", diag.what, diag.why);
		return 1;
	}
	print_quality(p);
	printf("checkpoint %u\nresolved %u\nduration_ms %" PRIu64 "\n", p->run.is_checkpoint,
	       p->run.is_resolved, p->run.duration_ns / 1000000);
	printf("mode %s\ncommand_line %s\n", intern_text(&p->strings, p->run.mode),
	       intern_text(&p->strings, p->run.command_line));
	for (size_t i = 0; i < p->events.n; i++)
		printf("event %s excludes_kernel=%u\n", intern_text(&p->strings, p->events.at[i].name),
		       p->events.at[i].excludes_kernel);
	for (size_t i = 0; i < p->processes.n; i++)
		printf("process %d parent %d %s\n", p->processes.at[i].pid, p->processes.at[i].parent_pid,
		       intern_text(&p->strings, p->processes.at[i].comm));
	for (size_t i = 0; i < p->processes.n; i++)
		if (p->processes.at[i].user)
			printf("user %u process %d\n", p->processes.at[i].user - 1, p->processes.at[i].pid);
	for (size_t i = 0; i < p->processes.n; i++)
		if (p->processes.at[i].rank)
			printf("rank %u process %d\n", p->processes.at[i].rank - 1, p->processes.at[i].pid);
	for (size_t i = 0; i < p->threads.n; i++)
		printf("thread %d of %d samples %" PRIu64 " %s\n", p->threads.at[i].tid,
		       p->processes.at[p->threads.at[i].process].pid, samples_of(p, i),
		       intern_text(&p->strings, p->threads.at[i].comm));
	for (size_t i = 0; i < p->notes.n; i++)
		printf("note %s\n", intern_text(&p->strings, p->notes.at[i]));

	int n = check_sums(p);
	profile_free(p);
	return n ? EXIT_FAILURE : EXIT_SUCCESS;
}
