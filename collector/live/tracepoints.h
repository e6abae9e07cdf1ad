/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoints: places in the kernel that can be counted, "sched:sched_switch", where tracefs is mounted and
 * we may read it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* 0 and the kernel's number for it; -ENOENT: it does not exist, -EACCES: we may not read it. */
int tracepoint_find(const char *name, size_t len, uint64_t *ret_id);
/* Every name, in no order. 0, or why there are none: -ENOENT if nothing is mounted, -EACCES. */
int tracepoints_each(void (*take)(void *context, const char *name), void *context);
