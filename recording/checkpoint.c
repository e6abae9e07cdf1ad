/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/checkpoint.h"

#include "base/clock.h"

#define COST_FACTOR 20 /* forking a large process stops it for a moment: at most 5 % of the time */

/* What the child has to do. */
struct checkpoint_job {
	struct output *output;
	struct profile *profile;
};

void checkpoint_init(struct checkpoint *checkpoint, uint64_t interval_ns, uint64_t now_ns)
{
	*checkpoint = (struct checkpoint){ .interval_ns = interval_ns, .next_ns = now_ns + interval_ns };
}

bool checkpoint_is_due(struct checkpoint *checkpoint, uint64_t now_ns)
{
	if (!checkpoint->interval_ns || now_ns < checkpoint->next_ns)
		return false;
	if (!child_is_busy(&checkpoint->writer))
		return true;
	checkpoint->next_ns = now_ns + checkpoint->interval_ns;
	return false;
}

static int checkpoint_run(void *context, int result)
{
	const struct checkpoint_job *job = context;
	struct diag diag = { 0 };

	(void)result;
	job->profile->run.is_checkpoint = 1;
	return output_write(job->output, job->profile, &diag) < 0;
}

void checkpoint_write(struct checkpoint *checkpoint, struct output *output, struct profile *profile,
		      const struct workers *workers, uint64_t now_ns)
{
	struct checkpoint_job job = { output, profile };
	struct child_options options = { .run = checkpoint_run,
					 .context = &job,
					 .is_at_rest = workers_are_idle,
					 .rest_context = workers,
					 .outlives_us = true };

	if (output->keeps_last && !profile->quality.samples) { /* the last file is worth more */
		checkpoint->next_ns = now_ns + checkpoint->interval_ns;
		return;
	}
	int error = child_start(&checkpoint->writer, &options);

	uint64_t pause = (clock_now_ns() - now_ns) * COST_FACTOR;
	checkpoint->next_ns = now_ns + (pause > checkpoint->interval_ns ? pause : checkpoint->interval_ns);
	if (!error)                         /* otherwise there was no memory for it; perhaps next time */
		output->has_rotated = true; /* the child keeps the last file; we must not do so again */
}

void checkpoint_finish(struct checkpoint *checkpoint)
{
	child_wait(&checkpoint->writer);
	child_done(&checkpoint->writer);
}
