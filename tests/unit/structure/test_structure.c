/* SPDX-License-Identifier: Apache-2.0 */
/* Static structure of functions built by hand. */
#include "tests/unit/structure/made.h"

TEST(structure_places_a_loop_from_its_test_to_its_last_line)
{
	struct made m;
	const struct shape shape[] = {
		{ 12, 2, 1, -1 }, { 21, 3, 2, -1 }, { 20, 2, 3, 1 }, { 30, 2, -1, -1 }
	};

	make(&m, shape, 4);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK_EQ(loop_at(&m, 0)->line, 20);
	CHECK_EQ(loop_at(&m, 0)->end_line, 21);
	CHECK_EQ(structure_find(&m.structure, START + SIZE), 1);
	CHECK_EQ(structure_find(&m.structure, START), 0);
	CHECK_EQ(structure_find(&m.structure, START + 3 * SIZE), 0);
	unmake(&m);
}

TEST(structure_starts_a_loop_tested_at_its_end_with_its_body)
{
	struct made m;
	const struct shape shape[] = {
		{ 12, 2, 1, -1 }, { 21, 3, 2, -1 }, { 25, 3, 3, -1 }, { 29, 2, 4, 1 }, { 30, 2, -1, -1 }
	};

	make(&m, shape, 5);
	build(&m, NULL);
	CHECK_EQ(loop_at(&m, 0)->line, 21);
	CHECK_EQ(loop_at(&m, 0)->end_line, 29);
	unmake(&m);
}

TEST(structure_merges_versions_of_a_loop_with_one_test)
{
	struct made m;
	const struct shape shape[] = { { 12, 2, 1, 3 },  { 21, 3, 2, -1 }, { 20, 2, 5, 1 },
				       { 21, 5, 4, -1 }, { 20, 2, 5, 3 },  { 30, 2, -1, -1 } };

	make(&m, shape, 6);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK_EQ(m.structure.pieces.n, 2);
	CHECK_EQ(m.structure.pieces.at[0].scope, m.structure.pieces.at[1].scope);
	unmake(&m);
}

TEST(structure_merges_copies_of_a_loop_whose_source_overlaps)
{
	struct made m; /* the vector body has only the line of i++ */
	const struct shape shape[] = {
		{ 12, 2, 1, -1 }, { 20, 41, 2, 1 }, { 21, 3, 3, -1 }, { 20, 2, 4, 2 }, { 30, 2, -1, -1 }
	};

	make(&m, shape, 5);
	m.blocks[1].n_packed = 2;
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK(loop_at(&m, 0)->flags & SCOPE_VECTOR);
	CHECK_EQ(m.structure.pieces.at[0].flags, SCOPE_VECTOR);
	CHECK_EQ(m.structure.pieces.at[1].flags, 0);
	unmake(&m);
}

/* A macro makes both loops on one line; the outer one is also entered at its end. */
TEST(structure_separates_a_loop_from_the_irreducible_region_around_it)
{
	struct made m;
	const struct shape shape[] = {
		{ 12, 2, 1, 3 }, { 20, 2, 2, -1 }, { 20, 5, 3, 2 }, { 20, 9, 4, 1 }, { 30, 2, -1, -1 }
	};

	make(&m, shape, 5);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 2);
	CHECK(loop_at(&m, 0)->flags & SCOPE_IRREDUCIBLE);
	CHECK_EQ(m.structure.scopes.at[loop_at(&m, 1)->parent].kind, SCOPE_LOOP);
	CHECK(!(loop_at(&m, 1)->flags & SCOPE_IRREDUCIBLE));
	unmake(&m);
}

/* `for (; test; step) { if (slow) before(); if (...) body(); }`: where it is not slow, a copy of the step and
 * the test goes back to the middle. */
TEST(structure_does_not_show_a_shortcut_as_a_loop)
{
	struct made m;
	const struct shape shape[] = { { 12, 2, 2, 1 }, { 21, 3, 2, -1 }, { 22, 3, 3, 5 },  { 20, 9, 4, 6 },
				       { 22, 3, 2, 3 }, { 20, 9, 1, 6 },  { 30, 2, -1, -1 } };

	make(&m, shape, 7);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK_EQ(loop_at(&m, 0)->line, 20);
	CHECK_EQ(loop_at(&m, 0)->end_line, 22);
	unmake(&m);
}

