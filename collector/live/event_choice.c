/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/event_choice.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

static bool choice_is_missing(int error)
{
	return error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV || error == -EINVAL ||
	       error == -ENXIO;
}

static void choice_add_spec(struct event_choice *choice, const struct event_spec *spec)
{
	for (size_t i = 0; i < choice->n; i++)
		if (strcmp(choice->specs[i].name, spec->name) == 0)
			return; /* two events were replaced by the same one, or it is already in the list */
	choice->specs[choice->n++] = *spec;
}

/* Only time can be added to the time of waits. */
static void choice_choose_default(struct event_choice *choice, bool needs_time)
{
	struct event_spec spec = event_spec_cycles();

	if (needs_time || choice_is_missing(perf_events_probe(&spec, false)))
		spec = event_spec_cpu_clock();
	choice_add_spec(choice, &spec);
}

/* An event by name. If the machine does not have it, returns why; *ret is what is used instead. */
static int choice_parse_event(struct source_info *info, const char *name, struct event_spec *ret,
			      struct diag *diag)
{
	int error = event_spec_parse(name, ret, diag);

	if (error)
		return error;
	error = perf_events_probe(ret, false);
	if (!choice_is_missing(error))
		return 0;
	source_info_note(info, "this machine cannot count '%s' (%s); cpu-clock is used instead", name,
			 strerror(-error));
	*ret = event_spec_cpu_clock();
	return 0;
}

/* "{a,b,c}", as in perf: the first one samples, and the others are read with it. */
static int choice_add_group(struct source_info *info, const char *text, struct event_choice *choice,
			    struct diag *diag)
{
	size_t first = choice->n, end = strcspn(text, "}");
	CLEANUP(freep) char *names = alloc_text_n(text + 1, end - 1);

	if (text[end] != '}' || (text[end + 1] && strcmp(text + end + 1, ":S") != 0)) {
		diag_set(diag, -EINVAL, "cannot count '%s'", text);
		diag_why(diag, "a group is written {a,b,c}, with nothing after it");
		return -EINVAL;
	}
	for (char *rest = names, *name; (name = strsep(&rest, ","));) {
		struct event_spec spec;
		if (choice->n - first > SAMPLE_VALUES_MAX || choice->n == EVENTS_MAX)
			return diag_set(diag, -E2BIG, "cannot count so many events together: '%s'", text);
		int error = choice_parse_event(info, name, &spec, diag);
		if (error)
			return error;
		choice_add_spec(choice, &spec);
		choice->specs[choice->n - 1].is_member = choice->n - 1 > first;
	}
	return 0;
}

/* The requested events, or their replacements, with a note. */
int event_choice_make(struct event_choice *choice, const struct perf_source_options *options,
		      struct source_info *info, struct diag *diag)
{
	if (options->n_events > EVENTS_MAX)
		return diag_set(diag, -E2BIG, "cannot count %zu events at once", options->n_events);
	if (options->is_traced)
		return 0;
	if (!options->n_events && !options->without_cpu)
		choice_choose_default(choice, options->with_waits);
	for (size_t i = 0; i < options->n_events; i++) {
		struct event_spec spec;
		bool is_group = options->events[i][0] == '{';
		int error = is_group ? choice_add_group(info, options->events[i], choice, diag)
				     : choice_parse_event(info, options->events[i], &spec, diag);
		if (error)
			return error;
		if (!is_group && choice->n == EVENTS_MAX)
			return diag_set(diag, -E2BIG, "cannot count so many events at once");
		if (!is_group)
			choice_add_spec(choice, &spec);
	}
	return 0;
}

int event_choice_counters(struct event_choice *choice, const struct perf_source_options *options,
			  struct source_info *info, struct diag *diag)
{
	for (size_t i = 0; i < options->n_events; i++) {
		struct event_spec spec;
		if (options->events[i][0] == '{') {
			diag_set(diag, -EINVAL, "cannot count '%s'", options->events[i]);
			diag_why(diag, "events of calls are always counted together");
			diag_hint(diag, "omit the braces");
			return -EINVAL;
		}
		int error = event_spec_parse(options->events[i], &spec, diag);
		if (error)
			return error;
		if ((error = perf_events_probe(&spec, true))) {
			source_info_note(info, "this machine cannot count '%s' (%s): it is ignored",
					 options->events[i], strerror(-error));
			continue;
		}
		if (choice->n == TRACE_COUNTERS_MAX)
			return diag_set(diag, -E2BIG, "cannot count more than %d events per call",
					TRACE_COUNTERS_MAX);
		choice_add_spec(choice, &spec);
	}
	return 0;
}

/* Without permission to see where in the kernel a thread waits: that it is off its CPU may still be visible.
 */
static int choice_add_near_waits(const struct perf_source_options *options, struct source_info *info,
				 struct diag *diag)
{
	if (options->without_cpu) {
		diag_set(diag, -EACCES, "cannot record where threads wait");
		diag_why(diag, "permission denied: threads wait inside the kernel");
		diag_hint(diag, "try: sudo cpprof ...\n        or: sudo sysctl kernel.perf_event_paranoid=1\n"
				"        or: --wall, which attributes each wait to the place where the "
				"thread was last sampled");
		return -EACCES;
	}
	source_info_note(
		info,
		"no permission to record where threads wait: the length of each wait is exact, its place is "
		"approximate (where the thread was last sampled on a CPU); root gets exact places");
	info->has_near_waits = true;
	return 0;
}

int event_choice_add_waits(struct event_choice *choice, const struct perf_source_options *options,
			   struct source_info *info, struct diag *diag)
{
	struct event_spec spec = event_spec_waits();

	if (!options->with_waits)
		return 0;
	if (choice->n == EVENTS_MAX)
		return diag_set(diag, -E2BIG, "cannot count %zu events at once", choice->n + 1);
	int error = perf_events_probe(&spec, true);
	if (error == -EACCES || error == -EPERM)
		return choice_add_near_waits(options, info, diag);
	if (error)
		return perf_events_refused(diag, error, "cannot record where threads wait");
	/* This many per thread; the kernel chooses the period. Where waits are timed in the kernel, the
	 * program chooses them. */
	if (options->max_switches && options->max_switches < perf_events_max_frequency()) {
		spec.period = 0;
		spec.frequency = options->max_switches;
	}
	choice_add_spec(choice, &spec);
	return 0;
}

/* How many events are counted together, starting with this one. */
static size_t choice_group_size(const struct event_choice *choice, size_t first)
{
	size_t n = 1;

	while (first + n < choice->n && choice->specs[first + n].is_member)
		n++;
	return n;
}

static void choice_dissolve_groups(struct event_choice *choice)
{
	for (size_t i = 0; i < choice->n; i++)
		choice->specs[i].is_member = false;
}

void event_choice_groups(struct event_choice *choice, struct perf_want *want, struct source_info *info)
{
	int error = 0;

	for (size_t i = 0; i < choice->n; i++)
		want->has_groups |= choice->specs[i].is_member;
	for (size_t i = 0, n; want->has_groups && !error && i < choice->n; i += n) {
		n = choice_group_size(choice, i);
		error = perf_events_probe_group(&choice->specs[i], n, want);
	}
	if (!error)
		return;
	source_info_note(info,
			 "this machine cannot read the events as a group (%s): each is sampled separately, "
			 "and their ratios are estimates",
			 strerror(-error));
	want->has_groups = false;
	choice_dissolve_groups(choice);
}
