/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_set.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/database.h"
#include "recording/export_file.h"
#include "report/annotate/source_user.h"
#include "report/diff/joint.h"
#include "report/quality.h"

#define GO_ON (-1)

void run_set_done(struct run_set *set)
{
	for (size_t i = 0; i < set->notes.n; i++)
		free(set->notes.at[i]);
	vec_done(&set->notes);
	vec_done(&set->seen);
	free(set->first);
	free(set->metric_name);
	free(set->unit);
	free(set->arch);
}

__attribute__((format(printf, 1, 2))) static int run_set_refuse(const char *format, ...)
{
	CLEANUP(freep) char *sentence = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&sentence, format, args) < 0)
		sentence = NULL;
	va_end(args);
	/* On one line, even if the names in it have line breaks. */
	fprintf(stderr, "cpprof: ");
	cmd_print_name(stderr, sentence ? sentence : "out of memory");
	fprintf(stderr, "\n");
	return EXIT_FAULT;
}

/* The same file given twice is counted twice. */
static void run_set_note_twice(struct run_set *set, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return;
	for (size_t i = 0; i < set->seen.n; i++)
		if (set->seen.at[i].device == st.st_dev && set->seen.at[i].inode == st.st_ino) {
			vec_push(&set->notes, alloc_printf("Note: %s is given more than once.", path));
			return;
		}
	vec_push(&set->seen, (struct run_file){ st.st_dev, st.st_ino });
}

static void run_set_note_state(struct run_set *set, const char *path, const struct profile *profile)
{
	if (!profile->run.is_resolved)
		vec_push(&set->notes, alloc_printf("Note: %s has no symbols yet, so little of it can be "
						   "matched; try: cpprof resolve %s",
						   path, path));
	if (profile->run.is_checkpoint)
		vec_push(
			&set->notes,
			alloc_printf("Note: %s is a checkpoint: the end of its recording is missing.", path));
}

void run_set_note_tree(struct run_set *set, const char *path, const struct profile *profile)
{
	if (profile->quality.shortened_frames)
		vec_push(&set->notes,
			 alloc_printf("Note: %llu frames of %s are without all of their inlined calls and "
				      "loops, because those are nested too deeply in too many call paths.",
				      (unsigned long long)profile->quality.shortened_frames, path));
}

static bool run_set_excludes_kernel(const struct profile *profile)
{
	return profile->events.n > 0 && profile->events.at[0].excludes_kernel;
}

/* Profiles must measure the same thing; other differences are noted. */
static int run_set_fit(struct run_set *set, const char *path, const struct profile *profile, uint32_t metric)
{
	const char *name = intern_text(&profile->strings, profile->metrics.at[metric].name);
	const char *unit = intern_text(&profile->strings, profile->metrics.at[metric].unit);
	const char *arch = intern_text(&profile->strings, profile->run.arch);

	if (!set->first) {
		set->first = alloc_text(path);
		set->metric_name = alloc_text(name);
		set->unit = alloc_text(unit);
		set->arch = alloc_text(arch);
		set->excludes_kernel = run_set_excludes_kernel(profile);
		return GO_ON;
	}
	if (strcmp(name, set->metric_name) != 0)
		return run_set_refuse("'%s' counts %s and '%s' %s: they cannot be compared", path, name,
				      set->first, set->metric_name);
	if (strcmp(unit, set->unit) != 0)
		return run_set_refuse("'%s' counts %s in %s and '%s' in %s: they cannot be compared", path,
				      name, unit, set->first, set->unit);
	if (strcmp(arch, set->arch) != 0)
		vec_push(&set->notes, alloc_printf("Note: %s was recorded on %s and %s on %s: costs on "
						   "different machines are hard to compare.",
						   path, *arch ? arch : "an unknown architecture", set->first,
						   *set->arch ? set->arch : "an unknown architecture"));
	if (run_set_excludes_kernel(profile) != set->excludes_kernel)
		vec_push(&set->notes, alloc_printf("Note: only one of %s and %s contains kernel samples.",
						   path, set->first));
	return GO_ON;
}

static int run_set_trust(const struct run_set *set, const char *path, const struct profile *profile)
{
	CLEANUP(text_done) struct text why = { 0 };

	if (profile->quality.samples == 0) {
		run_set_refuse("'%s' has no samples: %s", path, quality_no_samples(profile));
		return EXIT_NO_SAMPLES;
	}
	if (!quality_meets(profile, &set->min_quality, &why)) {
		run_set_refuse("'%s': %s", path, why.at);
		return EXIT_UNTRUSTWORTHY;
	}
	return GO_ON;
}

static void run_set_add_quality(struct profile_quality *to, const struct profile_quality *from)
{
	to->samples += from->samples;
	to->lost += from->lost;
	to->unsymbolized += from->unsymbolized;
	to->without_lines += from->without_lines;
	to->own_cpu_ns += from->own_cpu_ns;
	for (size_t i = 0; i < STACK_END_N; i++)
		to->by_end[i] += from->by_end[i];
	for (size_t i = 0; i < WITNESS_N; i++)
		to->steps_by_witness[i] += from->steps_by_witness[i];
}

/* The requested metric; negative = there is none. Numbers of calls become a metric. */
static int run_set_find_metric(const struct run_set *set, struct profile *profile)
{
	int metric = export_find_metric(profile, set->metric);

	if (metric >= 0 || !set->metric || strcmp(set->metric, JOINT_CALLS) != 0)
		return metric;
	vec_push(&profile->metrics,
		 ((struct profile_metric){ .name = intern_add(&profile->strings, JOINT_CALLS),
					   .unit = intern_add(&profile->strings, "count"),
					   .event = UINT32_MAX }));
	return (int)profile->metrics.n - 1;
}

int run_set_read(struct run_set *set, const char *path, struct profile **ret, uint32_t *ret_metric)
{
	CLEANUP(profile_freep) struct profile *profile = NULL;
	struct diag diag = { 0 };

	if (database_read(path, &profile, &diag) < 0)
		return cmd_fail(&diag);
	int code = run_set_trust(set, path, profile);
	if (code >= 0)
		return code;
	int metric = run_set_find_metric(set, profile);
	if (metric < 0)
		return cmd_usage(set->command, "'%s' has no metric '%s'", path, set->metric);
	if (profile->metrics.n == 0) /* a profile with samples that have no weight */
		return run_set_refuse("'%s' has no metric", path);
	code = run_set_fit(set, path, profile, (uint32_t)metric);
	if (code >= 0)
		return code;
	run_set_note_twice(set, path);
	run_set_note_state(set, path, profile);
	source_user_limit(&set->sources, profile, path);
	run_set_add_quality(&set->quality, &profile->quality);
	*ret = TAKE(profile);
	*ret_metric = (uint32_t)metric;
	return GO_ON;
}
