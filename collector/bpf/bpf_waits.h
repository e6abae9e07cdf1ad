/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_waits: the program waits.bpf.c, loaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "collector/bpf/waits_layout.h"

struct bpf_waits;

/* As bpf_deep_open. deep: a program that is to run at each sample, too; -1 = none. */
int bpf_waits_open(const struct waits_options *options, uint32_t n_cpus, int deep, struct bpf_waits **ret,
		   struct diag *diag);
void bpf_waits_close(struct bpf_waits *waits);
/* Records made on this CPU go through this event. 0 or -errno. */
int bpf_waits_output(const struct bpf_waits *waits, int cpu, int event);
/* Switches are seen from now on. 0 or -errno. */
int bpf_waits_start(struct bpf_waits *waits);
/* The program's descriptor, to be attached to events of waits. */
int bpf_waits_program(const struct bpf_waits *waits);
/* Takes a thread out of what the program knows, whichever; false: there is none left. */
bool bpf_waits_take(const struct bpf_waits *waits, struct waits_thread *ret);
