/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events: the only file that uses libpfm4.
 */
#include "collector/live/events.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "collector/live/tracepoints.h"

#define NAME_LENGTH 128

struct event_spec event_spec_cpu_clock(void)
{
	return (struct event_spec){ .name = "cpu-clock",
				    .type = PERF_TYPE_SOFTWARE,
				    .config = PERF_COUNT_SW_CPU_CLOCK,
				    .is_clock = true };
}

struct event_spec event_spec_waits(void)
{
	return (struct event_spec){ .name = "off-cpu",
				    .type = PERF_TYPE_SOFTWARE,
				    .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
				    .period = 1,
				    .is_wait = true };
}

struct event_spec event_spec_cycles(void)
{
	return (struct event_spec){ .name = "cycles",
				    .type = PERF_TYPE_HARDWARE,
				    .config = PERF_COUNT_HW_CPU_CYCLES };
}

static bool event_spec_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* ---- names that libpfm4 does not know ---------------------------------------------------------- */

/* "mem:ADDRESS[/LENGTH][:rwx]"; false: it is not a breakpoint. */
static bool event_spec_breakpoint(const char *name, struct event_spec *ret)
{
	static const char letters[] = "rwx";
	static const uint32_t types[] = { HW_BREAKPOINT_R, HW_BREAKPOINT_W, HW_BREAKPOINT_X };
	struct event_spec spec = { .type = PERF_TYPE_BREAKPOINT, .config2 = HW_BREAKPOINT_LEN_4 };
	char *at;

	if (strncasecmp(name, "mem:", 4) != 0 || !isdigit((unsigned char)name[4]))
		return false;
	spec.config1 = strtoull(name + 4, &at, 0);
	if (*at == '/' && isdigit((unsigned char)at[1]))
		spec.config2 = strtoull(at + 1, &at, 0);
	if (*at && *at++ != ':')
		return false;
	for (; *at; at++) {
		const char *letter = strchr(letters, *at);
		if (!letter)
			return false;
		spec.breakpoint |= types[letter - letters];
	}
	if (!spec.breakpoint)
		spec.breakpoint = HW_BREAKPOINT_RW;
	if (spec.breakpoint == HW_BREAKPOINT_X) /* the kernel accepts no other length */
		spec.config2 = sizeof(long);
	*ret = spec;
	return true;
}

/* "sched:sched_switch", with :u or :k. */
static bool event_spec_tracepoint(const char *name, struct event_spec *ret)
{
	struct event_spec spec = { .type = PERF_TYPE_TRACEPOINT };
	size_t len = strlen(name);

	if (len > 2 && name[len - 2] == ':' && (name[len - 1] == 'u' || name[len - 1] == 'k')) {
		spec.excludes_kernel = name[len - 1] == 'u';
		spec.excludes_user = name[len - 1] == 'k';
		if (tracepoint_find(name, len - 2, &spec.config) == 0) {
			*ret = spec;
			return true;
		}
		spec.excludes_kernel = spec.excludes_user = false;
	}
	if (tracepoint_find(name, len, &spec.config) < 0)
		return false;
	*ret = spec;
	return true;
}

/* ---- libpfm4's ----------------------------------------------------------------------------------- */

static int event_spec_encode(const char *name, struct event_spec *ret)
{
	struct perf_event_attr attr = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	pfm_err_t error = pfm_initialize(); /* does nothing the second time */

	if (error == PFM_SUCCESS)
		error = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (error != PFM_SUCCESS)
		return error;
	*ret = (struct event_spec){
		.type = attr.type,
		.config = attr.config,
		.config1 = attr.config1,
		.config2 = attr.config2,
		.frequency = attr.freq ? attr.sample_freq : 0,
		.period = attr.freq ? 0 : attr.sample_period,
		.excludes_user = attr.exclude_user,
		.excludes_kernel = attr.exclude_kernel,
		.precise = attr.precise_ip,
		.is_clock = event_spec_is_clock(&attr),
	};
	return PFM_SUCCESS;
}

/* Names as people type them: those that all processors share in lower case, others as the manufacturers write
 * them. */
