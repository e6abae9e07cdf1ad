/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/pc_table.h"

#include <string.h>

#define BLOCK 256 /* entries */
#define FIRST_SLOTS 1024
#define NUMBER_BITS 20 /* far more than PC_TABLE_MAX and what the deepest stack can add */
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)

static struct pc_entry *pc_table_entry_at(const struct pc_table *table, size_t number)
{
	return &table->blocks.at[number / BLOCK][number % BLOCK];
}

static uint64_t pc_table_key_hash(pid_t pid, uint64_t pc, bool is_return)
{
	return hash_pair_secret(pc * 2 + is_return, (uint64_t)pid);
}

static uint32_t pc_table_tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32) & ~NUMBER_MASK;
}

static void pc_table_put(struct pc_table *table, uint64_t hash, size_t number)
{
	size_t mask = table->n_slots - 1, at = hash & mask;

	while (table->slots[at])
		at = (at + 1) & mask;
	table->slots[at] = pc_table_tag_of(hash) | ((uint32_t)number + 1);
}

static void pc_table_grow(struct pc_table *table)
{
	table->n_slots = table->n_slots ? table->n_slots * 2 : FIRST_SLOTS;
	free(table->slots);
	table->slots = alloc_zero(table->n_slots, sizeof(*table->slots));
	for (size_t i = 0; i < table->n; i++) {
		const struct pc_entry *entry = pc_table_entry_at(table, i);
		pc_table_put(table, pc_table_key_hash(entry->pid, entry->pc, entry->is_return), i);
	}
}

static struct pc_entry *pc_table_add(struct pc_table *table, uint64_t hash)
{
	if (table->n == table->blocks.n * BLOCK)
		vec_push(&table->blocks, alloc_lines(BLOCK, sizeof(struct pc_entry)));
	pc_table_put(table, hash, table->n);
	return pc_table_entry_at(table, table->n++);
}

struct pc_entry *pc_table_entry(struct pc_table *table, pid_t pid, uint64_t pc, bool is_return)
{
	uint64_t hash = pc_table_key_hash(pid, pc, is_return);

	if (table->n * 2 >= table->n_slots)
		pc_table_grow(table);
	size_t mask = table->n_slots - 1;
	for (size_t at = hash & mask; table->slots[at]; at = (at + 1) & mask) {
		if ((table->slots[at] & ~NUMBER_MASK) != pc_table_tag_of(hash))
			continue;
		struct pc_entry *entry = pc_table_entry_at(table, (table->slots[at] & NUMBER_MASK) - 1);
		if (entry->pc == pc && entry->is_return == is_return && entry->pid == pid)
			return entry;
	}
	struct pc_entry *entry = pc_table_add(table, hash);
	*entry = (struct pc_entry){ .pid = pid, .pc = pc, .is_return = is_return };
	return entry;
}

void pc_table_fetch_slot(const struct pc_table *table, pid_t pid, uint64_t pc)
{
	if (table->n_slots)
		__builtin_prefetch(&table->slots[pc_table_key_hash(pid, pc, false) & (table->n_slots - 1)]);
}

/* Only the first slot is checked: it is nearly always the right one. */
void pc_table_fetch_entry(const struct pc_table *table, pid_t pid, uint64_t pc)
{
	uint32_t slot =
		table->n_slots ? table->slots[pc_table_key_hash(pid, pc, false) & (table->n_slots - 1)] : 0;

	if (!slot)
		return;
	const struct pc_entry *entry = pc_table_entry_at(table, (slot & NUMBER_MASK) - 1);
	__builtin_prefetch(entry);
	__builtin_prefetch(&entry->pid);
}

void pc_table_limit(struct pc_table *table)
{
	if (table->n > (table->max ? table->max : PC_TABLE_MAX))
		pc_table_clear(table);
}

void pc_table_clear(struct pc_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		pc_table_entry_at(table, i)->generation = 0; /* others may still point to it */
	table->n = 0;
	for (size_t i = 0; i < table->n_slots; i++)
		table->slots[i] = 0;
}

void pc_table_done(struct pc_table *table)
{
	for (size_t i = 0; i < table->blocks.n; i++)
		free(table->blocks.at[i]);
	vec_done(&table->blocks);
	free(table->slots);
}
