/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/machine.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include "collector/process/target.h"
#include "symbolize/kernel/kallsyms.h"

#define COMM_MAX 32 /* the kernel's have 16 */

enum verdict_of { NOT_ASKED, COUNTS, COUNTS_NOT };

struct machine_process {
	pid_t pid;
	char comm[COMM_MAX];
	bool is_kernel, is_in_tree;
	uint32_t n_alive; /* threads */
	enum verdict_of verdict;
};

struct code_range {
	uint64_t start, end;
};

struct machine {
	struct machine_options options;
	struct map by_pid;
	VEC(struct machine_process) processes;
	VEC(uint32_t) unused; /* rows of processes that have ended */
	VEC(struct code_range) interrupts, softirq_threads;
	struct machine_dropped dropped;
};

/* ---- interrupts ----------------------------------------------------------------------------- */

/* Functions that run interrupt handlers and deferred work. These are not the entry points: a thread that is
 * preempted on the way out of an interrupt is not in one. */
static bool machine_is_handler(const char *name)
{
	static const char *const names[] = { "handle_softirqs",          "__do_softirq",
					     "do_interrupt_handler",     "gic_handle_irq",
					     "__common_interrupt",       "do_IRQ",
					     "smp_apic_timer_interrupt", "nmi_handle" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "__sysvec_", strlen("__sysvec_")) == 0;
}

static void machine_find_handlers(struct machine *machine, const char *path)
{
	struct kallsyms kallsyms;

	if (kallsyms_open(path ? path : "/proc/kallsyms", &kallsyms) < 0)
		return;
	for (size_t i = 0; i + 1 < kallsyms.symbols.n; i++) {
		const struct kernel_symbol *symbol = &kallsyms.symbols.at[i];
		struct code_range range = { symbol->start, symbol[1].start };
		if (machine_is_handler(symbol->name))
			vec_push(&machine->interrupts, range);
		else if (strcmp(symbol->name, "run_ksoftirqd") == 0)
			vec_push(&machine->softirq_threads, range);
	}
	kallsyms_done(&kallsyms);
}

static bool machine_is_in(const struct code_range *ranges, size_t n, uint64_t pc)
{
	for (size_t i = 0; i < n; i++)
		if (pc >= ranges[i].start && pc < ranges[i].end)
			return true;
	return false;
}

/* How many kernel frames an interrupt has put on the stack; 0 = none. */
static uint32_t machine_interrupt(const struct machine *machine, const struct sample *sample)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sample->n_kernel_pc; i++) {
		uint64_t pc = sample->kernel_pc[i] - (i > 0); /* callers hold return addresses */
		if (machine_is_in(machine->softirq_threads.at, machine->softirq_threads.n, pc))
			return 0;
		if (machine_is_in(machine->interrupts.at, machine->interrupts.n, pc))
			n = i + 1;
	}
	return n;
}

bool machine_sees_interrupts(const struct machine *machine)
{
	return machine->interrupts.n > 0;
}

/* ---- rules ---------------------------------------------------------------------------------- */

static const char *machine_rule_value(const char *rule, const char *kind)
{
	size_t len = strlen(kind);

	return strncmp(rule, kind, len) == 0 && rule[len] == ':' && rule[len + 1] ? rule + len + 1 : NULL;
}

/* A user id that ends there; -1 is none. */
static bool machine_parse_id(const char *text, char end, unsigned *ret)
{
	char *rest;
	unsigned long id = strtoul(text, &rest, 10);

	*ret = (unsigned)id;
	return isdigit((unsigned char)*text) && *rest == end && id < UINT_MAX;
}

/* As in /etc/passwd: a static program cannot use the name service. Other users can be given by number. */
static bool machine_user_id(const char *name, unsigned *ret)
{
	CLEANUP(freep) char *text = target_read_file("/etc/passwd", NULL);
	size_t len = strlen(name);

	for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, name, len) == 0 && line[len] == ':') {
			const char *id = strchr(line + len + 1, ':');
			return id && machine_parse_id(id + 1, ':', ret);
		}
	return machine_parse_id(name, '\0', ret);
}

int machine_check_rule(const char *rule, struct diag *diag)
{
	const char *user = machine_rule_value(rule, "user");
	unsigned id;

	if (user && !machine_user_id(user, &id))
		return diag_set(diag, -EINVAL, "there is no user '%s'", user);
	if (user || machine_rule_value(rule, "command") || machine_rule_value(rule, "cgroup"))
		return 0;
	return diag_set(diag, -EINVAL, "'%s' is not a rule: give user:NAME, command:GLOB or cgroup:PATH",
			rule);
}

bool machine_rules_ask(const struct machine_rules *rules)
{
	bool asks = false;

	for (size_t i = 0; i < rules->n_allow; i++)
		asks |= !machine_rule_value(rules->allow[i], "command");
	for (size_t i = 0; i < rules->n_deny; i++)
		asks |= !machine_rule_value(rules->deny[i], "command");
	return asks;
}

