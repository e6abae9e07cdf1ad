/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: what a walk reads. The snapshot that came with the sample first; behind it, if there is a
 * reader, the target's memory as it is now. A walk that needed the second kind can be wrong, because
 * the target has run on: memory.was_read_late says so.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"

/* Bytes read from the target's memory at run-time address addr, or -errno. NULL: the snapshot is all there
 * is. */
typedef ssize_t (*memory_reader)(void *context, pid_t pid, uint64_t addr, void *to, size_t len);

enum memory_status {
	MEMORY_OK,
	MEMORY_BEYOND, /* behind the end of a snapshot that was cut off: the stack may go on there */
	MEMORY_BAD,    /* nowhere */
};

#define MEMORY_WINDOW 4096 /* read ahead of the snapshot's end, so that not every slot is a system call */

struct memory {
	struct bytes snapshot;
	uint64_t start;     /* address of its first byte */
	bool is_cut_off;    /* the snapshot ended before the stack did */
	memory_reader read; /* may be NULL */
	void *context;
	pid_t pid;
	bool was_read_late; /* something came from the reader */
	uint64_t window_start;
	size_t window_len;
	uint8_t window[MEMORY_WINDOW];
};

/* Starts a sample; keeps the reader. */
void memory_begin(struct memory *memory, pid_t pid, uint64_t start, struct bytes snapshot, bool is_cut_off);
/* size is 1, 2, 4 or 8; ret is zero-extended. */
enum memory_status memory_get(struct memory *memory, uint64_t addr, unsigned size, uint64_t *ret);
