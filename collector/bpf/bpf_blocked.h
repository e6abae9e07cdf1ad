/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_blocked: the program blocked.bpf.c, loaded.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "collector/bpf/blocked_layout.h"

struct bpf_blocked;

/* NULL if the kernel refuses it, or cpprof was built without libbpf. */
struct bpf_blocked *bpf_blocked_open(const struct blocked_options *options);
void bpf_blocked_close(struct bpf_blocked *blocked);
/* Names a thread, as the kernel numbers it. 0 or -errno. */
int bpf_blocked_want(const struct bpf_blocked *blocked, pid_t tid);

struct blocked_threads {
	VEC(struct blocked_thread) at;
};
/* Those of them that wait now. 0 or -errno. */
int bpf_blocked_read(const struct bpf_blocked *blocked, struct blocked_threads *ret);
