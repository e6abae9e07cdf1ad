/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile/resolve_apart.h"
#include "recording/export_file.h"
#include "recording/output.h"

int live_check(const char *watch, struct diag *diag)
{
	if (exporter_for_file(watch))
		return output_check(watch, "--watch", diag);
	diag_set(diag, -EINVAL, "cannot use '%s' with --watch", watch);
	diag_why(diag, "the format cannot be determined from its name");
	diag_hint(diag, "try a name such as profile.json, profile.rows.json or profile.html");
	return -EINVAL;
}

void live_init(struct live *live, uint64_t stream_ns, const char *watch, uint64_t watch_ns, uint64_t now_ns)
{
	*live = (struct live){ .path = watch,
			       .interval_ns = watch ? watch_ns : stream_ns,
			       .start_ns = now_ns,
			       .last_ns = now_ns,
			       .is_told = true };
	live->next_ns = now_ns + live->interval_ns;
	live->exporter = watch ? exporter_for_file(watch) : stream_ns ? &exporter_ndjson : NULL;
}

/* ---- in the child ------------------------------------------------------------------------------- */

/* What the profile holds, less what was reported before. */
static void live_keep_difference(const struct live *live, struct profile *profile)
{
	struct cct *cct = &profile->cct;
	struct profile_quality *q = &profile->quality;
	size_t n = 0;

	for (size_t i = 0; i < cct->values.n; i++) {
		struct cct_value value = cct->values.at[i];
		value.value -= i < cct->told.n ? cct->told.at[i] : 0;
		if (value.value)
			cct->values.at[n++] = value;
	}
	cct->values.n = n;
	q->samples -= live->quality.samples;
	q->lost -= live->quality.lost;
	q->throttled -= live->quality.throttled;
	q->counted = q->idle = q->others = 0; /* of the whole run, when it has ended */
	for (size_t i = 0; i < STACK_END_N; i++)
		q->by_end[i] -= live->quality.by_end[i];
	for (size_t i = 0; i < WITNESS_N; i++)
		q->steps_by_witness[i] -= live->quality.steps_by_witness[i];
	profile->timeline.n = 0; /* its bins cover the whole run */
}

static int live_export(const struct live *live, const struct live_input *input, uint64_t now_ns,
		       struct diag *diag)
{
	const uint64_t interval[2] = { live->last_ns - live->start_ns, now_ns - live->start_ns };
	struct profile *profile = input->profile;
	struct export_choice choice = export_choose(live->exporter, profile);

	choice.mode = live->mode;
	choice.options.labels = live->labels;
	choice.options.n_labels = live->n_labels;
	if (!live->path && !live->is_whole) {
		live_keep_difference(live, profile);
		choice.options.interval = interval;
	}
	/* An interval is complete in itself; a file that is watched is complete when it is written for the
	 * last time. */
	profile->run.is_checkpoint = live->path && !live->is_last;
	int error = resolve_apart(profile, input->images, input->names, diag);
	if (error == 0)
		error = export_file(live->exporter, profile, &choice, live->path, NULL, diag);
	if (error == 0)
		error = fflush(stdout) == 0 ? 0 : diag_set(diag, -EIO, "cannot write the stream");
	return error;
}

struct live_job {
	const struct live *live;
	const struct live_input *input;
	uint64_t now_ns;
};

/* The error, if there is one, is the result. */
static int live_run(void *context, int result)
{
	const struct live_job *job = context;
	struct diag diag = { 0 };

	if (live_export(job->live, job->input, job->now_ns, &diag) == 0)
		return 0;
	return write(result, &diag, sizeof(diag)) == sizeof(diag) ? 1 : 2;
}

/* ---- in the parent ------------------------------------------------------------------------------ */

static void live_remember(struct live *live, const struct live_input *input, uint64_t now_ns)
{
	if (!live->path && !live->is_last)
		workers_mark_told(input->workers);
	live->quality = input->profile->quality;
	live->last_ns = now_ns;
}

/* Half an interval is of no use to a reader: an export that has begun is finished even if we are killed. */
static void live_start(struct live *live, const struct live_input *input, uint64_t now_ns)
{
	struct live_job job = { live, input, now_ns };
	struct child_options options = { .run = live_run,
					 .context = &job,
					 .is_at_rest = workers_are_idle,
					 .rest_context = input->workers,
					 .outlives_us = true,
					 .has_result = true,
					 .max_result = sizeof(struct diag) };

	if (child_start(&live->writer, &options) < 0)
		return; /* no memory for it now; perhaps next time */
	live->is_told = false;
	live_remember(live, input, now_ns);
}

bool live_is_due(struct live *live, uint64_t now_ns)
{
	return live->exporter && now_ns >= live->next_ns && !child_is_busy(&live->writer);
}

void live_write(struct live *live, const struct live_input *input, uint64_t now_ns)
{
	live_start(live, input, now_ns);
	live->next_ns = now_ns + live->interval_ns;
}

void live_wait(struct live *live)
{
	child_wait(&live->writer);
}

void live_finish(struct live *live, const struct live_input *input, uint64_t now_ns)
{
	if (!live->exporter)
		return;
	live->is_last = true;
	live_start(live, input, now_ns);
	child_wait(&live->writer);
}

bool live_fault(struct live *live, struct diag *ret)
{
	if (live->is_told || child_is_busy(&live->writer))
		return false;

	struct bytes result = child_result(&live->writer);
	live->is_told = true;
	if (result.len != sizeof(*ret))
		return false;
	memcpy(ret, result.at, sizeof(*ret));
	return true;
}

void live_done(struct live *live)
{
	child_done(&live->writer);
}
