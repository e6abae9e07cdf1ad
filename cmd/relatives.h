/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relatives: processes and threads that are busy while the target of a recording is idle: its children, its
 * parent, sibling processes of the same name, other threads of its process.
 */
#pragma once

#include "collector/process/target.h"

struct relatives;

/* Records the CPU time of the targets and of their relatives; relatives_free() it. `inherits`: children are
 * recorded, so they are also targets. */
struct relatives *relatives_watch(const struct pid_list *pids, const struct pid_list *tids, bool inherits);
void relatives_free(struct relatives *relatives);

/* After a recording, prints on standard error: if the targets were idle since relatives_watch(), the busiest
 * relative and what to type. Nothing if none was busy. */
void relatives_say_busy(const struct relatives *before);
