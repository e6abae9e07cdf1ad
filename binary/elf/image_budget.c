/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_budget: how much memory may be used for a file.
 */
#include <unistd.h>

#include "binary/elf/image_private.h"

/* Compressed debug information expands to three to six times its size; symbols take three times theirs. */
#define PER_BYTE 16
#define FOR_ALL (256ull << 20)
#define SCANS_MOST (2ull << 30) /* about a second */

void image_allow(struct image *image, uint64_t file_bytes)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t allowed = file_bytes < UINT32_MAX * 4ull ? FOR_ALL + file_bytes * PER_BYTE : half;

	atomic_init(&image->private->left, allowed < half ? allowed : half);
	atomic_init(&image->private->scans_left, SCANS_MOST);
}

bool image_take(struct image *image, uint64_t bytes)
{
	atomic_uint_least64_t *left = &image->private->left;
	uint64_t now = atomic_load_explicit(left, memory_order_relaxed);

	do {
		if (now < bytes) {
			atomic_store(&image->private->is_too_much, true);
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(left, &now, now - bytes, memory_order_relaxed,
							memory_order_relaxed));
	return true;
}

void image_give_back(struct image *image, uint64_t bytes)
{
	atomic_fetch_add_explicit(&image->private->left, bytes, memory_order_relaxed);
}

bool image_is_too_much(const struct image *image)
{
	return atomic_load(&image->private->is_too_much);
}

bool image_scan(const struct image *image, uint64_t bytes)
{
	atomic_uint_least64_t *left = &image->private->scans_left;
	uint64_t now = atomic_load_explicit(left, memory_order_relaxed);

	do {
		if (now < bytes) { /* and no smaller one from now on: answers must not depend on the table */
			atomic_store(left, 0);
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(left, &now, now - bytes, memory_order_relaxed,
							memory_order_relaxed));
	return true;
}

bool image_may_scan(const struct image *image)
{
	return atomic_load(&image->private->scans_left) > 0;
}
