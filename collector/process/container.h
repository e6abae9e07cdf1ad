/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container: which container a process is in, and its name in the container runtime.
 *
 * The id is in the name of the process's cgroup. Docker, podman, CRI-O and containerd each keep a description
 * of a container, a small JSON document, in their own directories, usually readable only by root. If it
 * cannot be read, or cpprof is built without cJSON, a container has no name.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define CONTAINER_ID 64 /* hexadecimal digits */

struct container {
	char id[CONTAINER_ID + 1];
	char *name; /* NULL = not known */
};

/* root: "" except in tests; /proc and the directories of the runtimes are searched in it. False = not in a
 * container. */
bool container_find(const char *root, pid_t pid, struct container *ret);
void container_done(struct container *container);
