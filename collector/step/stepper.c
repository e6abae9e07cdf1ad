/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepper: uses ptrace. An instruction must be known before it is executed; it is decoded once and remembered
 * by address until mappings change.
 */
#include "collector/step/stepper.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "collector/process/launch.h"
#include "collector/process/target.h"
#include "collector/step/step_machine.h"

#define N_KNOWN (1u << 15) /* remembered instructions */
#define CODE_BYTES 128     /* read at once: the longest sequence that is run as a whole */

struct known_insn {
	uint64_t pc; /* 0 = none */
	bool is_exclusive, stores_ra;
	struct insn insn; /* len 0 if it cannot be decoded */
};

struct stepper_private {
	struct launch launch;
	cpu_set_t cpus; /* ours before stepping */
	int pending;    /* signal to deliver with the next step */
	bool is_over;
	struct known_insn known[N_KNOWN];
};

/* ---- code and memory ------------------------------------------------------------------------ */

uint64_t stepper_word(const struct stepper *stepper, uint64_t addr)
{
	uint64_t word;

	return target_read_memory(stepper->pid, addr, &word, sizeof(word)) == (ssize_t)sizeof(word) ? word
												    : 0;
}

uint64_t stepper_ra(const struct stepper *stepper)
{
	const struct isa *isa = stepper->isa;

	return isa->call_pushes_ra ? stepper_word(stepper, stepper->regs.value[isa->sp])
				   : stepper->regs.value[isa->ra];
}

static struct bytes stepper_read_code(const struct stepper *stepper, uint64_t pc, uint8_t *buffer)
{
	ssize_t n = target_read_memory(stepper->pid, pc, buffer, CODE_BYTES);

	return (struct bytes){ buffer, n > 0 ? (size_t)n : 0 };
}

static const struct known_insn *stepper_insn_at(struct stepper *stepper, uint64_t pc)
{
	struct known_insn *known = &stepper->private->known[(pc >> 1) % N_KNOWN];
	uint8_t buffer[CODE_BYTES];

	if (known->pc == pc)
		return known;
	struct bytes code = stepper_read_code(stepper, pc, buffer);
	*known = (struct known_insn){ .pc = pc };
	if (stepper->isa->decode(code, pc, &known->insn) < 0) {
		known->insn = (struct insn){ 0 };
		return known;
	}
	known->is_exclusive = step_machine_exclusive(code, pc) != 0;
	for (unsigned i = 0; i < known->insn.n_effects; i++)
		known->stores_ra |= known->insn.effect[i].kind == EFFECT_STORE &&
				    known->insn.effect[i].reg == stepper->isa->ra;
	return known;
}

/* Where an instruction that stores the return address register puts it. */
static uint64_t stepper_ra_slot(const struct stepper *stepper, const struct insn *insn,
				const struct regs *before)
{
	struct regs regs = *before;

	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *e = &insn->effect[i];

		if (e->base == REG_NONE || e->index != REG_NONE)
			return 0;
		uint64_t sum = regs.value[e->base] + (uint64_t)e->imm;
		if (e->kind == EFFECT_STORE && e->reg == stepper->isa->ra)
			return sum;
		if (e->kind == EFFECT_SET)
			regs.value[e->reg] = sum;
	}
	return 0;
}

static void stepper_forget_code(struct stepper *stepper)
{
	memset(stepper->private->known, 0, sizeof(stepper->private->known));
}

/* ---- starting and stopping ------------------------------------------------------------------ */

static void stepper_share_cpu(struct stepper_private *p)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	sched_getaffinity(0, sizeof(p->cpus), &p->cpus);
	if (cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one); /* inherited by the command */
}

static int stepper_wait_for_exec(struct stepper *stepper)
{
	int status;

	for (;;) {
		if (waitpid(stepper->pid, &status, __WALL) < 0)
			return -errno;
		if (!WIFSTOPPED(status))
			return -ECHILD;
		if (status >> 16 == PTRACE_EVENT_EXEC)
			return step_machine_regs(stepper->pid, &stepper->regs, &stepper->thread_pointer);
		if (ptrace(PTRACE_CONT, stepper->pid, 0, WSTOPSIG(status)) < 0)
			return -errno;
	}
}

static void stepper_stopp(struct stepper **stepper)
{
	stepper_stop(*stepper);
}

