/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint: the profile so far, written while the recording goes on, by a forked child: it has its
 * own copy of everything, so that the rings are drained meanwhile and a slow disk harms nobody. A
 * checkpoint that takes long puts off the next one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/output.h"

struct checkpoint {
	uint64_t interval_ns; /* 0 = never */
	uint64_t next_ns;
	pid_t writer; /* 0 = none at work */
};

void checkpoint_init(struct checkpoint *checkpoint, uint64_t interval_ns, uint64_t now_ns);
bool checkpoint_is_due(struct checkpoint *checkpoint, uint64_t now_ns);
/* Returns at once. The profile is marked as a checkpoint in the file only. */
void checkpoint_write(struct checkpoint *checkpoint, struct output *output, struct profile *profile,
		      uint64_t now_ns);
/* Until the one at work is done. */
void checkpoint_wait(struct checkpoint *checkpoint);
