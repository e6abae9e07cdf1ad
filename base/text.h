/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text: a growing string. `at` is always zero-terminated once something was added.
 */
#pragma once

#include <stddef.h>

struct text {
	char *at;
	size_t len, cap;
};

__attribute__((format(printf, 2, 3))) void text_printf(struct text *text, const char *format, ...);
void text_add(struct text *text, const char *bytes, size_t len);
void text_clear(struct text *text);
void text_done(struct text *text);

#define TEXT_DISTANCE_MAX 64 /* longer names are compared up to here */
/* The edit distance of two names: letters to insert, delete, change, or swap with a neighbour. */
size_t text_distance(const char *a, const char *b);
/* The name that is most similar to `wanted`, or NULL if none is close. */
const char *text_nearest(const char *wanted, const char *const *names, size_t n);
