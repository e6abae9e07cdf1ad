/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* NULL = no pager. */
static const char *pager_command(void)
{
	static const char *const names[] = { "CPPROF_PAGER", "PAGER" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		if (value)
			return *value ? value : NULL;
	}
	/* With colours, and without clearing the screen. */
	return access("/usr/bin/less", X_OK) == 0 ? "less -RX" : NULL;
}

static bool fits_screen(const struct text *text)
{
	struct winsize size = { 0 };
	size_t n_lines = 0;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
		return true;
	for (size_t i = 0; i < text->len; i++)
		n_lines += text->at[i] == '\n';
	return n_lines < size.ws_row;
}

#define NOT_RUN 126 /* or above: exit status of a shell that could not run its command */

/* False if the command could not be run. */
static bool print_through(struct later *pager, const struct text *text)
{
	/* A user who quits early has seen enough. */
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	size_t done = 0;

	while (done < text->len) {
		ssize_t n = write(pager->input, text->at + done, text->len - done);
		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	int status = later_end(pager);
	signal(SIGPIPE, before);
	return !WIFEXITED(status) || WEXITSTATUS(status) < NOT_RUN;
}

void pager_prepare(struct later *pager)
{
	const char *command = isatty(STDOUT_FILENO) ? pager_command() : NULL;

	if (command)
		later_fork(pager, (const char *const[]){ "sh", "-c", command, NULL });
}

int pager_print_later(const struct text *text, struct later *pager)
{
	if (pager->input && !fits_screen(text) && print_through(pager, text))
		return 0;
	later_end(pager);
	errno = 0;
	return fwrite(text->at, 1, text->len, stdout) == text->len && fflush(stdout) == 0 ? 0
	       : errno                                                                    ? -errno
											  : -EIO;
}

int pager_print(const struct text *text)
{
	struct later pager = { 0 };

	pager_prepare(&pager);
	return pager_print_later(text, &pager);
}
