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

bool demangle_knows(const char *linkage)
{
	return strncmp(linkage, "_Z", 2) == 0 || strncmp(linkage, "_R", 2) == 0 || strncmp(linkage, "_D", 2) == 0 ||
	       strncmp(linkage, "__Z", 3) == 0;
}

bool demangle(const char *linkage, struct text *ret)
{
	char *readable = NULL;

	if (!demangle_knows(linkage) || strnlen(linkage, MAX_MANGLED) == MAX_MANGLED)
		return false;
	if (linkage[1] == 'D')
		readable = dlang_demangle(linkage, 0);
	else if (linkage[1] == 'R' || strstr(linkage, "17h")) /* the hash that ends Rust's older names */
		readable = cplus_demangle(linkage, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	else
		readable = cplus_demangle_v3(linkage, DMGL_PARAMS | DMGL_ANSI);
	if (!readable)
		return false;
	text_add(ret, readable, strlen(readable));
	free(readable);
	return true;
}
