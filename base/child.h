/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child: something done beside us, by a forked child with a copy of all our memory: fork, do, reap.
 *
 * The rule: of our threads the child has only the one that forked. What another thread was changing stays
 * half changed in the child's copy, and a lock it held stays locked there for ever. So whatever the child
 * touches must be at rest when it is forked: workers that share it are idle, no batch is on its way.
 * child_start asks (is_at_rest) and forks only then. Threads that share nothing with what the child does may
 * go on: the one that empties the rings does. (malloc, stdio and our store on disk bear a fork at any time.)
 *
 * A child dies with the thread that forked it, whatever that dies of, unless it outlives_us. It has no say in
 * what we do: its memory is its own, and all that comes back is a status and, if wanted, the bytes it wrote
 * to a pipe. It never returns from run: it ends with _exit, so no buffer of ours is written twice and no
 * handler is run.
 *
 * A child that reads what a target or its user made is fenced: what its parsers can be talked into ends
 * there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/real_user.h"
#include "base/writer.h"

struct child_options {
	/* In the child. result: where to write what it found out; -1 if has_result is false. What is returned
	 * is its exit status. */
	int (*run)(void *context, int result);
	void *context;
	/* In the child, before it is limited or fenced. May be NULL. */
	void (*prepare)(void *context);

	/* Is everything that the child will touch at rest? NULL: no other thread has a part in it. */
	bool (*is_at_rest)(const void *context);
	const void *rest_context;

	/* Runs at idle CPU and disk priority, and is the first to go when memory gets
	 * short. If the system does not grant all of that it ends at once, with CHILD_REFUSED. */
	bool is_idle;
	/* Has no capability but that of reading what we may read, and can get none; writes, makes and removes
	 * no file (before Linux 5.13: writes none); leaves no core. For foreign code that reads foreign
	 * input. */
	bool is_unprivileged;
	bool executes; /* ... but becomes another program, which has no more rights */
	bool connects; /* ... but speaks to a server */
	/* Leads a process group of its own, which ends with it: whatever a foreign program has started. */
	bool leads_group;
	/* The same with no capability at all, as that user where we are root, and behind a fence (fence.h):
	 * what it needs of the system it asks of us, by a channel. Before Linux 5.13, or where filters are
	 * refused, as far as the kernel goes. */
	bool is_fenced;
	const struct user *user; /* NULL: ours */
	bool outlives_us;        /* for a short piece of work that is better finished than cut off */
	bool has_result;

	/* Limits; 0 = none. */
	uint64_t max_memory; /* bytes of address space; those that it has from us count */
	uint64_t max_cpu_s;  /* of CPU time; then it is killed */
	uint64_t max_ns;     /* from its start; then child_is_busy or child_wait kills it */
	size_t max_result;   /* bytes; then it is killed. 0 = CHILD_RESULT_MAX */
};

#define CHILD_REFUSED 120 /* the exit status of a child that could not be made as asked */
#define CHILD_RESULT_MAX (64u << 20)

/* All zero: none at work, none ever was. */
struct child {
	pid_t pid;  /* 0 = none at work */
	int result; /* our end of the pipe, while there is one */
	bool has_pipe;
	struct writer bytes; /* what came through it */
	size_t max_result;
	uint64_t deadline_ns; /* 0 = none */
	bool leads_group;
	int cause;  /* why we killed it; 0 = we did not */
	int status; /* of the last one, as child_wait returns it */
	bool was_started;
};

/* Returns at once. -EBUSY: the last one is still at work, or is_at_rest says no; else as fork fails. */
int child_start(struct child *child, const struct child_options *options);

/* Is one at work? Reads what it has written, kills it if its time is over, and takes note of its end. */
bool child_is_busy(struct child *child);

/*
 * Until it has ended. Its exit status; -ETIME if its time was over, -EMSGSIZE if it wrote too much,
 * -ECANCELED if a signal ended it (a limit, child_kill, a crash), -ESRCH if there never was one.
 */
int child_wait(struct child *child);
/* What the last one wrote, when it has ended; valid until the next one is started. It is foreign input if
 * what the child read was. */
struct bytes child_result(const struct child *child);

/* Ends it, at once, and waits for that. */
void child_kill(struct child *child);
/* The same; and forgets its result. */
void child_done(struct child *child);
