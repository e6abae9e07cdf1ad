/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_kind: what a thread waits for, according to the names of the kernel functions on its stack.
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

/* UNKNOWN: there is no kernel stack. OTHER: there is one, but none of its functions is in the table. */
enum wait_kind {
#define WAIT_KIND(kind, name) WAIT_##kind,
	WAIT_KINDS(WAIT_KIND)
#undef WAIT_KIND
		WAIT_KIND_N,
	WAIT_NO_KIND =
		WAIT_KIND_N, /* only between calls of wait_kind_next: the result is other, whatever follows */
};

const char *wait_kind_name(enum wait_kind kind);
/*
 * To be called for each function from the innermost outwards, at first with WAIT_OTHER. The innermost
 * function in the table decides, except for a page fault, which may wait for a disk.
 */
enum wait_kind wait_kind_next(enum wait_kind so_far, const char *function);
