/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relatives: who works while the target of a recording does not: its children, its parent, processes of the
 * same name beside it, other threads of its process.
 */
#pragma once

#include "collector/process/target.h"

/* On standard error, after a recording without samples: the busiest of them and what to type. Watches for a
 * fraction of a second; says nothing if nobody is busy. */
void relatives_say_busy(const struct pid_list *pids, const struct pid_list *tids);
