/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser: shows a file that was written in the user's browser.
 */
#pragma once

/* By $BROWSER or xdg-open; says so if there is none. */
void browser_open(const char *path);
