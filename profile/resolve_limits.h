/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_limits: how much memory and CPU time the lookup of a file's symbols may take.
 *
 * If others than us made the file, they can make it take any time. When its time is over, it has no symbols,
 * and the other files of the same user, who may have made many of that kind, have half the time. So all of
 * them together do not keep those of other users waiting.
 */
#pragma once

#include <stdint.h>

#include "base/vec.h"

struct patience_with {
	uint64_t who;
	unsigned n_failed;
};

/* All zero: nobody has made us wait yet. */
struct patience {
	VEC(struct patience_with) all;
};

/* Bytes of address space, including what we have now; 0 = no limit. */
uint64_t resolve_memory_limit(void);

void patience_done(struct patience *patience);
/* Seconds for a file of so many bytes; at least 1. who: whose it is; 0 = ours. */
uint64_t patience_cpu_s(const struct patience *patience, uint64_t who, uint64_t bytes);
/* One of their files led to no result. */
void patience_lose(struct patience *patience, uint64_t who);
