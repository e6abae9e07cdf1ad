/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void reserve(struct text *text, size_t more)
{
	size_t want = text->len + more + 1;

	if (want <= text->cap)
		return;
	text->cap = want > text->cap * 2 ? want : text->cap * 2;
	text->at = alloc_resize(text->at, text->cap, 1);
}

void text_add(struct text *text, const char *bytes, size_t len)
{
	reserve(text, len);
	if (len)
		memcpy(text->at + text->len, bytes, len);
	text->len += len;
	text->at[text->len] = '\0';
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len >= 0) {
		reserve(text, (size_t)len);
		vsnprintf(text->at + text->len, (size_t)len + 1, format, again);
		text->len += (size_t)len;
	}
	va_end(again);
}

void text_clear(struct text *text)
{
	text->len = 0;
	if (text->at)
		text->at[0] = '\0';
}

void text_done(struct text *text)
{
	free(text->at);
	*text = (struct text){ 0 };
}
