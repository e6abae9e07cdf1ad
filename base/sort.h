/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort: many records by a number, in time proportional to how many they are.
 *
 * Symbols, starts of functions and relocations come by the hundred thousand, and are sorted by address before
 * anything can be looked up; comparing them in pairs took longer than reading them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Records of `size` bytes, each beginning with an aligned uint64_t, by that. Those of one number stay in the
 * order they are in. */
void sort_by_u64(void *records, size_t n, size_t size);
/* The same, and those of one number as qsort would put them. */
void sort_by_u64_then(void *records, size_t n, size_t size, int (*compare)(const void *, const void *));
