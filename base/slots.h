/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots: an open-addressing hash of indices into an array that its owner keeps. The owner hashes and
 * compares; slots only hold numbers. Entries are numbered from 0 and never removed.
 *
 *     size_t slot = slots_find(&slots, hash, is_same, owner, key);
 *     if (slots.at[slot] == SLOT_FREE) {
 *             append the entry to the array;
 *             slots_put(&slots, slot, its index, entry_hash, owner);
 *     }
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOT_FREE UINT32_MAX

struct slots {
	uint32_t *at;
	size_t n; /* a power of two, at least twice as many as entries */
};

/* Whether the owner's entry is the one that is searched for. */
typedef bool slots_same(const void *owner, uint32_t index, const void *key);
/* The hash of the owner's entry. */
typedef uint64_t slots_hash(const void *owner, uint32_t index);

void slots_init(struct slots *slots);
void slots_done(struct slots *slots);
/* Of none that has entries: room for so many, so that it need not be doubled on the way. */
void slots_reserve(struct slots *slots, size_t n_entries);
/* Doubles the number of slots; all are free. */
void slots_double(struct slots *slots);

/*
 * The slot that holds the entry, or the free slot where it belongs. Inlined, so that comparing costs no call:
 * the calling context tree looks up every frame of every stack.
 */
__attribute__((always_inline)) static inline size_t
slots_find(const struct slots *slots, uint64_t hash, slots_same *same, const void *owner, const void *key)
{
	size_t mask = slots->n - 1, slot = (size_t)hash & mask;

	while (slots->at[slot] != SLOT_FREE && !same(owner, slots->at[slot], key))
		slot = (slot + 1) & mask;
	return slot;
}

/* Puts the owner's newest entry into the free slot that slots_find returned for it. */
__attribute__((always_inline)) static inline void slots_put(struct slots *slots, size_t slot, uint32_t index,
							    slots_hash *hash, const void *owner)
{
	slots->at[slot] = index;
	if (((size_t)index + 1) * 2 <= slots->n)
		return;
	slots_double(slots);
	/* All entries are different, so they need not be compared. */
	size_t mask = slots->n - 1;
	for (uint32_t i = 0; i <= index; i++) {
		slot = (size_t)hash(owner, i) & mask;
		while (slots->at[slot] != SLOT_FREE)
			slot = (slot + 1) & mask;
		slots->at[slot] = i;
	}
}
