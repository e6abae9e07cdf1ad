/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container: which container a process is in, and what its runtime calls that.
 *
 * The id is in the name of the process's cgroup. Docker, podman, CRI-O and containerd each keep a description
 * of a container, a small JSON document, in a folder of their own, mostly for root alone to read: where it
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

/* root: "" but in tests; /proc and the folders of the runtimes are looked for in it. False = it is in none.
 */
bool container_find(const char *root, pid_t pid, struct container *ret);
void container_done(struct container *container);