static bool machine_fits_command(const struct machine_process *process, const char *rule)
{
	const char *command = machine_rule_value(rule, "command");

	return command && fnmatch(command, process->comm, 0) == 0;
}

static bool machine_fits(const struct machine *machine, const struct machine_process *process,
			 const char *rule)
{
	const char *value;
	struct user user;
	unsigned id;

	if (machine_rule_value(rule, "command"))
		return machine_fits_command(process, rule);
	if (!machine->options.is_live)
		return false;
	if ((value = machine_rule_value(rule, "cgroup")))
		return target_is_in_cgroup(process->pid, value);
	value = machine_rule_value(rule, "user");
	return value && machine_user_id(value, &id) && target_user(process->pid, &user) && user.uid == id;
}

static bool machine_fits_any(const struct machine *machine, const struct machine_process *process,
			     char *const *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (machine_fits(machine, process, rules[i]))
			return true;
	return false;
}

static bool machine_allows(const struct machine *machine, struct machine_process *process)
{
	const struct machine_rules *rules = &machine->options.rules;

	if (process->verdict == NOT_ASKED) {
		bool counts = (!rules->n_allow ||
			       machine_fits_any(machine, process, rules->allow, rules->n_allow)) &&
			      !machine_fits_any(machine, process, rules->deny, rules->n_deny);
		process->verdict = counts ? COUNTS : COUNTS_NOT;
	}
	return process->verdict == COUNTS;
}

static bool machine_is_named(const struct machine_process *process, char *const *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (machine_fits_command(process, rules[i]))
			return true;
	return false;
}

/*
 * Does the name alone say that it does not count? A sample between fork and exec belongs to the program that
 * forked, and keeps its name.
 */
static bool machine_hides(const struct machine *machine, const struct machine_process *process)
{
	const struct machine_rules *rules = &machine->options.rules;

	if (machine_is_named(process, rules->deny, rules->n_deny))
		return true;
	return rules->n_allow && !machine_rules_ask(rules) &&
	       !machine_is_named(process, rules->allow, rules->n_allow);
}

/* ---- processes ------------------------------------------------------------------------------ */

struct machine *machine_new(const struct machine_options *options)
{
	struct machine *machine = alloc_zero(1, sizeof(*machine));

	machine->options = *options;
	if (options->splits && !(options->kallsyms && !options->kallsyms[0]))
		machine_find_handlers(machine, options->kallsyms);
	return machine;
}

void machine_free(struct machine *machine)
{
	if (!machine)
		return;
	map_done(&machine->by_pid);
	vec_done(&machine->processes);
	vec_done(&machine->unused);
	vec_done(&machine->interrupts);
	vec_done(&machine->softirq_threads);
	free(machine);
}

static struct machine_process *machine_find(struct machine *machine, pid_t pid)
{
	uint32_t index = map_find(&machine->by_pid, (uint32_t)pid);

	return index == MAP_NONE ? NULL : &machine->processes.at[index];
}

/* It inherits from its parent; parent 0 = unknown. */
static struct machine_process *machine_add(struct machine *machine, pid_t pid, pid_t parent)
{
	uint32_t index = (uint32_t)machine->processes.n;
	const struct machine_process *from = machine_find(machine, parent);
	struct machine_process it = from ? *from : (struct machine_process){ 0 };

	it.pid = pid;
	it.n_alive = 1;
	it.is_kernel = machine->options.splits && (pid == MACHINE_KERNEL || parent == MACHINE_KERNEL);
	pid_t tree = machine->options.tree;
	it.is_in_tree |= tree && (pid == tree || parent == tree);
	if (machine->unused.n) {
		index = machine->unused.at[--machine->unused.n];
		machine->processes.at[index] = it;
	} else {
		vec_push(&machine->processes, it);
	}
	map_put(&machine->by_pid, (uint32_t)pid, index);
	return &machine->processes.at[index];
}

static void machine_remove(struct machine *machine, pid_t pid)
{
	uint32_t index = map_find(&machine->by_pid, (uint32_t)pid);

	if (index == MAP_NONE)
		return;
	map_remove(&machine->by_pid, (uint32_t)pid);
	vec_push(&machine->unused, index);
}

static struct machine_process *machine_process(struct machine *machine, const struct event *event)
{
	struct machine_process *process;

	if (event->kind == EVENT_FORK && event->pid != event->fork.parent_pid) {
		machine_remove(machine, event->pid); /* the pid was used before */
		return machine_add(machine, event->pid, event->fork.parent_pid);
	}
	process = machine_find(machine, event->pid);
	if (!process)
		process = machine_add(machine, event->pid, 0);
	else if (event->kind == EVENT_FORK ||
		 (event->kind == EVENT_COMM && !event->time_ns && event->tid != event->pid))
		process->n_alive++; /* one more thread, or one that existed before us */
	if ((event->kind == EVENT_EXEC || event->kind == EVENT_COMM) && event->pid == event->tid &&
	    event->comm) {
		text_copy(process->comm, sizeof(process->comm), event->comm);
		process->verdict = NOT_ASKED;
	}
	return process;
}

