/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fence.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define FENCE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FENCE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "cpprof does not know how the kernel names this architecture"
#endif

/* All that a child needs to compute, to use what it has open, and to have children of its own (witness/). */
static const uint32_t allowed[] = {
	SYS_read,
	SYS_pread64,
	SYS_write,
	SYS_writev,
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_sendto,
	SYS_recvfrom,
	SYS_close,
	SYS_lseek,
	SYS_fstat,
	SYS_newfstatat,
	SYS_readlinkat,
	SYS_fcntl,
	SYS_dup,
	SYS_pipe2,
	SYS_ppoll,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_set_robust_list,
	SYS_exit,
	SYS_exit_group,
	SYS_wait4,
	SYS_waitid,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_getpid,
	SYS_getppid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_getrusage,
	SYS_getrandom,
	SYS_prctl,
	SYS_setrlimit,
	SYS_getrlimit,
	SYS_capget,
	SYS_capset,
	SYS_sysinfo,
	SYS_uname,
	SYS_clone,
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_statx
	SYS_statx,
#endif
#ifdef SYS_stat
	SYS_stat,
	SYS_lstat,
	SYS_readlink,
	SYS_fork,
	SYS_vfork,
	SYS_poll,
	SYS_pipe,
	SYS_dup2,
	SYS_time,
	SYS_arch_prctl,
#endif
};
#define FENCE_ALLOWED (sizeof(allowed) / sizeof(allowed[0]))
#define FENCE_MAX (FENCE_ALLOWED + 16)

static void fence_add(struct sock_fprog *program, struct sock_filter filter)
{
	program->filter[program->len++] = filter;
}

/* If the loaded value equals this one, the filter ends with that outcome. */
static void fence_decide(struct sock_fprog *program, uint32_t value, uint32_t outcome)
{
	fence_add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
	fence_add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, outcome));
}

/* A call with another architecture's numbers would be mistaken for one of ours. */
static void fence_begin(struct sock_fprog *program)
{
	fence_add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							offsetof(struct seccomp_data, arch)));
	fence_add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FENCE_ARCHITECTURE, 1, 0));
	fence_add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	fence_add(program,
		  (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
}

static bool fence_end(struct sock_fprog *program, uint32_t outcome)
{
	fence_add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, outcome));
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) == 0;
}

bool fence_close(void)
{
	struct sock_filter filters[2 * FENCE_MAX];
	struct sock_fprog program = { 0, filters };

	fence_begin(&program);
	for (size_t i = 0; i < FENCE_ALLOWED; i++)
		fence_decide(&program, allowed[i], SECCOMP_RET_ALLOW);
	/* Only its own limits: with another process's it could do harm. */
	fence_add(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 4));
	fence_add(&program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							 offsetof(struct seccomp_data, args[0])));
	fence_decide(&program, 0, SECCOMP_RET_ALLOW);
	fence_add(&program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
#ifdef SYS_clone3 /* a filter cannot see its arguments; the C library then falls back to clone */
	fence_decide(&program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
#endif
	return fence_end(&program, SECCOMP_RET_ERRNO | EPERM);
}

/* Ways out of the process. The leak checker of a sanitizer build needs ptrace. */
static const uint32_t refused[] = {
#ifndef __SANITIZE_ADDRESS__
	SYS_ptrace,
#endif
	SYS_process_vm_writev,
	SYS_pidfd_getfd,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_open_by_handle_at,
	SYS_mount,
	SYS_umount2,
	SYS_move_mount,
	SYS_open_tree,
	SYS_fsopen,
	SYS_pivot_root,
	SYS_chroot,
	SYS_unshare,
	SYS_setns,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_adjtimex,
	SYS_clock_adjtime,
	SYS_sethostname,
	SYS_acct,
	SYS_quotactl,
	SYS_syslog,
	SYS_mknodat,
};
static const uint32_t refused_programs[] = { SYS_execve, SYS_execveat, SYS_socket, SYS_connect, SYS_bind };
_Static_assert(sizeof(refused) + sizeof(refused_programs) <= sizeof(allowed), "filters has room for both");

bool fence_refuse(bool runs_programs)
{
	struct sock_filter filters[2 * FENCE_MAX];
	struct sock_fprog program = { 0, filters };

	fence_begin(&program);
	/* It may read its own memory: that is how this machine's vdso is read with bounds. */
	fence_add(&program,
		  (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 4));
	fence_add(&program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							 offsetof(struct seccomp_data, args[0])));
	fence_decide(&program, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
	fence_add(&program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		fence_decide(&program, refused[i], SECCOMP_RET_ERRNO | EPERM);
	for (size_t i = 0; !runs_programs && i < sizeof(refused_programs) / sizeof(refused_programs[0]); i++)
		fence_decide(&program, refused_programs[i], SECCOMP_RET_ERRNO | EPERM);
	return fence_end(&program, SECCOMP_RET_ALLOW);
}
