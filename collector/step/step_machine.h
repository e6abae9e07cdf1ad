/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_machine: what single-stepping needs to know about the machine: the kernel's layout of registers and
 * signal frames, and instructions that cannot be stepped. The only file with an #ifdef.
 */
#pragma once

#include <sys/types.h>

#include "base/bytes.h"
#include "collector/event.h"

/* NULL on an unsupported machine. */
const struct isa *step_machine_isa(void);
/* Registers of a stopped thread: 0 or -errno. The thread pointer is 0 where nobody asks for it (AArch64). */
int step_machine_regs(pid_t tid, struct regs *ret, uint64_t *ret_thread_pointer);

/* The number of the system call that is about to be made with these registers. */
uint64_t step_machine_syscall(const struct regs *regs);
bool step_machine_is_sigreturn(uint64_t number);
/* May it change mappings? */
bool step_machine_changes_maps(uint64_t number);

/* Where a signal frame contains the interrupted pc and sp, at the handler's first instruction: offsets from
 * sp. */
extern const uint64_t step_machine_signal_pc, step_machine_signal_sp;

/*
 * For a load-exclusive, which begins a sequence that never succeeds under single-stepping: the length of the
 * whole sequence in bytes; 0 for other code.
 */
size_t step_machine_exclusive(struct bytes code, uint64_t pc);
/* Sets hardware breakpoints, which belong to one thread: at most STEP_BREAKPOINTS; address 0 is none. */
#define STEP_BREAKPOINTS 4
int step_machine_break_at(pid_t tid, const uint64_t *at, size_t n);

/* Runs a thread from the start of such a sequence to its end (then it is stopped, or dead): 0 or -errno. */
int step_machine_run_exclusive(pid_t tid, struct bytes code, uint64_t pc, int *ret_status);
