/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint: writes the profile so far during the recording, in a forked child: it has its own copy of the
 * data, so the rings are drained meanwhile and a slow disk does no harm. A checkpoint that takes long delays
 * the next one. It is completed even if cpprof is killed, and is then the result of the recording.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "recording/output.h"
#include "recording/workers.h"

struct checkpoint {
	uint64_t interval_ns; /* 0 = never */
	uint64_t next_ns;
	struct child writer;
};

void checkpoint_init(struct checkpoint *checkpoint, uint64_t interval_ns, uint64_t now_ns);
bool checkpoint_is_due(struct checkpoint *checkpoint, uint64_t now_ns);
/* Returns at once. The profile belongs to the workers; it is marked as a checkpoint only in the file. */
void checkpoint_write(struct checkpoint *checkpoint, struct output *output, struct profile *profile,
		      const struct workers *workers, uint64_t now_ns);
/* Waits for a running checkpoint. */
void checkpoint_finish(struct checkpoint *checkpoint);