/* One loop with three entries. */
TEST(structure_shows_a_loop_with_several_entries_once)
{
	struct made m;
	const struct shape shape[] = { { 12, 2, 2, 1 }, { 13, 2, 3, 4 }, { 20, 2, 3, -1 }, { 20, 3, 4, 2 },
				       { 20, 5, 5, 2 }, { 21, 3, 6, 3 }, { 30, 2, -1, -1 } };

	make(&m, shape, 7);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK_EQ(loop_at(&m, 0)->line, 20);
	CHECK_EQ(loop_at(&m, 0)->end_line, 21);
	unmake(&m);
}

/* The inner loop of an iteration peeled off the outer one. */
TEST(structure_puts_a_peeled_copy_into_its_loop_nest)
{
	struct made m;
	const struct shape shape[] = { { 12, 2, 1, -1 }, { 20, 2, 2, -1 }, { 21, 3, 3, 2 },  { 20, 2, 4, -1 },
				       { 21, 3, 5, 4 },  { 20, 2, 6, 3 },  { 30, 2, -1, -1 } };

	make(&m, shape, 7);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 2);
	CHECK_EQ(m.structure.pieces.n, 3);
	CHECK_EQ(structure_find(&m.structure, START + 2 * SIZE),
		 structure_find(&m.structure, START + 4 * SIZE));
	CHECK_EQ(m.structure.scopes.at[loop_at(&m, 1)->parent].line, 20);
	unmake(&m);
}

/* After a trap there is only the jump back. */
TEST(structure_shows_a_loop_around_a_trap)
{
	struct made m;
	const struct shape shape[] = { { 12, 2, 1, -1 }, { 20, 2, -1, -1 }, { 20, 4, 1, -1 } };

	make(&m, shape, 3);
	m.blocks[1].end_kind = BLOCK_STOPS;
	m.blocks[2].end_kind = BLOCK_JUMPS;
	m.blocks[2].is_guess = true;
	m.blocks[2].n_insns = 1;
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK_EQ(loop_at(&m, 0)->line, 20);
	unmake(&m);
}

/* `while (a) { while (b) f(); g(); }`: both go back to the test of b, and the inner one does not ask for a.
 */
TEST(structure_distinguishes_two_loops_with_the_same_header)
{
	struct made m;
	const struct shape shape[] = { { 12, 2, 1, -1 }, { 25, 3, 2, 5 },   { 28, 4, 3, -1 },
				       { 24, 2, 4, 1 },  { 30, 2, -1, -1 }, { 26, 4, 1, -1 } };

	make(&m, shape, 6);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 2);
	CHECK_EQ(loop_at(&m, 0)->line, 24);
	CHECK_EQ(loop_at(&m, 0)->end_line, 28);
	CHECK_EQ(loop_at(&m, 1)->line, 25);
	CHECK_EQ(loop_at(&m, 1)->end_line, 26);
	CHECK(&m.structure.scopes.at[loop_at(&m, 1)->parent] == loop_at(&m, 0));
	CHECK(loop_at(&m, 0)->vaddr != loop_at(&m, 1)->vaddr);
	unmake(&m);
}

/* The same, but the test above is evaluated each time: `while (a) { if (b) { f(); continue; } g(); }`. */
TEST(structure_does_not_split_a_loop_with_a_continue)
{
	struct made m;
	const struct shape shape[] = { { 12, 2, 1, -1 }, { 24, 2, 2, 5 },  { 25, 3, 3, 4 },
				       { 28, 4, 1, -1 }, { 26, 4, 1, -1 }, { 30, 2, -1, -1 } };

	make(&m, shape, 6);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	unmake(&m);
}

/* `again: for (...) if (c) goto again;`: the way back to `again` does not pass the test of the `for`. */
TEST(structure_separates_a_loop_from_the_goto_that_restarts_it)
{
	struct made m;
	const struct shape shape[] = { { 12, 2, 1, -1 }, { 23, 9, 2, -1 },  { 21, 5, 3, -1 }, { 22, 6, 4, 5 },
				       { 20, 20, 6, 2 }, { 20, 20, 1, -1 }, { 30, 2, -1, -1 } };

	make(&m, shape, 7);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 2);
	CHECK_EQ(loop_at(&m, 0)->line, 20);
	CHECK_EQ(loop_at(&m, 1)->line, 20);
	CHECK(&m.structure.scopes.at[loop_at(&m, 1)->parent] == loop_at(&m, 0));
	unmake(&m);
}

