/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pager: text that is longer than the screen, a screen at a time.
 */
#pragma once

#include "base/text.h"
#include "cmd/later.h"

/*
 * Prints to standard output; through $CPPROF_PAGER, $PAGER or less if that is a terminal with fewer lines
 * than the text has. 0, or -EIO. Leaving the pager early is no error.
 */
int pager_print(const struct text *text);
/* The same in two steps, for a command that can start no program in between. */
void pager_prepare(struct later *pager);
int pager_print_later(const struct text *text, struct later *pager);
