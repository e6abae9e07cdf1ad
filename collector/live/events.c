/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events: the only file that knows libpfm4.
 */
#include "collector/live/events.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>

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

int event_spec_parse(const char *name, struct event_spec *ret, struct diag *diag)
{
	struct perf_event_attr attr = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	pfm_err_t error = pfm_initialize(); /* does nothing the second time */

	if (error == PFM_SUCCESS)
		error = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (error != PFM_SUCCESS) {
		diag_set(diag, -ENOENT, "cannot count '%s'", name);
		diag_why(diag, "%s", pfm_strerror(error));
		diag_hint(diag, "common names: cycles, instructions, cache-misses, branch-misses, cpu-clock, "
				"page-faults");
		return -ENOENT;
	}

	struct event_spec spec = {
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
	snprintf(spec.name, sizeof(spec.name), "%s", name);
	*ret = spec;
	return 0;
}
