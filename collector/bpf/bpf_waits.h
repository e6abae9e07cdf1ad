/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_waits: loads the program waits.bpf.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "collector/bpf/waits_layout.h"

struct bpf_waits;

/* See bpf_deep_open. deep: the program that writes samples and copies deep stacks; -1 = none. */
int bpf_waits_open(const struct waits_options *options, uint32_t n_cpus, int deep, struct bpf_waits **ret,
		   struct diag *diag);
void bpf_waits_close(struct bpf_waits *waits);
/* Sets the event through which records on this CPU are written. 0 or -errno. */
int bpf_waits_output(const struct bpf_waits *waits, int cpu, int event);
/* The same for samples, if there is no deep program. */
int bpf_waits_sample_output(const struct bpf_waits *waits, int cpu, int event);
/* Starts observing context switches; inherits: children are watched with their parents. 0 or -errno. */
int bpf_waits_start(struct bpf_waits *waits, bool inherits);
/* Sets whether waits are counted. */
void bpf_waits_turn(struct bpf_waits *waits, bool is_on);
/* 0 or -errno. */
int bpf_waits_watch(struct bpf_waits *waits, pid_t tid, enum waits_target how);
/* The thread ended before the program saw it. */
void bpf_waits_unwatch(struct bpf_waits *waits, pid_t tid);
/* The stack of a context switch of the calling thread, from the BPF program outwards: WAITS_OWN_FRAMES
 * addresses, filled up with 0 if it is shorter or was not seen. */
const uint64_t *bpf_waits_own_frames(const struct bpf_waits *waits);
/* The difference between the clock of samples and that of the scheduler. */
uint64_t bpf_waits_clock_offset(const struct bpf_waits *waits);
/* The next of the threads that the program knows; *at is a position in its table, at first 0. NULL: no more.
 */
const struct waits_thread *bpf_waits_next(const struct bpf_waits *waits, uint32_t *at);
/* The same of all places in which threads have waited. */
const struct waits_place *bpf_waits_next_place(const struct bpf_waits *waits, uint32_t *at);
