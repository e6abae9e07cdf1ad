/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks: which row of the profile a pid or tid stands for right now.
 *
 * The kernel uses numbers again, so a pid names a process only between its fork and its exit; a
 * later fork with the same number starts a new row. Times count from the start of the recording.
 */
#pragma once

#include <sys/types.h>

#include "base/hash.h"
#include "profile/profile.h"

struct tasks {
	struct profile *profile; /* borrowed: its processes and threads grow */
	struct map process_of, thread_of;
	VEC(uint32_t) n_alive; /* threads of each process that have not exited */
};

void tasks_done(struct tasks *tasks);

/* The thread's row, made if need be (or if tid last belonged to another process). */
uint32_t tasks_thread(struct tasks *tasks, pid_t pid, pid_t tid, uint64_t time_ns);
/* The row of a thread that was seen, and is one of that process; MAP_NONE if there is none. */
uint32_t tasks_find(const struct tasks *tasks, pid_t pid, pid_t tid);
/* A new thread, or a new process with its first one: rows of their own even if the numbers were used before.
 */
void tasks_fork(struct tasks *tasks, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid,
		uint64_t time_ns);
void tasks_name(struct tasks *tasks, pid_t pid, pid_t tid, const char *comm, uint64_t time_ns);
/* One thread; the process ends with its last. */
void tasks_exit(struct tasks *tasks, pid_t pid, pid_t tid, uint64_t time_ns);
/* UINT32_MAX if the process was never seen. */
uint32_t tasks_process(const struct tasks *tasks, pid_t pid);
