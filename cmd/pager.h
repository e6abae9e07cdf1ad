/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pager: shows text that is longer than the screen, page by page.
 */
#pragma once

#include "base/text.h"
#include "cmd/later.h"

/*
 * Prints to standard output; if that is a terminal with fewer lines than the text, through $CPPROF_PAGER,
 * $PAGER or less. 0, or -EIO. Leaving the pager early is not an error.
 */
int pager_print(const struct text *text);
/* The same in two steps, for a command that cannot start programs in between. */
void pager_prepare(struct later *pager);
int pager_print_later(const struct text *text, struct later *pager);
