/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fence.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sanitizer.h"

#if defined(__x86_64__)
#define FENCE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FENCE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "cpprof does not know how the kernel names this architecture"
#endif

/* Newer than some headers. Since 424, a call has the same number on all architectures. */
#define CALL_SHARED_NUMBERS 424
#define CALL_CLONE3 435
#define CALL_CLOSE_RANGE 436
#define CALL_OPENAT2 437
#define CALL_MOUNT_SETATTR 442
#define CALL_LANDLOCK 444 /* and the next two */
#define CALL_FCHMODAT2 452
#define CALL_SETXATTRAT 463
#define CALL_REMOVEXATTRAT 466

/* All that a process needs to compute and to use what it has open. */
static const uint32_t allowed[] = {
	SYS_read,
	SYS_pread64,
	SYS_tee,
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
	SYS_poll,
	SYS_pipe,
	SYS_dup2,
	SYS_time,
	SYS_arch_prctl,
#endif
};

/* What a command that reads foreign files needs beyond that: files, within the limits of Landlock. Modes and
 * owners are set when a file is created (base/fresh_file.c): a call that changes them also changes files that
 * can only be read. */
static const uint32_t allowed_files[] = {
	SYS_faccessat,
	SYS_getdents64,
	SYS_getcwd,
	SYS_renameat,
	SYS_renameat2,
	SYS_unlinkat,
	SYS_mkdirat,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_fsync,
	SYS_fdatasync,
	SYS_flock,
	SYS_fadvise64,
	SYS_readahead,
	SYS_statfs,
	SYS_fstatfs,
	SYS_readv,
	SYS_preadv,
	SYS_pwrite64,
	SYS_pwritev,
	SYS_umask,
	SYS_memfd_create,
	SYS_dup3,
	SYS_eventfd2,
	SYS_set_tid_address,
	SYS_membarrier,
	SYS_msync,
	SYS_mincore,
	SYS_clock_getres,
	SYS_times,
	SYS_getgroups,
	SYS_setgroups, /* files are opened with the permissions of their users (base/real_user.h) */
	SYS_setfsuid,
	SYS_setfsgid,
	SYS_sched_getparam,
	SYS_sched_getscheduler,
	SYS_getpriority,
	SYS_getcpu,
#ifdef SYS_stat
	SYS_access,
	SYS_rename,
	SYS_unlink,
	SYS_mkdir,
#endif
};

/* To have children: to become another user, behind a fence, in a process group; and to open what they ask for
 * inside a root (openat2). linkat: for entries of the store. kill: Landlock limits it to them since
 * Linux 6.12. */
static const uint32_t allowed_children[] = {
	SYS_linkat,        SYS_setpgid,  SYS_setresuid,          SYS_setresgid,
	SYS_setsockopt,    SYS_kill,     SYS_sched_setscheduler, SYS_ioprio_set,
	CALL_CLOSE_RANGE,  CALL_OPENAT2, CALL_LANDLOCK,          CALL_LANDLOCK + 1,
	CALL_LANDLOCK + 2,
};

/* Ways out of the process, also for those that run programs. The leak checker of a sanitizer build needs
 * ptrace. */
static const uint32_t refused[] = {
#if !HAS_ADDRESS_SANITIZER
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
	SYS_fspick,
	CALL_MOUNT_SETATTR,
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
	SYS_kexec_file_load,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_adjtimex,
	SYS_clock_adjtime,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_acct,
	SYS_quotactl,
	SYS_syslog,
	SYS_mknodat,
	SYS_fchownat,
	SYS_fchown,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_fsetxattr,
	SYS_removexattr,
	SYS_lremovexattr,
	SYS_fremovexattr,
	CALL_SETXATTRAT,
	CALL_REMOVEXATTRAT,
#ifdef SYS_stat
	SYS_mknod,
	SYS_chown,
	SYS_lchown,
	SYS_iopl,
	SYS_ioperm,
#endif
};

