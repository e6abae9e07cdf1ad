/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/live.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/output.h"

int live_check(const char *watch, struct diag *diag)
{
	if (exporter_for_file(watch))
		return output_check(watch, "--watch", diag);
	diag_set(diag, -EINVAL, "cannot watch with '%s'", watch);
	diag_why(diag, "its name says no format");
	diag_hint(diag, "try a name such as profile.json, profile.rows.json or profile.html");
	return -EINVAL;
}

void live_init(struct live *live, double stream_s, const char *watch, double watch_s, uint64_t now_ns)
{
	double interval = watch ? watch_s : stream_s;

	*live = (struct live){ .path = watch,
			       .interval_ns = (uint64_t)(interval * 1e9),
			       .start_ns = now_ns,
			       .last_ns = now_ns };
	live->next_ns = now_ns + live->interval_ns;
	live->exporter = watch ? exporter_for_file(watch) : stream_s > 0 ? &exporter_ndjson : NULL;
}

/* In the child: what the profile holds less what was told before. */
static void keep_difference(const struct live *live, struct profile *profile)
{
	struct cct *cct = &profile->cct;
	struct profile_quality *q = &profile->quality;
	size_t n = 0;

	for (size_t i = 0; i < cct->values.n; i++) {
		struct cct_value value = cct->values.at[i];
		value.value -= i < live->told.n ? live->told.at[i] : 0;
		if (value.value)
			cct->values.at[n++] = value;
	}
	cct->values.n = n;
	q->samples -= live->quality.samples;
	q->lost -= live->quality.lost;
	q->throttled -= live->quality.throttled;
	for (size_t i = 0; i < STACK_END_N; i++)
		q->by_end[i] -= live->quality.by_end[i];
	for (size_t i = 0; i < WITNESS_N; i++)
		q->steps_by_witness[i] -= live->quality.steps_by_witness[i];
	profile->timeline.n = 0; /* its bins are the whole run's */
}

static int write_export(const struct live *live, struct profile *profile, struct images *images,
			const struct resolve_options *options, uint64_t now_ns)
{
	const uint64_t interval[2] = { live->last_ns - live->start_ns, now_ns - live->start_ns };
	struct export_choice choice = { .options = { .totals = true,
						     .metric = (uint32_t)export_find_metric(profile, NULL) },
					.no_loops = !live->exporter->loops_by_default,
					.is_quiet = true };
	struct diag diag = { 0 };

	if (!live->path) {
		keep_difference(live, profile);
		choice.options.interval = interval;
	}
	profile->run.is_checkpoint = 1;
	int error = resolve(profile, images, options, &diag);
	if (error == 0)
		error = export_to(live->exporter, profile, &choice, live->path, &diag);
	if (error == 0)
		error = fflush(stdout) == 0 ? 0 : diag_set(&diag, -EIO, "cannot write the stream");
	return error < 0 ? cmd_fail(&diag) : 0;
}

static void remember(struct live *live, const struct profile *profile, uint64_t now_ns)
{
	vec_clear(&live->told);
	for (size_t i = 0; !live->path && i < profile->cct.values.n; i++)
		vec_push(&live->told, profile->cct.values.at[i].value);
	live->quality = profile->quality;
	live->last_ns = now_ns;
}

static void start(struct live *live, struct profile *profile, struct images *images,
		  const struct resolve_options *options, uint64_t now_ns)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(write_export(live, profile, images, options, now_ns));
	if (pid < 0)
		return; /* no memory for it now; perhaps next time */
	live->writer = pid;
	remember(live, profile, now_ns);
}

static bool is_busy(struct live *live, int flags)
{
	if (live->writer && waitpid(live->writer, NULL, flags) == 0)
		return true;
	live->writer = 0;
	return false;
}

bool live_is_due(struct live *live, uint64_t now_ns)
{
	return live->exporter && now_ns >= live->next_ns && !is_busy(live, WNOHANG);
}

void live_write(struct live *live, struct profile *profile, struct images *images,
		const struct resolve_options *options, uint64_t now_ns)
{
	start(live, profile, images, options, now_ns);
	live->next_ns = now_ns + live->interval_ns;
}

void live_finish(struct live *live, struct profile *profile, struct images *images,
		 const struct resolve_options *options, uint64_t now_ns)
{
	if (!live->exporter)
		return;
	is_busy(live, 0);
	start(live, profile, images, options, now_ns);
	is_busy(live, 0);
	vec_done(&live->told);
}
