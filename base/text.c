/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void text_reserve(struct text *text, size_t more)
{
	size_t want = text->len + more + 1;

	if (want <= text->cap)
		return;
	text->cap = want > text->cap * 2 ? want : text->cap * 2;
	text->at = alloc_resize(text->at, text->cap, 1);
}

void text_add(struct text *text, const char *bytes, size_t len)
{
	text_reserve(text, len);
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
		text_reserve(text, (size_t)len);
		vsnprintf(text->at + text->len, (size_t)len + 1, format, again);
		text->len += (size_t)len;
	}
	va_end(again);
}

void text_copy(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = 0;
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

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t text_distance(const char *a, const char *b)
{
	size_t rows[3][TEXT_DISTANCE_MAX + 1];
	size_t len_a = strlen(a), len_b = strlen(b);

	if (len_a > TEXT_DISTANCE_MAX || len_b > TEXT_DISTANCE_MAX)
		return TEXT_DISTANCE_MAX;
	for (size_t j = 0; j <= len_b; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= len_a; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= len_b; j++) {
			row[j] =
				least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], above2[j - 2] + 1);
		}
	}
	return rows[len_a % 3][len_b];
}

const char *text_nearest(const char *wanted, const char *const *names, size_t n)
{
	size_t best = strlen(wanted) > 4 ? 3 : 2; /* the first distance that is not close any more */
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = text_distance(wanted, names[i]);
		if (d < best) {
			best = d;
			found = names[i];
		}
	}
	return found;
}

char *text_join(char *const *words)
{
	struct text text = { 0 };

	for (size_t i = 0; words[i]; i++)
		text_printf(&text, "%s%s", i ? " " : "", words[i]);
	return text.at;
}