/* The body does twice what the remainder does; a version that does the same once is not unrolled. */
TEST(structure_marks_a_loop_that_was_unrolled)
{
	struct made m;
	const struct shape shape[] = {
		{ 12, 2, 1, -1 }, { 20, 2, 2, 1 }, { 20, 2, 3, 2 }, { 20, 2, 4, 3 }, { 30, 2, -1, -1 }
	};
	struct cfg_access accesses[] = {
		{ START + SIZE, 1 }, { START + SIZE + 8, 1 }, { START + 2 * SIZE, 1 }, { START + 3 * SIZE, 1 }
	};

	make(&m, shape, 5);
	m.cfg.accesses = accesses;
	m.cfg.n_accesses = 4;
	m.blocks[1].n_accesses = 2;
	m.blocks[2].first_access = 2;
	m.blocks[2].n_accesses = m.blocks[3].n_accesses = 1;
	m.blocks[3].first_access = 3;
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK(loop_at(&m, 0)->flags & SCOPE_UNROLLED);
	CHECK_EQ(m.structure.pieces.n, 3);
	CHECK_EQ(m.structure.pieces.at[0].flags, SCOPE_UNROLLED);
	CHECK_EQ(m.structure.pieces.at[1].flags, 0);
	CHECK_EQ(m.structure.pieces.at[2].flags, 0);
	unmake(&m);
}

TEST(structure_distinguishes_two_loops_on_one_line_by_column)
{
	struct made m;
	const struct shape shape[] = {
		{ 12, 2, 1, -1 }, { 20, 2, 2, 1 }, { 20, 40, 3, 2 }, { 30, 2, -1, -1 }
	};

	make(&m, shape, 4);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 2);
	unmake(&m);
}

TEST(structure_includes_an_exit_within_the_source_of_the_loop)
{
	struct made m; /* block 3: a return between the lines of the loop */
	const struct shape shape[] = { { 12, 2, 1, -1 },  { 21, 3, 2, 3 },   { 20, 2, 4, 5 },
				       { 22, 4, -1, -1 }, { 30, 2, -1, -1 }, { 25, 2, 1, -1 } };

	make(&m, shape, 6);
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK_EQ(loop_at(&m, 0)->end_line, 25);
	CHECK_EQ(structure_find(&m.structure, START + 3 * SIZE), structure_find(&m.structure, START + SIZE));
	CHECK_EQ(structure_find(&m.structure, START + 4 * SIZE), 0);
	unmake(&m);
}

TEST(structure_puts_a_loop_into_the_inlined_call_that_contains_all_of_it)
{
	struct made m;
	const struct shape shape[] = {
		{ 40, 2, 1, -1 }, { 21, 3, 2, -1 }, { 20, 2, 3, 1 }, { 44, 2, -1, -1 }
	};

	make(&m, shape, 4);
	inline_blocks(&m, "g", 18, 42, 1, 2);
	build(&m, NULL);
	const struct static_scope *around = &m.structure.scopes.at[loop_at(&m, 0)->parent];
	CHECK_EQ(around->kind, SCOPE_INLINE);
	CHECK_STR(intern_text(&m.strings, around->name), "g");
	CHECK_EQ(around->call_line, 42);
	CHECK_EQ(loop_at(&m, 0)->line, 20);
	unmake(&m);
}

TEST(structure_ignores_stray_lines_left_by_an_inlined_call)
{
	static const struct shape shape[] = {
		{ 20, 1, 1, -1 }, { 5, 1, 2, -1 }, { 5, 1, 3, -1 }, { 30, 1, 2, 4 }, { 40, 1, -1, -1 },
	};
	struct made m;

	make(&m, shape, 5);
	inline_blocks(&m, "g", 3, 25, 1, 1);
	build(&m, &(struct structure_options){ .statements = true });
	CHECK_EQ(loop_at(&m, 0)->line, 30);
	for (size_t i = 0; i < m.structure.statements.n; i++)
		CHECK(m.structure.statements.at[i].line != 5 ||
		      m.structure.statements.at[i].vaddr < START + 2 * SIZE);
	unmake(&m);
}

