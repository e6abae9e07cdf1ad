/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/wait_kind.h"

#include <stddef.h>
#include <string.h>

const char *wait_kind_name(enum wait_kind kind)
{
	static const char *const names[] = {
#define WAIT_NAME(kind, name) [WAIT_##kind] = name,
		WAIT_KINDS(WAIT_NAME)
#undef WAIT_NAME
	};

	return kind < WAIT_KIND_N ? names[kind] : names[WAIT_OTHER];
}

/*
 * Functions of Linux 4.19 to 6.18, on x86-64 and AArch64. A star matches any suffix. Clones made by the
 * compiler (f.constprop.0, f.isra.0) are the same function.
 */
static const struct {
	const char *function;
	enum wait_kind kind;
} waits[] = {
	/* Preempted, on return to user mode or within the kernel. */
	{ "preempt_schedule*", WAIT_RUNNABLE },
	{ "__cond_resched*", WAIT_RUNNABLE },
	{ "do_sched_yield", WAIT_RUNNABLE },
	{ "exit_to_user_mode*", WAIT_RUNNABLE },
	{ "syscall_exit_to_user_mode*", WAIT_RUNNABLE },
	{ "exit_to_usermode_loop", WAIT_RUNNABLE },
	{ "irqentry_exit*", WAIT_RUNNABLE },
	{ "raw_irqentry_exit_cond_resched", WAIT_RUNNABLE },
	{ "do_notify_resume", WAIT_RUNNABLE },
	{ "arm64_preempt_schedule_irq", WAIT_RUNNABLE },

	{ "futex_*", WAIT_FUTEX },
	{ "__futex_wait", WAIT_FUTEX },
	{ "do_futex", WAIT_FUTEX },

	{ "poll_schedule_timeout", WAIT_POLL },
	{ "do_sys_poll", WAIT_POLL },
	{ "do_poll", WAIT_POLL },
	{ "do_select", WAIT_POLL },
	{ "core_sys_select", WAIT_POLL },
	{ "ep_poll", WAIT_POLL },
	{ "do_epoll_wait", WAIT_POLL },
	{ "io_cqring_wait*", WAIT_POLL },

	{ "pipe_read", WAIT_PIPE },
	{ "pipe_write", WAIT_PIPE },
	{ "anon_pipe_read", WAIT_PIPE },
	{ "anon_pipe_write", WAIT_PIPE },
	{ "fifo_*", WAIT_PIPE },

	{ "sk_wait_data", WAIT_SOCKET },
	{ "sk_stream_wait_*", WAIT_SOCKET },
	{ "unix_stream_*", WAIT_SOCKET },
	{ "unix_dgram_*", WAIT_SOCKET },
	{ "unix_accept", WAIT_SOCKET },
	{ "unix_wait_for_peer", WAIT_SOCKET },
	{ "inet_csk_accept", WAIT_SOCKET },
	{ "inet_wait_for_connect", WAIT_SOCKET },
	{ "inet_stream_connect", WAIT_SOCKET },
	{ "__inet_stream_connect", WAIT_SOCKET },
	{ "tcp_*", WAIT_SOCKET },
	{ "udp*_recvmsg", WAIT_SOCKET },
	{ "__skb_wait_for_more_packets", WAIT_SOCKET },
	{ "sock_*", WAIT_SOCKET },
	{ "__sys_recvfrom", WAIT_SOCKET },
	{ "__sys_recvmsg", WAIT_SOCKET },
	{ "__sys_sendto", WAIT_SOCKET },
	{ "__sys_sendmsg", WAIT_SOCKET },
	{ "__sys_accept4", WAIT_SOCKET },
	{ "__sys_connect", WAIT_SOCKET },

	{ "n_tty_*", WAIT_TTY },
	{ "tty_*", WAIT_TTY },

	{ "io_schedule*", WAIT_DISK },
	{ "blk_*", WAIT_DISK },
	{ "submit_bio_wait", WAIT_DISK },
	{ "rq_qos_wait", WAIT_DISK },
	{ "folio_wait_*", WAIT_DISK },
	{ "wait_on_page_*", WAIT_DISK },
	{ "jbd2_log_wait_commit", WAIT_DISK },

	{ "handle_mm_fault", WAIT_PAGE_FAULT },
	{ "do_page_fault", WAIT_PAGE_FAULT },
	{ "do_user_addr_fault", WAIT_PAGE_FAULT },
	{ "exc_page_fault", WAIT_PAGE_FAULT },
	{ "do_mem_abort", WAIT_PAGE_FAULT },
	{ "do_translation_fault", WAIT_PAGE_FAULT },

	{ "do_nanosleep", WAIT_SLEEP },
	{ "hrtimer_nanosleep", WAIT_SLEEP },
	{ "common_nsleep*", WAIT_SLEEP },

	{ "do_wait", WAIT_CHILD },
	{ "__do_wait", WAIT_CHILD },
	{ "kernel_wait*", WAIT_CHILD },

	/* Often inlined into its caller, which otherwise waits only while it copies. */
	{ "wait_for_vfork_done", WAIT_VFORK },
	{ "copy_process", WAIT_NO_KIND },
	{ "kernel_clone", WAIT_VFORK },
	{ "_do_fork", WAIT_VFORK },

	{ "do_signal_stop", WAIT_STOPPED },
	{ "ptrace_stop", WAIT_STOPPED },
	{ "ptrace_notify", WAIT_STOPPED },
	{ "do_jobctl_trap", WAIT_STOPPED },
	{ "get_signal", WAIT_STOPPED },

	{ "vfs_read", WAIT_FILE },
	{ "vfs_write", WAIT_FILE },
	{ "vfs_fsync*", WAIT_FILE },
	{ "fcntl_setlk", WAIT_FILE },
	{ "locks_lock_inode_wait", WAIT_FILE },
};

static bool wait_kind_fits(const char *pattern, const char *function, size_t len)
{
	const char *star = strchr(pattern, '*');
	size_t head = star ? (size_t)(star - pattern) : strlen(pattern);

	if (len < head || strncmp(pattern, function, head) != 0)
		return false;
	if (!star)
		return len == head;
	size_t tail = strlen(star + 1);
	return len >= head + tail && strncmp(function + len - tail, star + 1, tail) == 0;
}

static enum wait_kind wait_kind_of(const char *function)
{
	size_t len = strcspn(function, ".");

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (wait_kind_fits(waits[i].function, function, len))
			return waits[i].kind;
	return WAIT_OTHER;
}

enum wait_kind wait_kind_next(enum wait_kind so_far, const char *function)
{
	if (so_far != WAIT_OTHER && so_far != WAIT_DISK)
		return so_far;

	enum wait_kind kind = wait_kind_of(function);
	if (so_far == WAIT_DISK)
		return kind == WAIT_PAGE_FAULT ? kind : so_far;
	return kind;
}