/* ---- events --------------------------------------------------------------------------------- */

bool machine_name(struct machine *machine, unsigned index, struct event *ret)
{
	static const pid_t pids[] = { MACHINE_INTERRUPTS, MACHINE_KERNEL };
	static const char *const names[] = { "[interrupts]", "[kernel threads]" };

	if (!machine->options.splits || index >= ARRAY_LEN(pids))
		return false;
	*ret = (struct event){
		.kind = EVENT_COMM, .pid = pids[index], .tid = pids[index], .comm = names[index]
	};
	return true;
}

/* The part of the stack that belongs to the interrupt. */
static const struct event *machine_cut_interrupt(const struct event *event, uint32_t n, struct event *room)
{
	*room = *event;
	room->pid = room->tid = MACHINE_INTERRUPTS;
	room->sample.n_kernel_pc = n;
	room->sample.n_user_pc = room->sample.n_deep = 0;
	room->sample.regs.known = 0;
	room->sample.stack = (struct bytes){ 0 };
	room->sample.stack_was_full = false;
	room->sample.is_whole = true;
	return room;
}

static const struct event *machine_move_to_kernel(const struct event *event, struct event *room)
{
	*room = *event;
	if (event->kind == EVENT_FORK)
		room->fork.parent_pid = MACHINE_KERNEL; /* a thread like the others */
	if ((event->kind == EVENT_COMM || event->kind == EVENT_EXEC) && event->tid == MACHINE_KERNEL)
		return NULL; /* we have named it ourselves */
	if (event->tid < 0)
		room->tid = event->pid;
	room->pid = MACHINE_KERNEL;
	if (event->kind == EVENT_SAMPLE)
		room->sample.is_whole = true;
	return room;
}

/* The kernel still takes it apart, but no longer says which thread it was, or not even which process: then it
 * is nobody's that a rule could allow. */
static const struct event *machine_sample_ended(const struct machine *machine, const struct event *event,
						struct event *room)
{
	if (event->pid < 0 && (machine->options.tree || machine->options.rules.n_allow))
		return NULL;
	*room = *event;
	room->tid = event->pid;
	if (event->pid < 0)
		room->pid = room->tid = MACHINE_KERNEL;
	room->sample.is_whole = true;
	return room;
}

static const struct event *machine_sample(struct machine *machine, const struct event *event,
					  struct machine_process *process, struct event *room)
{
	uint32_t n_interrupt = machine->options.splits ? machine_interrupt(machine, &event->sample) : 0;

	if (n_interrupt)
		return machine->options.rules.n_allow ? NULL
						      : machine_cut_interrupt(event, n_interrupt, room);
	if (machine->options.splits && event->pid == 0)
		return NULL; /* idle */
	if (event->pid < 0)
		return machine_sample_ended(machine, event, room);
	if (machine->options.tree ? !process->is_in_tree : !machine_allows(machine, process))
		return NULL;
	if (process->is_kernel)
		return machine_move_to_kernel(event, room);
	if (event->tid < 0)
		return machine_sample_ended(machine, event, room);
	if (!event->sample.in_kernel || event->sample.regs.known)
		return event;
	*room = *event; /* it is about to exit: its user code is gone */
	room->sample.is_whole = true;
	return room;
}

static void machine_drop_sample(struct machine *machine, const struct event *event)
{
	if (event->sample.event == 0 && event->pid == 0)
		machine->dropped.idle += event->sample.weight;
	else if (event->sample.event == 0)
		machine->dropped.others += event->sample.weight;
}

struct machine_dropped machine_dropped(const struct machine *machine)
{
	return machine->dropped;
}

/* That it runs another program matters for its later mappings, which may count again. */
static const struct event *machine_drop_name(const struct event *event, struct event *room)
{
	if (event->kind == EVENT_COMM)
		return NULL;
	if (event->kind != EVENT_EXEC)
		return event;
	*room = *event;
	room->comm = NULL;
	return room;
}

const struct event *machine_event(struct machine *machine, const struct event *event, struct event *room)
{
	struct machine_process *process;
	const struct event *kept;

	switch (event->kind) {
	case EVENT_LOST:
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
		return event;
	case EVENT_SAMPLE:
		kept = machine_sample(machine, event, machine_process(machine, event), room);
		if (!kept)
			machine_drop_sample(machine, event);
		return kept;
	case EVENT_MAPPING:
	case EVENT_FORK:
	case EVENT_EXEC:
	case EVENT_COMM:
	case EVENT_EXIT:
	case EVENT_SWITCH:
	case EVENT_CODE:
		break;
	}
	process = machine_process(machine, event);
	bool is_kernel = process->is_kernel, is_ours = !machine->options.tree || process->is_in_tree;
	if (event->kind == EVENT_EXIT && --process->n_alive == 0)
		machine_remove(machine, event->pid);
	if (!is_ours)
		return NULL;
	if (!is_kernel && machine_hides(machine, process))
		return machine_drop_name(event, room);
	return is_kernel ? machine_move_to_kernel(event, room) : event;
}
