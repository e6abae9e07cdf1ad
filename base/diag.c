/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int diag_set(struct diag *diag, int error, const char *what, ...)
{
	va_list args;

	if (!diag)
		return error;
	diag->error = error;
	diag->hint[0] = '\0';
	va_start(args, what);
	vsnprintf(diag->what, sizeof(diag->what), what, args);
	va_end(args);
	snprintf(diag->why, sizeof(diag->why), "%s", error ? strerror(-error) : "");
	return error;
}

void diag_why(struct diag *diag, const char *why, ...)
{
	va_list args;

	if (!diag)
		return;
	va_start(args, why);
	vsnprintf(diag->why, sizeof(diag->why), why, args);
	va_end(args);
}

void diag_hint(struct diag *diag, const char *hint, ...)
{
	va_list args;

	if (!diag)
		return;
	va_start(args, hint);
	vsnprintf(diag->hint, sizeof(diag->hint), hint, args);
	va_end(args);
}
