/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine: which processes of a whole machine are counted, and how kernel work is attributed.
 *
 * Events on CPUs sample everything that runs. Idle time is ignored. Kernel threads are shown as threads of
 * one pseudo-process, MACHINE_KERNEL. Interrupts are not caused by the thread that they interrupt: their
 * frames are attributed to another pseudo-process, MACHINE_INTERRUPTS.
 *
 * Processes are selected by rules, "user:NAME", "command:GLOB" and "cgroup:PATH": one is counted if no deny
 * rule matches, and if either there are no allow rules or one of them matches. Or only the descendants of one
 * process are counted.
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
/* -EINVAL, with a diag, if it is not a rule. */
int machine_check_rule(const char *rule, struct diag *diag);
/* Must running processes be asked whether the rules fit them? */
bool machine_rules_ask(const struct machine_rules *rules);

struct machine_options {
	struct machine_rules rules;
	bool splits;          /* idle time, kernel threads and interrupts are distinguished */
	const char *kallsyms; /* symbols of the kernel; NULL = the running one, "" = not known */
	bool is_live;         /* /proc can be read */
	pid_t tree;           /* only this process and its descendants; 0 = all */
};

struct machine;
struct machine *machine_new(const struct machine_options *options);
void machine_free(struct machine *machine);
/* Can interrupts be distinguished? */
bool machine_sees_interrupts(const struct machine *machine);
/* The names of the two pseudo-processes, as events; false: no more. */
bool machine_name(struct machine *machine, unsigned index, struct event *ret);
/* What the samples of event 0 represent that machine_event did not let through: those of idle CPUs, and of
 * processes that are not recorded. */
struct machine_dropped {
	uint64_t idle, others;
};
struct machine_dropped machine_dropped(const struct machine *machine);
/* The event to be counted; NULL: none. `room` is for an event that had to be changed. */
const struct event *machine_event(struct machine *machine, const struct event *event, struct event *room);
