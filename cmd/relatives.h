/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relatives: processes and threads that are busy while the target of a recording is idle: its children, its
 * parent, sibling processes of the same name, other threads of its process.
 */
#pragma once

#include "collector/process/target.h"

struct relatives;

/* Notes the CPU time of the targets and of their relatives; relatives_free() it. `inherits`: children are
 * recorded, so they are targets, too. */
struct relatives *relatives_watch(const struct pid_list *pids, const struct pid_list *tids, bool inherits);
void relatives_free(struct relatives *relatives);

/* On standard error, after a recording: if the targets were idle since relatives_watch(), the busiest
 * relative and what to type. Nothing if nobody was busy. */
void relatives_say_busy(const struct relatives *before);
