/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_machine: what single-stepping needs to know of the machine it runs on: the kernel's layout of
 * registers and signal frames, and instructions that cannot be stepped. The one file with an #ifdef.
 */
#pragma once

#include <sys/types.h>

#include "base/bytes.h"
#include "collector/event.h"

/* NULL on a machine we do not know. */
const struct isa *step_machine_isa(void);
/* Registers of a stopped thread: 0 or -errno. */
int step_machine_regs(pid_t tid, struct regs *ret);

/* Of the system call that is about to be made with these registers. */
uint64_t step_machine_syscall(const struct regs *regs);
bool step_machine_is_sigreturn(uint64_t number);
/* May change what is mapped where. */
bool step_machine_changes_maps(uint64_t number);

/* Where a signal frame, met at a handler's first instruction, keeps the interrupted pc and sp: offsets from
 * sp. */
extern const uint64_t step_machine_signal_pc, step_machine_signal_sp;

/*
 * A load that a store must follow without an exception in between: it begins a sequence that never
 * succeeds under single-step. Bytes that the whole sequence takes; 0 if code is no such load.
 */
size_t step_machine_exclusive(struct bytes code, uint64_t pc);
/* Breakpoints of the CPU's own, which belong to one thread: at most STEP_BREAKPOINTS, an address of 0 is
 * none. */
#define STEP_BREAKPOINTS 4
int step_machine_break_at(pid_t tid, const uint64_t *at, size_t n);

/* Lets a thread at the start of such a sequence run out of it (then it is stopped, or dead): 0 or -errno. */
int step_machine_run_exclusive(pid_t tid, struct bytes code, uint64_t pc, int *ret_status);
