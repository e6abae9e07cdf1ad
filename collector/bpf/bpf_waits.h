/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_waits: the program waits.bpf.c, loaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "collector/bpf/waits_layout.h"

struct bpf_waits;

/* As bpf_deep_open. deep: the program that writes samples, and copies deep stacks; -1 = none. */
int bpf_waits_open(const struct waits_options *options, uint32_t n_cpus, int deep, struct bpf_waits **ret,
		   struct diag *diag);
void bpf_waits_close(struct bpf_waits *waits);
/* Records made on this CPU go through this event. 0 or -errno. */
int bpf_waits_output(const struct bpf_waits *waits, int cpu, int event);
/* The same for samples, where there is no deep program. */
int bpf_waits_sample_output(const struct bpf_waits *waits, int cpu, int event);
/* Switches are seen from now on; inherits: children are watched with their parents. 0 or -errno. */
int bpf_waits_start(struct bpf_waits *waits, bool inherits);
/* Whether waits count. */
void bpf_waits_turn(struct bpf_waits *waits, bool is_on);
/* 0 or -errno. */
int bpf_waits_watch(struct bpf_waits *waits, pid_t tid, enum waits_target how);
/* It has ended before it was met. */
void bpf_waits_unwatch(struct bpf_waits *waits, pid_t tid);
/* The stack of a switch of the calling thread, from the program outwards: WAITS_OWN_FRAMES addresses, 0 where
 * it is shorter, or was not seen. */
const uint64_t *bpf_waits_own_frames(const struct bpf_waits *waits);
/* What to add to the scheduler's clock to have that of samples. */
uint64_t bpf_waits_clock_offset(const struct bpf_waits *waits);
/* Threads that the program knows: the next of them, where at is a place in its table and begins as 0. NULL:
 * there is none left. */
const struct waits_thread *bpf_waits_next(const struct bpf_waits *waits, uint32_t *at);
/* The same of all places in which threads have waited. */
const struct waits_place *bpf_waits_next_place(const struct bpf_waits *waits, uint32_t *at);
