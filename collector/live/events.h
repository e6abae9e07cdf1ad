/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events: what may be counted, by name. Names, modifiers and their meaning are libpfm4's:
 * "cycles", "instructions:u", "cpu-clock", "perf_raw::r003c", "spr::INST_RETIRED:ANY". Besides those,
 * tracepoints, "sched:sched_switch", and breakpoints, "mem:0x4711:w".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/* As the kernel wants it. */
struct event_spec {
	char name[64];
	uint32_t type;
	uint64_t config, config1, config2;
	uint64_t frequency, period; /* from modifiers (freq=, period=); 0 = not said */
	bool excludes_user, excludes_kernel, excludes_hypervisor;
	uint8_t precise;
	bool is_clock;       /* counts nanoseconds */
	bool is_wait;        /* a thread leaves its CPU; when it comes back is recorded, too */
	bool is_member;      /* is counted together with the one before it, and read when that samples */
	uint32_t breakpoint; /* HW_BREAKPOINT_*: config1 is an address, config2 a length; 0 = it is none */
};

/* -ENOENT, with a diag, for a name nobody knows. */
int event_spec_parse(const char *name, struct event_spec *ret, struct diag *diag);
/* Needs no library and no hardware: time on a CPU. */
struct event_spec event_spec_cpu_clock(void);
/* Every time that a thread leaves its CPU. Only who may look into the kernel sees one. */
struct event_spec event_spec_waits(void);
/* Where there is a PMU. */
struct event_spec event_spec_cycles(void);

/* One of the names that are known here. */
struct event_name {
	const char *name, *about; /* about: a sentence, or NULL */
	const char *pmu;          /* whose; NULL = a name that all processors share */
};
/* Every name of libpfm4's tables for this machine, as event_spec_parse takes it. */
void event_names_each(void (*take)(void *context, const struct event_name *name), void *context);
