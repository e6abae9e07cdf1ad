/* SPDX-License-Identifier: Apache-2.0 */
/* What walk.c (the loop) and look.c (what is known of a pc, and the check of a step) share. */
#pragma once

#include "unwinder/walk.h"

/* What is known of a pc. Valid until the next call with another pc. */
const struct pc_entry *walk_look(struct walker *walker, struct space *space, pid_t pid, uint64_t pc,
				 bool is_return);
/*
 * The same for code in no file, after a look at what it is at this moment: it may have been written since
 * the page was last read. False if nothing new was found.
 */
bool walk_look_again(struct walker *walker, struct space *space, pid_t pid, struct pc_entry *entry);

/*
 * The verdict of a step from callee to caller: do the bytes before the return address call the callee?
 * VALID: yes. LIKELY: they call something that may lead there. INVALID: they do not.
 */
enum verdict walk_judge(struct walker *walker, const struct pc_entry *callee, const struct pc_entry *caller);
