/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deep_wait: records of the BPF program (collector/bpf/deep.bpf.c) that have been read before their sample.
 *
 * Their timestamps are slightly later than that of their sample, although they precede it in the ring. They
 * are held here until the next record in the ring is read, and then put into the order, and into a raw file,
 * with the time of their sample.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "base/writer.h"
#include "collector/order.h"

struct deep_waiting {
	uint64_t time_ns;
	size_t offset, len; /* set when it is added */
	size_t time_at;     /* offset of the time in the record */
	pid_t tid;
	bool is_outline;
};
struct deep_wait {
	struct writer bytes;
	VEC(struct deep_waiting) records;
};
void deep_wait_add(struct deep_wait *wait, struct order *order, const struct deep_waiting *it,
		   struct bytes record, struct bytes payload);
/* Something else was read: a sample of thread tid, or another record (tid -1). */
void deep_wait_end(struct deep_wait *wait, struct order *order, pid_t tid, uint64_t time_ns);
void deep_wait_done(struct deep_wait *wait);
