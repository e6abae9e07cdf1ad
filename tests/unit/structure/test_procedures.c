/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/procedures.h"

#include "tests/test.h"

static uint32_t line_of_procedure(const struct procedures *procedures, uint32_t file, uint32_t line)
{
	const struct procedure *found = procedures_at(procedures, file, line);

	return found ? found->line : 0;
}

TEST(procedures_end_where_the_next_begins)
{
	struct function_map maps[] = { { .name = 2, .decl_file = 1, .decl_line = 30 },
				       { .name = 3, .decl_file = 1, .decl_line = 10 },
				       { .name = 4, .decl_file = 9, .decl_line = 5 } };
	struct procedures procedures = { 0 };

	procedures_find_all(&procedures, maps, 3);
	CHECK_EQ(line_of_procedure(&procedures, 1, 9), 0);
	CHECK_EQ(line_of_procedure(&procedures, 1, 10), 10);
	CHECK_EQ(line_of_procedure(&procedures, 1, 29), 10);
	CHECK_EQ(line_of_procedure(&procedures, 1, 30), 30);
	CHECK_EQ(line_of_procedure(&procedures, 1, 4000), 30);
	CHECK_EQ(line_of_procedure(&procedures, 2, 12), 0);
	CHECK_EQ(line_of_procedure(&procedures, 9, 6), 5);
	procedures_done(&procedures);
}

TEST(procedures_contained_ones_end_before_their_host)
{
	/* 10: host up to 50; 20 to 25 a function in it; 60 the next, with one that only names its host. */
	struct function_map maps[] = {
		{ .name = 2, .decl_file = 1, .decl_line = 10, .end_line = 50 },
		{ .name = 3, .decl_file = 1, .decl_line = 20, .end_line = 25 },
		{ .name = 4, .decl_file = 1, .decl_line = 60, .end_line = 65 },
		{ .name = 5, .decl_file = 1, .decl_line = 70, .end_line = 75, .scope = 4 }
	};
	struct procedures procedures = { 0 };

	procedures_find_all(&procedures, maps, 4);
	CHECK_EQ(line_of_procedure(&procedures, 1, 22), 20);
	CHECK_EQ(line_of_procedure(&procedures, 1, 26), 10);
	CHECK_EQ(line_of_procedure(&procedures, 1, 55), 10);
	CHECK_EQ(line_of_procedure(&procedures, 1, 66), 60);
	CHECK_EQ(line_of_procedure(&procedures, 1, 72), 70);
	CHECK_EQ(procedures_at(&procedures, 1, 72)->host, 2);
	procedures_done(&procedures);
}
