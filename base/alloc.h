/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc: memory allocation that never fails.
 *
 * If a small allocation fails, the process ends with a message: no caller could do better. Sizes that come
 * from foreign input must be bounded by their parser first.
 */
#pragma once

#include <stddef.h>

void *alloc_zero(size_t count, size_t size);
/* The same, aligned to a cache line. */
void *alloc_lines(size_t count, size_t size);
/* Checks memory that a library has allocated: NULL also ends the process. */
void *alloc_checked(void *pointer);
/* Grows or shrinks; the old pointer is invalid afterwards. */
void *alloc_resize(void *pointer, size_t count, size_t size);
char *alloc_text(const char *text);
char *alloc_text_n(const char *text, size_t len);
__attribute__((format(printf, 1, 2))) char *alloc_printf(const char *format, ...);
