/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser: shows a file that was written in the user's browser.
 */
#pragma once

#include "cmd/later.h"

/* With $BROWSER or xdg-open; prints a message if there is none. */
void browser_open(const char *path);
/* The same in two steps, for a command that cannot start programs in between. */
void browser_prepare(const char *path, struct later *browser);
void browser_open_later(const char *path, struct later *browser);
