/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/pc_table.h"

#include "tests/test.h"

TEST(pc_table_distinguishes_addresses_returns_and_processes)
{
	struct pc_table table = { 0 };
	struct pc_entry *entry = pc_table_entry(&table, 1, 0x1000, false);

	CHECK(pc_table_entry(&table, 1, 0x1000, true) != entry);
	CHECK(pc_table_entry(&table, 2, 0x1000, false) != entry);
	CHECK(pc_table_entry(&table, 1, 0x1004, false) != entry);
	CHECK(pc_table_entry(&table, 1, 0x1000, false) == entry);
	CHECK_EQ(table.n, 4);
	pc_table_done(&table);
}

TEST(entries_dropped_from_a_full_pc_table_are_invalidated)
{
	struct pc_table table = { 0 };
	struct pc_entry *last = NULL;

	for (uint64_t pc = 0; pc <= PC_TABLE_MAX; pc++) {
		last = pc_table_entry(&table, 1, pc * 4, true);
		last->generation = 5;
	}
	pc_table_limit(&table);
	CHECK_EQ(table.n, 0);
	CHECK_EQ(last->generation, 0);
	CHECK_EQ(pc_table_entry(&table, 1, 4, true)->generation, 0);
	CHECK(pc_table_entry(&table, 1, 4, true)->caller == NULL);
	pc_table_done(&table);
}
