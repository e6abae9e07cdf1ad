/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_regs: the registers of a stopped, traced thread in DWARF numbering. The only file of the oracles
 * that depends on the kernel's register structures.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "binary/isa/isa.h"

#if defined(__x86_64__)
#define STEP_MACHINE EM_X86_64

static inline bool step_regs_read(pid_t tid, uint64_t *reg)
{
	struct user_regs_struct r;
	struct iovec iov = { &r, sizeof r };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov) < 0)
		return false;

	const uint64_t dwarf[] = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
				   r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip };

	for (unsigned i = 0; i < ARRAY_LEN(dwarf); i++)
		reg[i] = dwarf[i];
	return true;
}
#elif defined(__aarch64__)
#define STEP_MACHINE EM_AARCH64

static inline bool step_regs_read(pid_t tid, uint64_t *reg)
{
	struct user_regs_struct r;
	struct iovec iov = { &r, sizeof r };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov) < 0)
		return false;
	for (unsigned i = 0; i < 31; i++)
		reg[i] = r.regs[i];
	reg[31] = r.sp;
	reg[32] = r.pc;
	return true;
}
#else
#define STEP_MACHINE EM_NONE

static inline bool step_regs_read(pid_t tid, uint64_t *reg)
{
	(void)tid;
	(void)reg;
	return false;
}
#endif