TEST(structure_ignores_padding)
{
	static const struct shape shape[] = {
		{ 15, 1, 1, -1 }, { 15, 1, 2, -1 }, { 20, 1, 1, 3 }, { 30, 1, -1, -1 }
	};
	struct made m;

	make(&m, shape, 4);
	m.blocks[1].n_padding = 12;
	build(&m, NULL);
	CHECK_EQ(loop_at(&m, 0)->line, 20);
	unmake(&m);
}

TEST(structure_does_not_move_a_loop_whose_condition_is_inlined)
{
	struct made m;
	const struct shape shape[] = {
		{ 40, 2, 1, -1 }, { 43, 3, 2, -1 }, { 20, 2, 3, 1 }, { 50, 2, -1, -1 }
	};

	make(&m, shape, 4);
	inline_blocks(&m, "more", 18, 42, 2, 2);
	build(&m, NULL);
	CHECK_EQ(loop_at(&m, 0)->parent, 0);
	CHECK_EQ(loop_at(&m, 0)->line, 42);
	CHECK_EQ(loop_at(&m, 0)->end_line, 43);
	uint32_t condition = structure_find(&m.structure, START + 2 * SIZE);
	CHECK_EQ(m.structure.scopes.at[condition].kind, SCOPE_INLINE);
	unmake(&m);
}

TEST(structure_without_lines_identifies_loops_by_address)
{
	struct made m;
	const struct shape shape[] = { { 0, 0, 1, -1 }, { 0, 0, 2, 1 }, { 0, 0, 3, 1 }, { 0, 0, -1, -1 } };

	make(&m, shape, 4);
	m.map.decl_file = m.map.decl_line = 0;
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1); /* one header, two back edges */
	CHECK_EQ(loop_at(&m, 0)->line, 0);
	CHECK_EQ(loop_at(&m, 0)->vaddr, START + SIZE);
	CHECK_EQ(loop_at(&m, 0)->flags & SCOPE_COMPILER_MADE, 0);
	unmake(&m);
}

TEST(structure_marks_a_loop_without_lines_between_code_with_lines)
{
	struct made m;
	const struct shape shape[] = {
		{ 12, 2, 1, -1 }, { 14, 2, 2, -1 }, { 0, 0, 3, 2 }, { 30, 2, -1, -1 }
	};

	make(&m, shape, 4);
	vec_push(&m.map.lines, (struct line_row){ 0 });
	m.map.lines.at[3] = m.map.lines.at[2];
	m.map.lines.at[2] = (struct line_row){ 2 * SIZE, 0, 0, 0, 0, 0 };
	build(&m, NULL);
	CHECK_EQ(n_loops(&m), 1);
	CHECK(loop_at(&m, 0)->flags & SCOPE_COMPILER_MADE);
	unmake(&m);
}

TEST(structure_names_alien_code_by_the_procedure_it_is_written_in)
{
	struct made m;
	const struct shape shape[] = {
		{ 40, 2, 1, -1 }, { 21, 3, 2, -1 }, { 20, 2, 3, 1 }, { 44, 2, -1, -1 }
	};

	make(&m, shape, 4);
	m.map.decl_line = 39;
	m.map.source = MAP_FROM_FLAT_DWARF;
	struct function_map maps[] = { m.map,
				       { .vaddr = 0x2000,
					 .size = 4,
					 .name = intern_add(&m.strings, "g"),
					 .decl_file = m.file,
					 .decl_line = 18,
					 .end_line = 22 } };
	struct procedures procedures = { 0 };
	procedures_find_all(&procedures, maps, 2);
	struct structure_options options = { .procedures = &procedures };
	build(&m, &options);
	const struct static_scope *around = &m.structure.scopes.at[loop_at(&m, 0)->parent];
	CHECK_STR(intern_text(&m.strings, around->name), "g");
	CHECK(around->flags & SCOPE_ALIEN);
	procedures_done(&procedures);
	unmake(&m);
}
