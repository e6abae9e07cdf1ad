/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events: what can be counted, by name. Names, modifiers and their meaning are libpfm4's: "cycles",
 * "instructions:u", "cpu-clock", "perf_raw::r003c", "spr::INST_RETIRED:ANY". In addition there are
 * tracepoints, "sched:sched_switch", and breakpoints, "mem:0x4711:w".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/* As the kernel expects it. */
struct event_spec {
	char name[64];
	uint32_t type;
	uint64_t config, config1, config2;
	uint64_t frequency, period; /* from modifiers (freq=, period=); 0 = not given */
	bool excludes_user, excludes_kernel, excludes_hypervisor;
	uint8_t precise;
	bool is_clock;       /* counts nanoseconds */
	bool is_wait;        /* a thread leaves its CPU; its return is recorded, too */
	bool is_member;      /* is counted together with the previous one, and read when that samples */
	uint32_t breakpoint; /* HW_BREAKPOINT_*: config1 is an address, config2 a length; 0 = not a breakpoint
			      */
};

/* -ENOENT, with a diag, for an unknown name. */
int event_spec_parse(const char *name, struct event_spec *ret, struct diag *diag);
/* Needs no library and no hardware: time on a CPU. */
struct event_spec event_spec_cpu_clock(void);
/* Every time that a thread leaves its CPU. Visible only with permission to look into the kernel. */
struct event_spec event_spec_waits(void);
/* If there is a PMU. */
struct event_spec event_spec_cycles(void);

/* A known name. */
struct event_name {
	const char *name, *about; /* about: a sentence, or NULL */
	const char *pmu;          /* the PMU; NULL = a name that all processors share */
};
/* Every name in libpfm4's tables for this machine, in the form that event_spec_parse takes. */
void event_names_each(void (*take)(void *context, const struct event_name *name), void *context);
