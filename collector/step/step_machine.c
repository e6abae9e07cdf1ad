/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_machine: AArch64 and x86-64 as ptrace shows them.
 *
 * On AArch64 any exception clears the exclusive monitor, so a sequence of load-exclusive and store-exclusive
 * is run as a whole, up to breakpoints after its store and where its branches leave it. These are hardware
 * breakpoints, which belong to one thread: a breakpoint written into the code would kill the others.
 */
#include "collector/step/step_machine.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#ifdef __aarch64__
#include <asm/ptrace.h>

const uint64_t step_machine_signal_sp = 560, step_machine_signal_pc = 568; /* siginfo, ucontext up to x30 */

const struct isa *step_machine_isa(void)
{
	return &isa_aarch64;
}

int step_machine_regs(pid_t tid, struct regs *ret, uint64_t *ret_thread_pointer)
{
	struct user_pt_regs regs;
	struct iovec to = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &to) < 0)
		return -errno;
	memcpy(ret->value, regs.regs, sizeof(regs.regs)); /* x0 to x30 */
	ret->value[31] = regs.sp;
	ret->value[32] = regs.pc;
	ret->known = (UINT64_C(1) << 33) - 1;
	*ret_thread_pointer = 0;
	return 0;
}

uint64_t step_machine_syscall(const struct regs *regs)
{
	return regs->value[8];
}

#define EXCLUSIVE_MAX 32 /* instructions; real sequences have fewer than ten */

static uint32_t machine_word_at(struct bytes code, size_t index)
{
	uint32_t word;

	memcpy(&word, code.at + index * 4, 4);
	return word;
}

/* The exclusive class has bits 29:23 = 0010000; bit 22 tells a load from a store. */
static bool machine_is_exclusive(uint32_t word, unsigned load)
{
	return (word & 0x3fc00000) == (0x08000000 | load << 22);
}

size_t step_machine_exclusive(struct bytes code, uint64_t pc)
{
	(void)pc;
	if (code.len < 4 || !machine_is_exclusive(machine_word_at(code, 0), 1))
		return 0;
	for (size_t i = 1; i < EXCLUSIVE_MAX && i * 4 + 4 <= code.len; i++)
		if (machine_is_exclusive(machine_word_at(code, i), 0))
			return (i + 1) * 4;
	return 0;
}

int step_machine_break_at(pid_t tid, const uint64_t *at, size_t n)
{
	struct user_hwdebug_state state = { 0 };
	struct iovec from = { &state,
			      offsetof(struct user_hwdebug_state, dbg_regs) + n * sizeof(state.dbg_regs[0]) };

	for (size_t i = 0; i < n; i++) {
		state.dbg_regs[i].addr = at[i];
		state.dbg_regs[i].ctrl =
			at[i] ? 0xf << 5 | 2 << 1 | 1 : 0; /* four bytes, user mode, enabled */
	}
	return ptrace(PTRACE_SETREGSET, tid, NT_ARM_HW_BREAK, &from) < 0 ? -errno : 0;
}

int step_machine_run_exclusive(pid_t tid, struct bytes code, uint64_t pc, int *ret_status)
{
	size_t len = step_machine_exclusive(code, pc), n = 1;
	uint64_t at[STEP_BREAKPOINTS] = { pc + len };
	const uint64_t none[STEP_BREAKPOINTS] = { 0 };

	for (size_t i = 1; i * 4 < len && n < STEP_BREAKPOINTS; i++) {
		struct insn insn;

		if (isa_aarch64.decode(bytes_from(code, i * 4), pc + i * 4, &insn) < 0)
			continue;
		bool leaves = (insn.flow == FLOW_BRANCH || insn.flow == FLOW_JUMP) && insn.target - pc >= len;
		if (leaves && insn.target != at[0])
			at[n++] = insn.target;
	}
	int error = step_machine_break_at(tid, at, n);
	if (error)
		return error;
	if (ptrace(PTRACE_CONT, tid, 0, 0) < 0 || waitpid(tid, ret_status, __WALL) < 0)
		return -errno;
	return WIFSTOPPED(*ret_status) ? step_machine_break_at(tid, none, n) : 0;
}

#elif defined(__x86_64__)

const uint64_t step_machine_signal_sp = 168,
	       step_machine_signal_pc = 176; /* return address, ucontext up to rcx */

const struct isa *step_machine_isa(void)
{
	return &isa_x86_64;
}

int step_machine_regs(pid_t tid, struct regs *ret, uint64_t *ret_thread_pointer)
{
	struct user_regs_struct r;
	struct iovec to = { &r, sizeof(r) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &to) < 0)
		return -errno;
	const uint64_t values[] = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
				    r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip };
	memcpy(ret->value, values, sizeof(values));
	ret->known = (UINT64_C(1) << ARRAY_LEN(values)) - 1;
	*ret_thread_pointer = r.fs_base;
	return 0;
}

uint64_t step_machine_syscall(const struct regs *regs)
{
	return regs->value[0];
}

static int machine_set_debug_register(pid_t tid, size_t index, uint64_t value)
{
	size_t at = offsetof(struct user, u_debugreg) + index * sizeof(((struct user *)0)->u_debugreg[0]);

	return ptrace(PTRACE_POKEUSER, tid, at, value) < 0 ? -errno : 0;
}

int step_machine_break_at(pid_t tid, const uint64_t *at, size_t n)
{
	uint64_t control = 0;
	int error = machine_set_debug_register(tid, 7, 0); /* addresses cannot change while enabled */

	for (size_t i = 0; i < n && !error; i++) {
		error = machine_set_debug_register(tid, i, at[i]);
		control |= at[i] ? UINT64_C(1) << 2 * i : 0; /* on execution, one byte */
	}
	return error ? error : machine_set_debug_register(tid, 7, control);
}

size_t step_machine_exclusive(struct bytes code, uint64_t pc)
{
	(void)code;
	(void)pc;
	return 0;
}

int step_machine_run_exclusive(pid_t tid, struct bytes code, uint64_t pc, int *ret_status)
{
	(void)tid;
	(void)code;
	(void)pc;
	(void)ret_status;
	return -ENOTSUP;
}

#else
#error "single-stepping is known for AArch64 and x86-64"
#endif

bool step_machine_is_sigreturn(uint64_t number)
{
	return number == SYS_rt_sigreturn;
}

bool step_machine_changes_maps(uint64_t number)
{
	return number == SYS_mmap || number == SYS_munmap || number == SYS_mremap || number == SYS_mprotect ||
	       number == SYS_pkey_mprotect || number == SYS_shmat || number == SYS_shmdt;
}
