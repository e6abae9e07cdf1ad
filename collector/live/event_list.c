/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/event_list.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collector/live/events.h"
#include "collector/live/perf_events.h"
#include "collector/live/tracepoints.h"

struct listing {
	struct event_list *list;
	const char *pattern;
};

const char *event_family_name(enum event_family family)
{
	static const char *const names[] = {
#define FAMILY_NAME(family, name, about) [EVENT_FAMILY_##family] = name,
		EVENT_FAMILIES(FAMILY_NAME)
#undef FAMILY_NAME
	};

	return names[family];
}

const char *event_family_about(enum event_family family)
{
	static const char *const abouts[] = {
#define FAMILY_ABOUT(family, name, about) [EVENT_FAMILY_##family] = about,
		EVENT_FAMILIES(FAMILY_ABOUT)
#undef FAMILY_ABOUT
	};

	return abouts[family];
}

const char *event_error_words(int error)
{
	switch (-error) {
	case ENOENT:
		return "not available on this processor or in this virtual machine";
	case EOPNOTSUPP:
		return "not supported by the hardware or its driver";
	case EACCES:
	case EPERM:
		return "not permitted";
	case ENODEV:
	case ENXIO:
		return "there is no driver for it";
	case EBUSY:
		return "in use by another program";
	case EINVAL:
		return "the kernel does not accept it for a single thread";
	case ENOSYS:
		return "this kernel has no perf events, or a container hides them";
	}
	return strerror(-error);
}

/* Without a pattern everything matches; a plain word matches where it occurs. */
static bool event_list_fits(const char *pattern, const char *name)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
	return strcasestr(name, pattern) != NULL;
}

/* It happens only in the kernel: without permission to look there, the event opens, but never counts. */
static bool event_list_is_kernels(const struct event_spec *spec)
{
	return spec->type == PERF_TYPE_SOFTWARE && (spec->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
						    spec->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
						    spec->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static void event_list_try(struct event_row *row, const struct event_spec *spec)
{
	row->error = perf_events_probe(spec, true);
	if ((row->error != -EACCES && row->error != -EPERM) || event_list_is_kernels(spec))
		return;
	row->is_user_only = perf_events_probe(spec, false) == 0;
	if (row->is_user_only)
		row->error = 0;
}

static enum event_family event_list_family(const struct event_spec *spec, const char *pmu)
{
	switch (spec->type) {
	case PERF_TYPE_SOFTWARE:
		return EVENT_FAMILY_SOFTWARE;
	case PERF_TYPE_TRACEPOINT:
		return EVENT_FAMILY_TRACEPOINT;
	case PERF_TYPE_BREAKPOINT:
		return EVENT_FAMILY_BREAKPOINT;
	}
	return pmu ? EVENT_FAMILY_PROCESSOR : EVENT_FAMILY_HARDWARE;
}

/* shown: the name of the row, if it differs from the name that is tried. */
static void event_list_add(struct listing *listing, const char *shown, const struct event_name *name)
{
	struct event_spec spec;
	struct diag diag = { 0 };

	if (!event_list_fits(listing->pattern, shown))
		return;
	if (event_spec_parse(name->name, &spec, &diag) < 0)
		return; /* needs more than its name, such as a mask */
	struct event_row row = { .family = event_list_family(&spec, name->pmu),
				 .name = alloc_text(shown),
				 .about = name->about ? alloc_text(name->about) : NULL };
	event_list_try(&row, &spec);
	vec_push(&listing->list->rows, row);
}

static void event_list_take(void *context, const struct event_name *name)
{
	event_list_add(context, name->name, name);
}

/*
 * To try one of them, the kernel changes its own code and waits for all CPUs: 40 ms. So if all are listed,
 * only one is tried, and its result is taken for the others.
 */
static void event_list_take_tracepoint(void *context, const char *name)
{
	struct listing *listing = context;
	struct event_list *list = listing->list;
	const struct event_row *last = list->rows.n ? &list->rows.at[list->rows.n - 1] : NULL;

	if (listing->pattern || !last || last->family != EVENT_FAMILY_TRACEPOINT) {
		event_list_add(listing, name, &(struct event_name){ .name = name });
		return;
	}
	struct event_row row = *last;
	row.name = alloc_text(name);
	vec_push(&list->rows, row);
}

/* On a variable and a function of our own; each kind of access uses its own debug register. */
static void event_list_add_breakpoints(struct listing *listing)
{
	static const struct {
		const char *shown, *letters, *about;
		bool is_code;
	} kinds[] = { { "mem:ADDRESS:w", "w", "writes to 4 bytes, or to ADDRESS/LENGTH", false },
		      { "mem:ADDRESS:rw", "rw", "reads and writes", false },
		      { "mem:ADDRESS:x", "x", "executions of the instruction there", true } };
	static uint64_t variable;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char name[64];
		uintptr_t place = kinds[i].is_code ? (uintptr_t)event_list_fits : (uintptr_t)&variable;
		snprintf(name, sizeof(name), "mem:0x%llx:%s", (unsigned long long)place, kinds[i].letters);
		event_list_add(listing, kinds[i].shown,
			       &(struct event_name){ .name = name, .about = kinds[i].about });
	}
}

static int event_list_compare(const void *left, const void *right)
{
	const struct event_row *a = left, *b = right;

	return a->family != b->family ? (int)a->family - (int)b->family : strcmp(a->name, b->name);
}

void event_list_make(struct event_list *list, const char *pattern)
{
	struct listing listing = { list, pattern };

	event_names_each(event_list_take, &listing);
	event_list_add_breakpoints(&listing);
	list->no_tracepoints = tracepoints_each(event_list_take_tracepoint, &listing);
	if (list->rows.n)
		qsort(list->rows.at, list->rows.n, sizeof(*list->rows.at), event_list_compare);
}

void event_list_done(struct event_list *list)
{
	for (size_t i = 0; i < list->rows.n; i++) {
		free(list->rows.at[i].name);
		free(list->rows.at[i].about);
	}
	vec_done(&list->rows);
}