static void event_names_take(const pfm_pmu_info_t *pmu, const pfm_event_info_t *event, const char *mask,
			     const char *about, void (*take)(void *context, const struct event_name *name),
			     void *context)
{
	bool is_shared = pmu->pmu == PFM_PMU_PERF_EVENT;
	char text[NAME_LENGTH];
	int n = snprintf(text, sizeof(text), "%s%s%s%s%s", is_shared ? "" : pmu->name,
			 is_shared ? "" : "::", event->name, mask ? ":" : "", mask ? mask : "");

	if (n >= (int)sizeof(text))
		return;
	for (char *at = text; is_shared && *at; at++)
		*at = (char)tolower((unsigned char)*at);
	take(context, &(struct event_name){ text, about, is_shared ? NULL : pmu->name });
}

/* An event that is counted in several ways has a mask for each. */
static void event_names_each_mask(const pfm_pmu_info_t *pmu, const pfm_event_info_t *event,
				  void (*take)(void *context, const struct event_name *name), void *context)
{
	bool has_masks = false;

	for (int i = 0; i < event->nattrs; i++) {
		pfm_event_attr_info_t attr = { .size = sizeof(attr) };
		if (pfm_get_event_attr_info(event->idx, i, PFM_OS_NONE, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		has_masks = true;
		event_names_take(pmu, event, attr.name, attr.desc, take, context);
	}
	if (!has_masks)
		event_names_take(pmu, event, NULL, event->desc, take, context);
}

/* The short forms of names that all processors share; tracepoints are found elsewhere. */
static bool event_names_is_short(const pfm_event_info_t *event)
{
	return event->equiv || (strncmp(event->name, "PERF_COUNT", 10) != 0 && event->nattrs == 0);
}

void event_names_each(void (*take)(void *context, const struct event_name *name), void *context)
{
	if (pfm_initialize() != PFM_SUCCESS)
		return;
	for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };
		if (i == PFM_PMU_PERF_EVENT_RAW || pfm_get_pmu_info((pfm_pmu_t)i, &pmu) != PFM_SUCCESS ||
		    !pmu.is_present)
			continue;
		for (int at = pmu.first_event; at != -1; at = pfm_get_event_next(at)) {
			pfm_event_info_t event = { .size = sizeof(event) };
			if (pfm_get_event_info(at, PFM_OS_NONE, &event) != PFM_SUCCESS)
				continue;
			if (pmu.pmu != PFM_PMU_PERF_EVENT)
				event_names_each_mask(&pmu, &event, take, context);
			else if (event_names_is_short(&event))
				event_names_take(&pmu, &event, NULL, NULL, take, context);
		}
	}
}

/* ---- by name ------------------------------------------------------------------------------------- */

struct nearest {
	const char *wanted;
	size_t distance;
	char name[NAME_LENGTH];
};

static void event_names_compare(void *context, const struct event_name *name)
{
	struct nearest *nearest = context;
	size_t distance = text_distance(nearest->wanted, name->name);

	if (distance < nearest->distance) {
		nearest->distance = distance;
		snprintf(nearest->name, sizeof(nearest->name), "%s", name->name);
	}
}

static int event_spec_refuse(const char *name, int error, struct diag *diag)
{
	struct nearest nearest = { .wanted = name, .distance = strlen(name) > 4 ? 4 : 2 };

	event_names_each(event_names_compare, &nearest);
	diag_set(diag, -ENOENT, "cannot count '%s'", name);
	diag_why(diag, "%s", pfm_strerror(error));
	diag_hint(diag, "%s%s%s'cpprof list' shows what this machine can count",
		  nearest.name[0] ? "did you mean '" : "", nearest.name, nearest.name[0] ? "'? " : "");
	return -ENOENT;
}

int event_spec_parse(const char *name, struct event_spec *ret, struct diag *diag)
{
	struct event_spec spec;
	int error = event_spec_breakpoint(name, &spec) || event_spec_tracepoint(name, &spec)
			    ? 0
			    : event_spec_encode(name, &spec);

	if (error != PFM_SUCCESS)
		return event_spec_refuse(name, error, diag);
	snprintf(spec.name, sizeof(spec.name), "%s", name);
	*ret = spec;
	return 0;
}
