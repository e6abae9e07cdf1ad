/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_kind: what a thread waits for, by the names of the kernel's functions on its stack.
 */
#pragma once

#include <stdbool.h>

#define WAIT_KINDS(KIND)               \
	KIND(OTHER, "other")           \
	KIND(RUNNABLE, "runnable")     \
	KIND(FUTEX, "futex")           \
	KIND(POLL, "poll")             \
	KIND(PIPE, "pipe")             \
	KIND(SOCKET, "socket")         \
	KIND(TTY, "tty")               \
	KIND(FILE, "file")             \
	KIND(DISK, "disk")             \
	KIND(PAGE_FAULT, "page fault") \
	KIND(SLEEP, "sleep")           \
	KIND(CHILD, "child")           \
	KIND(VFORK, "vfork")           \
	KIND(STOPPED, "stopped")       \
	KIND(UNKNOWN, "unknown")

/* UNKNOWN: there is no stack of the kernel. OTHER: there is, and none of its functions is in the table. */
enum wait_kind {
#define WAIT_KIND(kind, name) WAIT_##kind,
	WAIT_KINDS(WAIT_KIND)
#undef WAIT_KIND
		WAIT_KIND_N,
	WAIT_NO_KIND = WAIT_KIND_N, /* while going by functions: other, whatever follows */
};

const char *wait_kind_name(enum wait_kind kind);
/*
 * Goes by the functions from the innermost outwards: start with WAIT_OTHER, and call it for each. The
 * innermost that says something decides, but for a page fault, which may wait for a disk.
 */
enum wait_kind wait_kind_next(enum wait_kind so_far, const char *function);