/* ... and for those that do not. */
static const uint32_t refused_alone[] = {
	SYS_execve, SYS_execveat, SYS_socket, SYS_connect, SYS_bind, SYS_fchmod, SYS_fchmodat, CALL_FCHMODAT2,
#ifdef SYS_stat
	SYS_chmod,
#endif
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define FENCE_MAX                                                                                \
	(2 * (COUNT(allowed) + COUNT(allowed_files) + COUNT(allowed_children) + COUNT(refused) + \
	      COUNT(refused_alone)) +                                                            \
	 128)

struct fence {
	struct sock_fprog program;
	struct sock_filter filters[FENCE_MAX];
};

/* ---- the parts of a filter ------------------------------------------------------------------------- */

static void fence_add(struct fence *fence, struct sock_filter filter)
{
	fence->filters[fence->program.len++] = filter;
}

static void fence_return(struct fence *fence, uint32_t outcome)
{
	fence_add(fence, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, outcome));
}

static void fence_load(struct fence *fence, size_t offset)
{
	fence_add(fence, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* If the loaded value equals this one, the filter ends with that outcome. */
static void fence_decide(struct fence *fence, uint32_t value, uint32_t outcome)
{
	fence_add(fence, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
	fence_return(fence, outcome);
}

static void fence_decide_all(struct fence *fence, const uint32_t *calls, size_t n, uint32_t outcome)
{
	for (size_t i = 0; i < n; i++)
		fence_decide(fence, calls[i], outcome);
}

/* For this call, the next n instructions decide about one of its arguments, of which the kernel uses 32 bits
 * (both architectures are little-endian). They end with a return. */
static void fence_argument(struct fence *fence, uint32_t call, unsigned argument, uint8_t n)
{
	fence_add(fence, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, (uint8_t)(n + 1)));
	fence_load(fence, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
}

/* The call is allowed with these values of the argument only. */
static void fence_allow_values(struct fence *fence, uint32_t call, unsigned argument, const uint32_t *values,
			       size_t n)
{
	fence_argument(fence, call, argument, (uint8_t)(2 * n + 1));
	fence_decide_all(fence, values, n, SECCOMP_RET_ALLOW);
	fence_return(fence, SECCOMP_RET_ERRNO | EPERM);
}

static void fence_allow_value(struct fence *fence, uint32_t call, unsigned argument, uint32_t value)
{
	fence_allow_values(fence, call, argument, &value, 1);
}

/* Depending on whether any of these bits of the argument is set. */
static void fence_decide_bits(struct fence *fence, uint32_t call, unsigned argument, uint32_t bits,
			      uint32_t if_set, uint32_t if_clear)
{
	fence_argument(fence, call, argument, 3);
	fence_add(fence, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
	fence_return(fence, if_set);
	fence_return(fence, if_clear);
}

/* A call with another architecture's numbers would be mistaken for one of ours. */
static void fence_begin(struct fence *fence)
{
	fence->program = (struct sock_fprog){ 0, fence->filters };
	fence_load(fence, offsetof(struct seccomp_data, arch));
	fence_add(fence, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FENCE_ARCHITECTURE, 1, 0));
	fence_return(fence, SECCOMP_RET_KILL_PROCESS);
	fence_load(fence, offsetof(struct seccomp_data, nr));
}

static bool fence_end(struct fence *fence, uint32_t outcome)
{
	fence_return(fence, outcome);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fence->program, 0, 0) == 0;
}

/* ---- calls that depend on their arguments ----------------------------------------------------------- */

/* Threads, and processes if it may have them, but none in other namespaces and none that are our parent's. A
 * filter cannot see the arguments of clone3; the C library then falls back to clone. */
static void fence_clone(struct fence *fence, bool forks)
{
	const uint32_t others = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
				CLONE_NEWPID | CLONE_NEWNET | CLONE_PARENT;

	if (forks)
		fence_decide_bits(fence, SYS_clone, 0, others, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
	else
		fence_decide_bits(fence, SYS_clone, 0, CLONE_THREAD, SECCOMP_RET_ALLOW,
				  SECCOMP_RET_ERRNO | EPERM);
#ifdef SYS_fork
	fence_decide(fence, SYS_fork, forks ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
	fence_decide(fence, SYS_vfork, forks ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
#endif
	fence_decide(fence, CALL_CLONE3, SECCOMP_RET_ERRNO | ENOSYS);
}

/* No new file runs as somebody else. A filter cannot see the mode that openat2 gets; but without CAP_FSETID
 * the first write to such a file clears these bits. */
static void fence_open(struct fence *fence)
{
	fence_decide_bits(fence, SYS_openat, 3, S_ISUID | S_ISGID, SECCOMP_RET_ERRNO | EPERM,
			  SECCOMP_RET_ALLOW);
#ifdef SYS_open
	fence_decide_bits(fence, SYS_open, 2, S_ISUID | S_ISGID, SECCOMP_RET_ERRNO | EPERM,
			  SECCOMP_RET_ALLOW);
#endif
}

/* Entries of the store are touched when they are used: open files only, so the path is NULL. */
static void fence_touch(struct fence *fence)
{
	const size_t path = offsetof(struct seccomp_data, args[1]);

	fence_argument(fence, SYS_utimensat, 1, 5);
	fence_add(fence, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3));
	fence_load(fence, path + sizeof(uint32_t));
	fence_add(fence, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1));
	fence_return(fence, SECCOMP_RET_ALLOW);
	fence_return(fence, SECCOMP_RET_ERRNO | EPERM);
}

/* ---- filters -------------------------------------------------------------------------------------- */

bool fence_close(bool forks)
{
	struct fence fence;

	fence_begin(&fence);
	fence_decide_all(&fence, allowed, COUNT(allowed), SECCOMP_RET_ALLOW);
	fence_allow_value(&fence, SYS_prlimit64, 0, 0); /* only its own limits */
	fence_clone(&fence, forks);
	return fence_end(&fence, SECCOMP_RET_ERRNO | EPERM);
}

/* Questions about a terminal, but no input for it. */
static const uint32_t terminal_requests[] = { TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIOCLEX };

/* Everything that is not listed is refused. New calls look as if the kernel did not have them: the C library
 * then falls back to older ones. */
static bool fence_end_with_allowed(struct fence *fence, const struct fence_needs *needs)
{
	fence_decide_all(fence, allowed, COUNT(allowed), SECCOMP_RET_ALLOW);
	fence_decide_all(fence, allowed_files, COUNT(allowed_files), SECCOMP_RET_ALLOW);
	if (needs->children)
		fence_decide_all(fence, allowed_children, COUNT(allowed_children), SECCOMP_RET_ALLOW);
	if (needs->children)
		fence_allow_value(fence, SYS_socketpair, 0, AF_UNIX);
	if (needs->children)
		fence_touch(fence);
	fence_allow_value(fence, SYS_tgkill, 0, (uint32_t)getpid()); /* abort */
	fence_allow_values(fence, SYS_ioctl, 1, terminal_requests, COUNT(terminal_requests));
	fence_clone(fence, needs->children);
	fence_open(fence);
	fence_add(fence, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, CALL_SHARED_NUMBERS, 0, 1));
	fence_return(fence, SECCOMP_RET_ERRNO | ENOSYS);
	return fence_end(fence, SECCOMP_RET_ERRNO | EPERM);
}

bool fence_refuse(const struct fence_needs *needs)
{
	struct fence fence;

	fence_begin(&fence);
	/* It may read its own memory: that is how this machine's vdso is read with bounds. */
	fence_allow_value(&fence, SYS_process_vm_readv, 0, (uint32_t)getpid());
	fence_allow_value(&fence, SYS_prlimit64, 0, 0);
	fence_decide_all(&fence, refused, COUNT(refused), SECCOMP_RET_ERRNO | EPERM);
	if (needs->programs)
		return fence_end(&fence, SECCOMP_RET_ALLOW);
	fence_decide_all(&fence, refused_alone, COUNT(refused_alone), SECCOMP_RET_ERRNO | EPERM);
	/* A sanitizer makes system calls of its own. */
	return HAS_SANITIZER ? fence_end(&fence, SECCOMP_RET_ALLOW) : fence_end_with_allowed(&fence, needs);
}
