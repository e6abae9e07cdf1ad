/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_account: what the first event has counted, and which part of that is not ours. With what the
 * samples represent, it shows whether anything is missing.
 */
#include "base/clock.h"
#include "recording/recording_private.h"

#define RUNNING_LEAST 0.995 /* counted for this part of the time: always counted */

double recording_running(const struct recording *r, uint32_t event)
{
	double share = perf_source_running(r->source, event);

	return share <= 0 || share > RUNNING_LEAST ? 1 : share;
}

/* Since the beginning. */
static struct recording_counts counts_read(const struct recording *r)
{
	struct perf_source_stats stats = perf_source_stats(r->source);
	struct recording_counts counts = { .time_ns = clock_now_ns(),
					   .counted = (uint64_t)((double)perf_source_counted(r->source) /
								 recording_running(r, 0)),
					   .idle = stats.idle,
					   .others = stats.foreign,
					   .resting = stats.resting };

	if (r->machine) {
		counts.idle += machine_dropped(r->machine).idle;
		counts.others += machine_dropped(r->machine).others;
	}
	return counts;
}

static uint64_t counts_between(uint64_t from, uint64_t to, double share)
{
	return to > from ? from + (uint64_t)((double)(to - from) * share) : to;
}

/* What was read now, as of an earlier time. Idle CPUs and other processes were counted by samples, up to that
 * time only. */
static struct recording_counts counts_at(const struct recording_counts *from, struct recording_counts to,
					 uint64_t time_ns)
{
	if (time_ns >= to.time_ns || time_ns <= from->time_ns)
		return to;
	double share = (double)(time_ns - from->time_ns) / (double)(to.time_ns - from->time_ns);
	to.counted = counts_between(from->counted, to.counted, share);
	to.resting = counts_between(from->resting, to.resting, share);
	to.time_ns = time_ns;
	return to;
}

/*
 * On some machines, the clock of an idle CPU does not sample it. The kernel knows how long it was idle, but
 * only in hundredths of a second: so that is no more than what would be missing otherwise.
 */
static uint64_t account_idle(const struct profile *profile, uint64_t sampled_idle, uint64_t resting)
{
	const struct profile_quality *quality = &profile->quality;
	uint64_t sampled = profile_sum(profile, 1);
	uint64_t lost =
		quality->samples
			? (uint64_t)((double)sampled / (double)quality->samples * (double)quality->lost)
			: 0;
	uint64_t known = sampled + lost + quality->others;
	uint64_t rest = quality->counted > known ? quality->counted - known : 0;
	uint64_t most = resting < rest ? resting : rest;

	return sampled_idle > most ? sampled_idle : most;
}

void recording_account(struct recording *r, struct profile *profile, uint64_t end_ns)
{
	struct recording_counts *from = &r->account_from, to;
	struct profile_quality *quality = &profile->quality;

	if (r->source->info.events.at[0].values != SOURCE_WEIGHTS || profile->metrics.n < 2)
		return;
	to = counts_read(r);
	if (end_ns)
		to = counts_at(from, to, end_ns);
	quality->counted = to.counted > from->counted ? to.counted - from->counted : 0;
	if (quality->counted) {
		quality->others = to.others - from->others;
		quality->idle = account_idle(profile, to.idle - from->idle,
					     to.resting > from->resting ? to.resting - from->resting : 0);
	}
	if (end_ns)
		*from = to;
}
