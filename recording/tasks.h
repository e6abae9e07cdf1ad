/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks: maps a pid or tid to its current row in the profile.
 *
 * The kernel reuses these numbers, so a pid identifies a process only between its fork and its exit; a later
 * fork with the same number creates a new row. Times are relative to the start of the recording.
 *
 * On a whole machine, most processes end without being sampled. So a row is created with the first sample,
 * from what is known about living processes: the profile has rows only for sampled processes, and memory is
 * needed only for living ones.
 */
#pragma once

#include <sys/types.h>

#include "base/hash.h"
#include "profile/profile.h"

#define TASK_NAME_MAX 32 /* the kernel's are 16 */

/* A living thread. */
struct task {
	pid_t pid, tid, parent_pid;
	uint64_t start_ns;
	uint32_t user, group; /* as in profile_process */
	char comm[TASK_NAME_MAX];
};

/* The name that a thread has now, if its row has an earlier one. */
struct task_name {
	uint32_t thread; /* its row */
	char comm[TASK_NAME_MAX];
};

struct tasks {
	struct profile *profile; /* borrowed: its processes and threads grow */
	struct map process_of, thread_of;
	VEC(uint32_t) n_alive; /* threads of each process that have not exited */
	size_t n_names;        /* different ones that were given to threads with rows */
	struct map later_of;   /* row of a thread -> later */
	VEC(struct task_name) later;
	bool is_lazy; /* rows are created with the first sample; the following members are used only then */
	struct map living; /* tid -> all */
	VEC(struct task) all;
	VEC(uint32_t) unused; /* of all */
};

void tasks_done(struct tasks *tasks);
/*
 * With is_lazy: starts again with another profile, which begins this much later. Living threads existed
 * before it: their start is below 0, modulo 2^64, so that it is the same time in all profiles.
 */
void tasks_restart(struct tasks *tasks, struct profile *profile, uint64_t later_ns);

/* The thread's row, created if necessary (or if tid last belonged to another process). */
uint32_t tasks_thread(struct tasks *tasks, pid_t pid, pid_t tid, uint64_t time_ns);
/* The row of a known thread of that process; MAP_NONE if there is none. */
uint32_t tasks_find(const struct tasks *tasks, pid_t pid, pid_t tid);
/* A new thread, or a new process with its first one: new rows even if the numbers were used before. */
void tasks_fork(struct tasks *tasks, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid,
		uint64_t time_ns);
/* A thread can have millions of names, and a profile keeps each string: after many, tasks_settle adds those
 * that threads have in the end. */
void tasks_name(struct tasks *tasks, pid_t pid, pid_t tid, const char *comm, uint64_t time_ns);
void tasks_settle(struct tasks *tasks);
/* The name that a thread with a row has now. Valid until the next call. */
const char *tasks_comm(const struct tasks *tasks, uint32_t thread);
/* The user of a process: 1 + uid, and gid. The row of one that had several shows one who can read no more
 * than each of them. */
void tasks_user(struct tasks *tasks, pid_t pid, uint32_t user, uint32_t group);
/* It can no longer be asked. The child of a user's process is that user's; that of root's may be anybody's,
 * and counts as USER_NOBODY's: reports made by root must not trust it. */
void tasks_user_is_unknown(struct tasks *tasks, pid_t pid);
/* One thread; the process ends with its last. */
void tasks_exit(struct tasks *tasks, pid_t pid, pid_t tid, uint64_t time_ns);
/* UINT32_MAX if the process was never seen. */
uint32_t tasks_process(const struct tasks *tasks, pid_t pid);
