/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/browser.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void browser_open(const char *path)
{
	const char *browser = getenv("BROWSER");
	int status = 0;

	browser = browser && browser[0] ? browser : "xdg-open";
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		execlp(browser, browser, path, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fprintf(stderr, "cpprof: '%s' could not open %s; set BROWSER to a program that can\n",
			browser, path);
}
