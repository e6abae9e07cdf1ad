/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_log: JIT code, read from the process for the unwinder, and stored as events in a raw recording, if
 * there is one, so that a later import uses the same code.
 */
#pragma once

#include "collector/event.h"

struct code_log_options {
	/* Reads the target's memory; from any thread. */
	ssize_t (*read)(void *context, pid_t tid, uint64_t addr, void *to, size_t len);
	void *read_context;
	/* Takes an EVENT_CODE; NULL: code is not stored. */
	void (*write)(void *context, const struct event *event);
	void *write_context;
};

/* The process, the thread through which its memory is read (one that is alive: the first may have ended), and
 * the time of the sample whose stack needs the code. */
struct code_wanted {
	pid_t pid, tid;
	uint64_t time_ns;
};

struct code_log;
struct code_log *code_log_new(const struct code_log_options *options);
void code_log_free(struct code_log *log);

/* The context is the log. May be called from any thread; samples need not be in time order. */
ssize_t code_log_read(void *log, const struct code_wanted *wanted, uint64_t addr, void *to, size_t len);
/* Writes what was read since the last call, each piece with a time just before the sample that needed it. */
void code_log_write(struct code_log *log);