int stepper_start(char *const *argv, struct stepper **ret, struct diag *diag)
{
	CLEANUP(stepper_stopp) struct stepper *stepper = alloc_zero(1, sizeof(*stepper));

	stepper->private = alloc_zero(1, sizeof(*stepper->private));
	stepper->isa = step_machine_isa();
	stepper_share_cpu(stepper->private);
	int error = launch_prepare(argv, NULL, &stepper->private->launch, diag);
	if (error)
		return error;
	stepper->pid = stepper->private->launch.pid;
	if (ptrace(PTRACE_SEIZE, stepper->pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0)
		return diag_set(diag, -errno, "cannot trace '%s'", argv[0]);
	error = launch_start(&stepper->private->launch, argv[0], diag);
	if (error)
		return error;
	error = stepper_wait_for_exec(stepper);
	if (error)
		return diag_set(diag, error, "cannot trace '%s'", argv[0]);
	*ret = TAKE(stepper);
	return 0;
}

void stepper_stop(struct stepper *stepper)
{
	if (!stepper)
		return;
	if (stepper->pid && !stepper->private->is_over && stepper->private->launch.is_started) {
		kill(stepper->pid, SIGKILL);
		while (waitpid(stepper->pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	launch_done(&stepper->private->launch);
	sched_setaffinity(0, sizeof(stepper->private->cpus), &stepper->private->cpus);
	free(stepper->private);
	free(stepper);
}

/* The entry point of the program itself, as the kernel passes it to the loader. */
static uint64_t stepper_entry_of(pid_t pid)
{
	char path[64];
	size_t len = 0;
	uint64_t pair[2];

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	CLEANUP(freep) char *auxv = target_read_file(path, &len);
	for (size_t at = 0; auxv && at + sizeof(pair) <= len; at += sizeof(pair)) {
		memcpy(pair, auxv + at, sizeof(pair));
		if (pair[0] == AT_ENTRY)
			return pair[1];
	}
	return 0;
}

int stepper_skip_loader(struct stepper *stepper, struct diag *diag)
{
	uint64_t entry = stepper_entry_of(stepper->pid), none = 0;
	int status = 0, signal = 0, error = entry ? step_machine_break_at(stepper->pid, &entry, 1) : -ENOENT;

	while (!error && stepper->regs.value[stepper->isa->pc] != entry) {
		if (ptrace(PTRACE_CONT, stepper->pid, 0, signal) < 0 ||
		    waitpid(stepper->pid, &status, __WALL) < 0)
			error = -errno;
		else if (!WIFSTOPPED(status))
			error = -ECHILD;
		else
			error = step_machine_regs(stepper->pid, &stepper->regs, &stepper->thread_pointer);
		signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
	}
	if (!error)
		error = step_machine_break_at(stepper->pid, &none, 1);
	return error ? diag_set(diag, error, "cannot run process %d to its entry point", stepper->pid) : 0;
}

/* ---- stepping ------------------------------------------------------------------------------- */

/* Runs one instruction, or one sequence that must not be interrupted. */
static int stepper_run(struct stepper *stepper, const struct known_insn *insn, int *ret_status)
{
	uint8_t buffer[CODE_BYTES];
	int signal = stepper->private->pending;

	stepper->private->pending = 0;
	if (insn->is_exclusive && !signal)
		return step_machine_run_exclusive(stepper->pid, stepper_read_code(stepper, insn->pc, buffer),
						  insn->pc, ret_status);
	if (ptrace(PTRACE_SINGLESTEP, stepper->pid, 0, signal) < 0)
		return -errno;
	return waitpid(stepper->pid, ret_status, __WALL) < 0 ? -errno : 0;
}

static bool stepper_is_in_handler(const struct stepper *stepper)
{
	uint8_t buffer[CODE_BYTES];

	return stepper->isa->is_signal_trampoline(stepper_read_code(stepper, stepper_ra(stepper), buffer));
}

static void stepper_executed(const struct stepper *stepper, const struct known_insn *known,
			     const struct regs *before, struct step *ret)
{
	ret->kind = STEP_INSN;
	ret->flow = known->insn.flow;
	ret->len = known->insn.len;
	ret->ra_slot = known->stores_ra ? stepper_ra_slot(stepper, &known->insn, before) : 0;
	if (!known->insn.is_syscall)
		return;
	uint64_t number = step_machine_syscall(before);
	ret->is_signal_return = step_machine_is_sigreturn(number);
	ret->maps_changed = step_machine_changes_maps(number);
}

/* Interprets a stop; false if it is of no interest. */
static bool stepper_understand(struct stepper *stepper, int status, bool had_signal,
			       const struct known_insn *known, const struct regs *before, struct step *ret)
{
	uint64_t pc = stepper->regs.value[stepper->isa->pc];
	int event = status >> 16, signal = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXEC) {
		stepper_forget_code(stepper);
		ret->kind = STEP_EXEC;
		return true;
	}
	if (event == PTRACE_EVENT_STOP) /* job control: it must not stop now */
		return false;
	bool is_trap = signal == SIGTRAP && !(known->insn.flow == FLOW_STOP && pc == known->pc);
	if (!is_trap)
		stepper->private->pending = signal;
	else if (had_signal && pc != known->pc + known->insn.len && stepper_is_in_handler(stepper)) {
		ret->kind = STEP_SIGNAL;
		return true;
	}
	/* A signal may be reported before or after the instruction it came with. */
	if (!is_trap && pc == known->pc)
		return false;
	stepper_executed(stepper, known, before, ret);
	return true;
}

int stepper_next(struct stepper *stepper, struct step *ret, struct diag *diag)
{
	struct regs before = stepper->regs;
	bool is_news = false;

	for (; !is_news;) {
		/* A copy: the table may be cleared meanwhile. */
		struct known_insn known = *stepper_insn_at(stepper, before.value[stepper->isa->pc]);
		bool had_signal = stepper->private->pending != 0;
		int status = 0, error = stepper_run(stepper, &known, &status);

		*ret = (struct step){ .pc = known.pc };
		if (error < 0 && error != -ESRCH)
			return diag_set(diag, error, "cannot step process %d", stepper->pid);
		if (error == -ESRCH || !WIFSTOPPED(status) ||
		    step_machine_regs(stepper->pid, &stepper->regs, &stepper->thread_pointer) < 0) {
			stepper->private->is_over = error == -ESRCH || !WIFSTOPPED(status);
			stepper->status = status;
			ret->kind = STEP_END;
			return 0;
		}
		is_news = stepper_understand(stepper, status, had_signal, &known, &before, ret);
	}
	stepper->n_steps++;
	if (ret->maps_changed)
		stepper_forget_code(stepper);
	return 0;
}
