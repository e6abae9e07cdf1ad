/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/terminal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static size_t terminal_width(void)
{
	struct winsize size = { 0 };
	const char *columns = getenv("COLUMNS");

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	long n = columns ? strtol(columns, NULL, 10) : 0;
	return n > 0 && n < INT_MAX ? (size_t)n : 80;
}

/* As determined by the C library, without changing our own locale: numbers must look the same everywhere. */
static bool locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static bool wants_color(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

struct style terminal_style(enum color_when color)
{
	bool is_terminal = isatty(STDOUT_FILENO);

	return (struct style){
		.width = is_terminal ? terminal_width() : 0,
		.color = color == COLOR_ALWAYS || (color == COLOR_AUTO && is_terminal && wants_color()),
		.utf8 = locale_is_utf8() && is_terminal,
	};
}
