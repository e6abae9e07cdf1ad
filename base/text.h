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

/* Copies a string, or as much of it as fits, and terminates it. size is at least 1. Hundreds of processes may
 * start in a second: a format would take longer. */
void text_copy(char *to, size_t size, const char *from);

#define TEXT_DISTANCE_MAX 64 /* longer names are compared up to here */
/* The edit distance of two names: letters to insert, delete, change, or swap with a neighbour. */
size_t text_distance(const char *a, const char *b);
/* The name that is most similar to `wanted`, or NULL if none is close. */
const char *text_nearest(const char *wanted, const char *const *names, size_t n);
/* The words with spaces between them; NULL ends them. NULL if there are none. */
char *text_join(char *const *words);
