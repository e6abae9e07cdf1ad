/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that share a line but are not copies of each other; lines that belong to no loop. */
#include "tests/unit/structure/made.h"

/* A loop with a body, followed by one that is entirely on the line of its header, as generated for the
 * reduction clause of a pragma. */
static const struct shape head_and_line[] = {
	{ 12, 2, 1, -1 }, { 20, 3, 2, -1 }, { 18, 2, 3, 1 }, { 18, 2, 4, 3 }, { 30, 2, -1, -1 }
};

TEST(apart_a_loop_with_only_the_line_of_a_header_is_a_copy)
{
	struct made m;

	make(&m, head_and_line, 5);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK_EQ(m.structure.pieces.n, 2);
	unmake(&m);
}

TEST(apart_a_loop_that_calls_where_the_other_does_not_is_no_copy)
{
	struct made m;

	make(&m, head_and_line, 5);
	call_from(&m, 1); /* on another line */
	call_from(&m, 3);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 2);
	CHECK_EQ(loop_at(&m, 0)->end_line, 20);
	CHECK_EQ(loop_at(&m, 1)->line, 18);
	CHECK_EQ(loop_at(&m, 1)->end_line, 18);
	unmake(&m);
}

TEST(apart_a_retry_loop_around_an_atomic_is_no_copy)
{
	struct made m;

	make(&m, head_and_line, 5);
	m.blocks[3].atomic = m.blocks[3].start + 4;
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 2);
	unmake(&m);
}

/* `for (...; p = next(p)) if (flag) body();`, once with the body and once without. */
TEST(apart_copies_call_on_the_same_line)
{
	struct made m;

	make(&m, head_and_line, 5);
	call_from(&m, 2);
	call_from(&m, 3);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	unmake(&m);
}

/* GCC has no line for the test of a loop that OpenMP shares out, and leaves it that of the region. */
TEST(place_a_test_on_the_first_line_of_a_procedure_is_no_header)
{
	struct made m;
	const struct shape shape[] = {
		{ 10, 5, 1, -1 }, { 22, 3, 2, -1 }, { 23, 3, 3, -1 }, { 10, 5, 4, 1 }, { 30, 2, -1, -1 }
	};

	make(&m, shape, 5);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK_EQ(loop_at(&m, 0)->line, 22);
	CHECK_EQ(loop_at(&m, 0)->end_line, 23);
	unmake(&m);
}
