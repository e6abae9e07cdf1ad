/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort: sorts many records by a number, in linear time.
 *
 * There are hundreds of thousands of symbols, function starts and relocations, which are sorted by address
 * before anything can be looked up; sorting by comparison took longer than reading them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Sorts records of `size` bytes by their first field, an aligned uint64_t. The sort is stable. */
void sort_by_u64(void *records, size_t n, size_t size);
/* The same, and records with the same number are sorted by the comparison function, as with qsort. */
void sort_by_u64_then(void *records, size_t n, size_t size, int (*compare)(const void *, const void *));
