/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle: the only file that knows libiberty.
 */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* libiberty recurses over the name; longer ones are hostile or useless. */
#define MAX_MANGLED (64 * 1024)

bool demangle(const char *linkage, struct text *ret)
{
	char *readable = NULL;

	if (linkage[0] != '_' || strnlen(linkage, MAX_MANGLED) == MAX_MANGLED)
		return false;
	if (linkage[1] == 'D')
		readable = dlang_demangle(linkage, 0);
	else if (linkage[1] == 'Z' || linkage[1] == 'R' || strncmp(linkage, "__Z", 3) == 0)
		readable = cplus_demangle(linkage, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	if (!readable)
		return false;
	text_add(ret, readable, strlen(readable));
	free(readable);
	return true;
}
