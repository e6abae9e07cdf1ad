/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/keep_process.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/merge.h"

struct keep {
	struct profile *profile;
	const char *wanted;
	bool by_name_only;
	uint32_t *process, *thread, *node; /* by old number: the new one; UINT32_MAX = removed */
};

static bool keep_fits(const struct keep *keep, const struct profile_process *process)
{
	char *end;
	long number = strtol(keep->wanted, &end, 10);

	if (isdigit((unsigned char)*keep->wanted) && !*end && !keep->by_name_only)
		return process->pid == number;
	return strcmp(intern_text(&keep->profile->strings, process->comm), keep->wanted) == 0;
}

static void keep_tasks(struct keep *keep)
{
	struct profile *profile = keep->profile;
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile->processes.n; i++) {
		bool fits = keep_fits(keep, &profile->processes.at[i]);
		keep->process[i] = fits ? n : UINT32_MAX;
		if (fits)
			profile->processes.at[n++] = profile->processes.at[i];
	}
	profile->processes.n = n;
	n = 0;
	for (uint32_t i = 0; i < profile->threads.n; i++) {
		struct profile_thread thread = profile->threads.at[i];
		thread.process = keep->process[thread.process];
		keep->thread[i] = thread.process != UINT32_MAX ? n : UINT32_MAX;
		if (thread.process != UINT32_MAX)
			profile->threads.at[n++] = thread;
	}
	profile->threads.n = n;
}

static void keep_values(struct keep *keep)
{
	struct cct *cct = &keep->profile->cct;
	size_t n = 0;

	for (size_t i = 0; i < cct->values.n; i++) {
		struct cct_value value = cct->values.at[i];
		value.thread = keep->thread[value.thread];
		if (value.thread == UINT32_MAX)
			continue;
		keep->node[value.node] = 1;
		cct->values.at[n++] = value;
	}
	cct->values.n = n;
}

/* Those with a value, and their ancestors. Parents come before their children. */
static void keep_nodes(struct keep *keep)
{
	struct cct *cct = &keep->profile->cct;
	uint32_t n = 0;

	cct_forget_hash(cct);
	for (size_t i = cct->nodes.n; i-- > 1;)
		if (keep->node[i])
			keep->node[cct->nodes.at[i].parent] = 1;
	for (uint32_t i = 0; i < cct->nodes.n; i++) {
		bool stays = keep->node[i] || i <= CCT_INCOMPLETE;
		keep->node[i] = stays ? n : UINT32_MAX;
		if (!stays)
			continue;
		cct->nodes.at[n] = cct->nodes.at[i];
		cct->nodes.at[n].parent = i ? keep->node[cct->nodes.at[i].parent] : 0;
		cct->nodes.at[n++].value = 0;
	}
	cct->nodes.n = n;
	for (size_t i = 0; i < cct->values.n; i++)
		cct->values.at[i].node = keep->node[cct->values.at[i].node];
}

static void keep_timeline(struct keep *keep)
{
	struct profile *profile = keep->profile;
	size_t n = 0;

	for (size_t i = 0; i < profile->timeline.n; i++) {
		struct profile_bin bin = profile->timeline.at[i];
		bin.thread = keep->thread[bin.thread];
		if (bin.thread != UINT32_MAX)
			profile->timeline.at[n++] = bin;
	}
	profile->timeline.n = n;
}

/* Why stacks ended is known only in total: the counts are scaled to the remaining samples. What the kernel
 * has counted cannot be divided among processes: it is not known of these. */
static void keep_quality(struct profile *profile)
{
	struct profile_quality *quality = &profile->quality;
	uint64_t samples = 0, complete = 0, ended = quality->samples - quality->by_end[STACK_COMPLETE];
	CLEANUP(freep) bool *is_whole = alloc_zero(profile->cct.nodes.n + 1, sizeof(*is_whole));

	for (uint32_t i = 0; i < profile->cct.nodes.n; i++)
		is_whole[i] =
			i != CCT_INCOMPLETE && (i == CCT_ROOT || is_whole[profile->cct.nodes.at[i].parent]);
	for (size_t i = 0; i < profile->cct.values.n; i++) {
		const struct cct_value *value = &profile->cct.values.at[i];
		samples += value->metric == 0 ? value->value : 0;
		complete += value->metric == 0 && is_whole[value->node] ? value->value : 0;
	}
	uint64_t left = samples - complete, given = 0;
	enum stack_end most = STACK_NO_IMAGE;
	for (unsigned end = STACK_COMPLETE + 1; end < STACK_END_N; end++) {
		most = quality->by_end[end] > quality->by_end[most] ? (enum stack_end)end : most;
		quality->by_end[end] =
			ended ? (uint64_t)((double)quality->by_end[end] * (double)left / (double)ended) : 0;
		given += quality->by_end[end];
	}
	quality->by_end[most] += left > given ? left - given : 0;
	quality->by_end[STACK_COMPLETE] = complete;
	quality->samples = samples;
	quality->counted = quality->idle = quality->others = 0;
}

static void keep_all(struct profile *profile, const char *wanted, bool by_name_only)
{
	struct keep keep = { .profile = profile,
			     .wanted = wanted,
			     .by_name_only = by_name_only,
			     .process = alloc_zero(profile->processes.n + 1, sizeof(uint32_t)),
			     .thread = alloc_zero(profile->threads.n + 1, sizeof(uint32_t)),
			     .node = alloc_zero(profile->cct.nodes.n + 1, sizeof(uint32_t)) };

	keep_tasks(&keep);
	keep_values(&keep);
	keep_nodes(&keep);
	keep_timeline(&keep);
	keep_quality(profile);
	free(keep.process);
	free(keep.thread);
	free(keep.node);
}

void profile_keep_process(struct profile *profile, const char *process)
{
	keep_all(profile, process, false);
}

struct profile *profile_copy_named(const struct profile *profile, const char *comm)
{
	struct merger *merger = merger_new(&(struct merge_options){ .joins = MERGE_BY_NUMBER });
	struct diag diag = { 0 };

	(void)merger_add(merger, profile, comm, &diag); /* a single profile can always be added */
	struct profile *copy = merger_finish_plain(merger);
	keep_all(copy, comm, true);
	return copy;
}
