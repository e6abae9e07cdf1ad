/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/step/step_burst.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "binary/isa/isa.h"
#include "collector/process/envoy.h"
#include "collector/process/target.h"
#include "collector/step/step_machine.h"

#define CODE_BYTES 128 /* the longest sequence that must not be interrupted */

/* State and CPU of a thread, from /proc/TID/stat; false if it is gone. */
static bool burst_look(pid_t tid, char *ret_state, int *ret_cpu)
{
	char path[64], *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	CLEANUP(freep) char *text = target_read_file(path, NULL);
	if (!text || !(at = strrchr(text, ')')) || sscanf(at, ") %c", ret_state) != 1)
		return false;
	for (int field = 2; field < 39 && at; field++) /* the name, field 2, may contain spaces */
		at = strchr(at + 1, ' ');
	*ret_cpu = at ? atoi(at) : -1;
	return true;
}

/* A step takes 5 us with tracer and target on one CPU, and 200 us on two. */
static void burst_go_to(int cpu)
{
	cpu_set_t one;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* May the instruction at pc be stepped? */
static bool burst_can_step(pid_t tid, const struct isa *isa, uint64_t pc)
{
	uint8_t buffer[CODE_BYTES];
	ssize_t n = envoy_read_memory(tid, pc, buffer, sizeof(buffer));
	struct bytes code = { buffer, n > 0 ? (size_t)n : 0 };
	struct insn insn;

	if (isa->decode(code, pc, &insn) < 0)
		return false;
	return !insn.is_syscall && insn.flow != FLOW_STOP && !step_machine_exclusive(code, pc);
}

/* Steps a stopped thread. Returns the signal to deliver when it is released; negative = it is gone. */
static int burst_step(pid_t tid, const struct burst_limits *limits, struct burst *ret)
{
	const struct isa *isa = step_machine_isa();
	uint64_t start = clock_now_ns(), thread_pointer;
	struct regs regs;
	int status;

	while (step_machine_regs(tid, &regs, &thread_pointer) == 0) {
		uint64_t pc = regs.value[isa->pc];
		vec_push(&ret->pcs, pc);
		if (ret->pcs.n > limits->max_steps || clock_now_ns() - start >= limits->max_ns ||
		    !burst_can_step(tid, isa, pc))
			return 0;
		if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0) < 0 || waitpid(tid, &status, __WALL) < 0 ||
		    !WIFSTOPPED(status))
			return -ESRCH;
		if (status >> 16 || WSTOPSIG(status) != SIGTRAP)
			return status >> 16 ? 0 : WSTOPSIG(status);
	}
	return -ESRCH;
}

int burst_take(pid_t tid, const struct burst_limits *limits, struct burst *ret)
{
	char state;
	int cpu, status;

	vec_clear(&ret->pcs);
	ret->stopped_ns = 0;
	/* A waiting thread is left alone: some system calls do not continue after a stop. */
	if (!burst_look(tid, &state, &cpu) || state != 'R')
		return 0;
	burst_go_to(cpu);
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0) {
		int error = errno;
		/* For a thread that is exiting, the error is the same as for missing permission. */
		return error == ESRCH || !burst_look(tid, &state, &cpu) || state == 'Z' || state == 'X'
			       ? 0
			       : -error;
	}
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 || waitpid(tid, &status, __WALL) < 0 ||
	    !WIFSTOPPED(status))
		return 0;
	uint64_t start = clock_now_ns();
	int signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP)
		signal = burst_step(tid, limits, ret);
	if (signal >= 0)
		ptrace(PTRACE_DETACH, tid, 0, signal);
	ret->stopped_ns = clock_now_ns() - start;
	return 0;
}

void burst_done(struct burst *burst)
{
	vec_done(&burst->pcs);
}
