/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort: a radix sort of (key, position) pairs, from the lowest byte in which keys differ to the highest; each
 * record is then moved once.
 */
#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct item {
	uint64_t key;
	size_t place;
};

static uint64_t key_at(const uint8_t *records, size_t i, size_t size)
{
	uint64_t key;

	memcpy(&key, records + i * size, sizeof(key));
	return key;
}

/* One pass: stable, by the byte at shift. */
static void distribute(const struct item *from, struct item *to, size_t n, unsigned shift)
{
	size_t start[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		start[from[i].key >> shift & 0xff]++;
	for (size_t byte = 0; byte < 256; byte++) {
		size_t count = start[byte];
		start[byte] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[start[from[i].key >> shift & 0xff]++] = from[i];
}

static bool is_sorted(const uint8_t *records, size_t n, size_t size)
{
	for (size_t i = 1; i < n; i++)
		if (key_at(records, i - 1, size) > key_at(records, i, size))
			return false;
	return true;
}

/* Returns the bits in which keys differ. */
static uint64_t collect(const uint8_t *records, size_t n, size_t size, struct item *items)
{
	uint64_t differ = 0;

	for (size_t i = 0; i < n; i++) {
		items[i] = (struct item){ key_at(records, i, size), i };
		differ |= items[i].key ^ items[0].key;
	}
	return differ;
}

static void move(uint8_t *records, size_t n, size_t size, const struct item *items)
{
	uint8_t *sorted = alloc_resize(NULL, n, size);

	for (size_t i = 0; i < n; i++)
		memcpy(sorted + i * size, records + items[i].place * size, size);
	memcpy(records, sorted, n * size);
	free(sorted);
}

void sort_by_u64(void *records, size_t n, size_t size)
{
	if (is_sorted(records, n, size))
		return;
	struct item *items = alloc_resize(NULL, 2 * n, sizeof(*items)), *from = items, *to = items + n;
	uint64_t differ = collect(records, n, size, items);

	for (unsigned shift = 0; shift < 64; shift += 8) {
		if (!(differ >> shift & 0xff))
			continue;
		distribute(from, to, n, shift);
		struct item *done = to;
		to = from;
		from = done;
	}
	move(records, n, size, from);
	free(items);
}

/* Most runs of equal keys have two records. */
static void sort_run(uint8_t *at, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (n == 2 && compare(at, at + size) <= 0)
		return;
	if (n > 1)
		qsort(at, n, size, compare);
}

void sort_by_u64_then(void *records, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	uint8_t *at = records;
	size_t first = 0;

	sort_by_u64(records, n, size);
	for (size_t i = 1; i <= n; i++) {
		if (i < n && key_at(at, i, size) == key_at(at, first, size))
			continue;
		sort_run(at + first * size, i - first, size, compare);
		first = i;
	}
}
