/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relatives: who works while the target of a recording does not: its children, its parent, processes of the
 * same name beside it, other threads of its process.
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
