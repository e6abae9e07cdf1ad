/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* NULL = none is wanted. */
static const char *pager_command(void)
{
	static const char *const names[] = { "CPPROF_PAGER", "PAGER" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		if (value)
			return *value ? value : NULL;
	}
	/* Colours as they are, and the screen left as it was. */
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

int pager_print(const struct text *text)
{
	const char *command = fits_screen(text) ? NULL : pager_command();
	FILE *pager = command ? popen(command, "we") : NULL;

	errno = 0;
	if (!pager)
		return fwrite(text->at, 1, text->len, stdout) == text->len && fflush(stdout) == 0 ? 0 : errno ? -errno : -EIO;

	/* Whoever quits early has seen enough. */
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	fwrite(text->at, 1, text->len, pager);
	pclose(pager);
	signal(SIGPIPE, before);
	return 0;
}
