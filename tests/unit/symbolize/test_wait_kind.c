/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/wait_kind.h"
#include "tests/test.h"

/* The functions of a stack, the innermost first. */
static const char *kind_of(const char *const *functions)
{
	enum wait_kind kind = WAIT_OTHER;

	for (; *functions; functions++)
		kind = wait_kind_next(kind, *functions);
	return wait_kind_name(kind);
}
#define KIND(...) kind_of((const char *const[]){ __VA_ARGS__, NULL })

TEST(the_innermost_known_function_determines_the_kind)
{
	CHECK_STR(KIND("__schedule", "schedule", "futex_do_wait", "__futex_wait", "futex_wait", "do_futex"),
		  "futex");
	CHECK_STR(KIND("schedule", "futex_wait_queue", "futex_wait"), "futex");
	CHECK_STR(KIND("schedule", "do_nanosleep", "hrtimer_nanosleep"), "sleep");
	CHECK_STR(KIND("schedule", "schedule_hrtimeout_range", "poll_schedule_timeout.constprop.0",
		       "do_sys_poll"),
		  "poll");
	CHECK_STR(KIND("schedule", "ep_poll", "do_epoll_wait"), "poll");
	CHECK_STR(KIND("schedule", "anon_pipe_read", "vfs_read", "ksys_read"), "pipe");
	CHECK_STR(KIND("schedule", "pipe_write", "vfs_write"), "pipe");
	CHECK_STR(
		KIND("schedule_timeout", "unix_stream_data_wait", "unix_stream_read_generic", "sock_recvmsg"),
		"socket");
	CHECK_STR(KIND("wait_woken", "sk_wait_data", "tcp_recvmsg_locked", "vfs_read"), "socket");
	CHECK_STR(KIND("wait_woken", "n_tty_read", "tty_read", "vfs_read"), "tty");
	CHECK_STR(KIND("schedule", "do_wait", "kernel_wait4"), "child");
	CHECK_STR(KIND("wait_for_completion_killable", "wait_for_vfork_done", "kernel_clone"), "vfork");
	CHECK_STR(KIND("schedule_timeout", "__wait_for_common", "wait_for_completion_state", "kernel_clone"),
		  "vfork");
	CHECK_STR(KIND("schedule", "rwsem_down_write_slowpath", "copy_process.constprop.0", "kernel_clone"),
		  "other");
	CHECK_STR(KIND("io_schedule", "copy_process", "kernel_clone"), "disk");
	CHECK_STR(KIND("schedule", "do_signal_stop", "get_signal", "exit_to_user_mode_loop"), "stopped");
	CHECK_STR(KIND("schedule", "exit_to_user_mode_loop", "el0_svc"), "runnable");
	CHECK_STR(KIND("__schedule", "preempt_schedule_irq", "vfs_read"), "runnable");
	CHECK_STR(KIND("schedule", "some_driver_read", "vfs_read"), "file");
	CHECK_STR(KIND("schedule", "rwsem_down_read_slowpath"), "other");
}

TEST(a_page_fault_may_wait_for_a_disk)
{
	CHECK_STR(KIND("io_schedule", "folio_wait_bit_common", "filemap_read", "vfs_read"), "disk");
	CHECK_STR(KIND("io_schedule", "folio_wait_bit_common", "filemap_fault", "handle_mm_fault"),
		  "page fault");
	CHECK_STR(KIND("schedule", "rwsem_down_read_slowpath", "do_user_addr_fault"), "page fault");
}

TEST(only_whole_function_names_match)
{
	CHECK_STR(KIND("do_nanosleeper"), "other");
	CHECK_STR(KIND("my_do_nanosleep"), "other");
	CHECK_STR(KIND("do_nanosleep.isra.0"), "sleep");
	CHECK_STR(KIND(""), "other");
	CHECK_STR(KIND("."), "other");
}
