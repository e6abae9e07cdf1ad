/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child: work done in a forked child process with a copy of our memory: fork, run, reap.
 *
 * The rule of forks: the child has only the thread that forked. Data that another thread was changing stays
 * half changed in the child's copy, and a lock that it held stays locked forever. So no other thread may be
 * using the data that the child accesses when it is forked: workers must be idle, and no batch may be in
 * transit. child_start checks this (is_at_rest) and forks only then. Threads that share no data with the
 * child may keep running: the one that empties the rings does. (malloc, stdio and the store can handle a fork
 * at any time.)
 *
 * A child dies with the thread that forked it, unless it outlives_us. It cannot change our memory: it returns
 * only a status and, if requested, the bytes it wrote to a pipe. It ends with _exit, so that stdio buffers
 * are not written twice and no exit handlers run.
 *
 * A child that reads files of a target or its user is fenced, so that a compromised parser can do no harm
 * outside of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/real_user.h"
#include "base/writer.h"

struct child_options {
	/* Runs in the child. result: descriptor to write the result to; -1 if has_result is false. The return
	 * value is its exit status. */
	int (*run)(void *context, int result);
	void *context;
	/* Runs in the child before limits and fence are applied. May be NULL. */
	void (*prepare)(void *context);

	/* Returns whether no other thread is using the data that the child will access. NULL: no other thread
	 * does. */
	bool (*is_at_rest)(const void *context);
	const void *rest_context;

	/* Runs at idle CPU and disk priority, and is the first to be killed when memory runs out. If the
	 * system does not allow all of this, it ends at once with CHILD_REFUSED. */
	bool is_idle;
	/* Has no capabilities except for reading what we may read, and cannot get any; cannot write, create
	 * or remove files (before Linux 5.13: cannot write); leaves no core file. For foreign code that reads
	 * foreign input. */
	bool is_unprivileged;
	bool executes; /* ... but executes another program, which has no more privileges */
	bool connects; /* ... but connects to a server */
	/* Is the leader of a process group, which is killed with it: including everything that a foreign
	 * program has started. */
	bool leads_group;
	/* The same without any capability, as that user if we are root, and behind a fence (fence.h): it
	 * requests resources from us through a channel. Before Linux 5.13, or where filters are refused, as
	 * far as the kernel supports it. */
	bool is_fenced;
	const struct user *user; /* NULL: ours */
	int channel; /* its end of a channel: apart from the result, all it keeps of our descriptors; 0: none
		      */
	bool forks;  /* ... but may have children; needs leads_group, so that they end with it */
	bool outlives_us; /* for a short task that should be completed even if we die */
	bool has_result;

	/* Limits; 0 = none. */
	uint64_t max_memory; /* bytes of address space, including what it inherits from us */
	uint64_t max_cpu_s;  /* of CPU time; then it is killed */
	uint64_t max_ns;     /* from its start; then child_is_busy or child_wait kills it */
	size_t max_result;   /* bytes; then it is killed. 0 = CHILD_RESULT_MAX */
};

#define CHILD_REFUSED 120 /* the exit status of a child that could not be set up as requested */
#define CHILD_RESULT_MAX (64u << 20)

/* All zero: no child is running, and none ever was. */
struct child {
	pid_t pid;  /* 0 = none is running */
	int result; /* our end of the pipe, while there is one */
	bool has_pipe;
	struct writer bytes; /* what was read from it */
	size_t max_result;
	uint64_t deadline_ns; /* 0 = none */
	bool leads_group, is_idle;
	int cause;  /* why we killed it; 0 = we did not */
	int status; /* of the last one, as child_wait returns it */
	bool was_started;
};

/* Returns at once. -EBUSY: the last child is still running, or is_at_rest returned false; otherwise the error
 * of fork. */
int child_start(struct child *child, const struct child_options *options);

/* Whether a child is running. Also reads its output, kills it if its time is over, and reaps it when it has
 * ended. Never waits. */
bool child_is_busy(struct child *child);

/*
 * Waits until it has ended. Returns its exit status; -ETIME if its time or CPU time was over, -EMSGSIZE if it
 * wrote too much, -ECANCELED if a signal ended it (child_kill, a crash), -ESRCH if there never was one.
 */
int child_wait(struct child *child);
/* The output of the last child, after it has ended; valid until the next one is started. It is foreign input
 * if the child's input was. */
struct bytes child_result(const struct child *child);

/* Continues it, and the children it has now, at normal priority, if the system allows it. */
void child_raise(const struct child *child);

/* Closes this descriptor and all above it: for a child that is not fenced. */
void child_close_from(int first);

/* Kills it and waits for its end. */
void child_kill(struct child *child);
/* Kills it and does not wait: where all CPUs are busy, a child at idle priority may need seconds to die. It
 * is reaped by a later call, or by init after us. */
void child_leave(struct child *child);
/* Kills it and frees its result. */
void child_done(struct child *child);
/* The same without waiting, ever: it may be in a system call that not even SIGKILL ends. It is reaped by init
 * after us. */
void child_forget(struct child *child);
