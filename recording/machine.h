/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine: what of a whole machine is counted, and under whose name.
 *
 * Events on CPUs see whatever runs. An idle CPU runs nothing. Kernel threads are threads of one process of
 * ours, MACHINE_KERNEL; an interrupt is nobody's doing, least of all that of the thread it has stopped: the
 * frames that it put on the stack are those of one more process, MACHINE_INTERRUPTS.
 *
 * Which processes count is said by rules, "user:NAME", "command:GLOB" and "cgroup:PATH": one counts if no
 * deny rule fits it, and an allow rule does or there is none. Or only the descendants of one process do.
 */
#pragma once

#include "base/diag.h"
#include "collector/event.h"

#define MACHINE_INTERRUPTS 0
#define MACHINE_KERNEL 2

struct machine_rules {
	char *const *allow, *const *deny;
	size_t n_allow, n_deny;
};
/* -EINVAL, with a diag, for a word that is no rule. */
int machine_check_rule(const char *rule, struct diag *diag);

struct machine_options {
	struct machine_rules rules;
	bool splits;          /* idle time, kernel threads and interrupts are told apart */
	const char *kallsyms; /* where functions of the kernel are; NULL = this one's, "" = not known */
	bool is_live;         /* processes can be asked about */
	pid_t tree;           /* only this process and its descendants; 0 = all */
};

struct machine;
struct machine *machine_new(const struct machine_options *options);
void machine_free(struct machine *machine);
/* Could interrupts be told apart? */
bool machine_sees_interrupts(const struct machine *machine);
/* The names of the two processes, as events; false: there are no more. */
bool machine_name(struct machine *machine, unsigned index, struct event *ret);
/* The event as it counts; NULL: it does not. `room` is for one that had to be changed. */
const struct event *machine_event(struct machine *machine, const struct event *event, struct event *room);
