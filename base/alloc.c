/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_LINE 64

void *alloc_checked(void *pointer)
{
	if (pointer)
		return pointer;
	fputs("cpprof: out of memory\n", stderr);
	_exit(1); /* the machine's fault, not ours: no core dump */
}

void *alloc_zero(size_t count, size_t size)
{
	return alloc_checked(calloc(count ? count : 1, size ? size : 1));
}

void *alloc_lines(size_t count, size_t size)
{
	size_t len = (count * size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;

	if (size && count > SIZE_MAX / 2 / size)
		return alloc_checked(NULL);
	return memset(alloc_checked(aligned_alloc(CACHE_LINE, len ? len : CACHE_LINE)), 0, len);
}

void *alloc_resize(void *pointer, size_t count, size_t size)
{
	return alloc_checked(reallocarray(pointer, count ? count : 1, size ? size : 1));
}

char *alloc_text_n(const char *text, size_t len)
{
	char *copy = alloc_zero(len + 1, 1);

	memcpy(copy, text, len);
	return copy;
}

char *alloc_text(const char *text)
{
	return alloc_text_n(text, strlen(text));
}

char *alloc_printf(const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	int len = vasprintf(&text, format, args);
	va_end(args);
	return alloc_checked(len < 0 ? NULL : text);
}
