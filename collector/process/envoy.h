/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envoy: a child process that reads the memory and the mappings of other users' processes for us.
 *
 * Such a read may never return. A page of memory may belong to a file on a file system that its owner serves
 * (FUSE), and is asked for only when we read it; a process that does not get past its exec keeps everybody
 * waiting who opens its /proc/PID/maps. Then not even SIGKILL ends the one who waits. So somebody else waits:
 * if there is no answer in time, we leave the child behind, and ask nothing more about processes of that
 * user.
 *
 * Processes of our own user are read directly: whoever controls those needs no tricks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/process/target.h"

struct envoy;

/* Starts no process yet. Only the thread that calls this one forks: for the others, the child must be there
 * already, see envoy_tend. */
struct envoy *envoy_new(void);
void envoy_free(struct envoy *envoy);

/* Starts the child if another thread wants it. By the thread that called envoy_new, now and then. */
void envoy_tend(struct envoy *envoy);

/* Processes whose users are not asked any more. */
size_t envoy_n_refused(struct envoy *envoy);

/* From then on, all threads of this process ask this one; NULL: none. */
void envoy_use(struct envoy *envoy);

/*
 * The functions of target.h that may wait forever. They fail with -ETIME where there was no answer, or is
 * none any more, and with -EAGAIN where there is no child. Without an envoy, and for processes of our own
 * user, they are those of target.h.
 */
ssize_t envoy_read_memory(pid_t pid, uint64_t addr, void *to, size_t len);
struct target_range envoy_map_at(pid_t pid, uint64_t addr);
/* path: in /proc/PID. */
char *envoy_read_file(pid_t pid, const char *path, size_t *ret_len);
/* argv is in the memory of the process. "" where there is no answer. */
char *envoy_command_line(pid_t pid);
/* Would it keep us waiting now? Also true if another process of its user has done that. */
bool envoy_is_silent(pid_t pid);
/* What a link in /proc/PID leads to, opened with O_PATH. A descriptor or -errno. */
int envoy_open(pid_t pid, const char *path);
