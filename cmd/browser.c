/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/browser.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *browser_name(void)
{
	const char *browser = getenv("BROWSER");

	return browser && browser[0] ? browser : "xdg-open";
}

void browser_prepare(const char *path, struct later *browser)
{
	later_fork(browser, (const char *const[]){ browser_name(), path, NULL });
}

void browser_open_later(const char *path, struct later *browser)
{
	bool is_asked = browser->input && write(browser->input, "", 1) == 1;
	int status = later_end(browser);

	if (!is_asked || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fprintf(stderr, "cpprof: '%s' could not open %s; set BROWSER to a program that can\n",
			browser_name(), path);
}

void browser_open(const char *path)
{
	struct later browser = { 0 };

	browser_prepare(path, &browser);
	browser_open_later(path, &browser);
}
