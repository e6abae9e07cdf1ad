/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nest: source loops out of machine loops.
 *
 * A loop belongs to the innermost procedure context that holds all of its code: a loop all of whose code
 * was inlined is itself inlined; one that merely contains inlined code, in its body or in its condition,
 * is not. (Guess-and-correct of Tallent et al. 2009, 3.3, comes to the same: a statement of a shallower
 * context moves the loop out to it.)
 *
 * Not all code in a loop says where the loop belongs: compilers share constants and move single
 * instructions about. What each atom speaks for is its `evidence`.
 *
 * The steps: tests of the loops; versions of one loop grouped by their test; evidence; contexts and
 * lines; groups that share a statement fused (normalize); statements put at their deepest place; ways out
 * put into the loop they are written in (exits).
 */
#pragma once

#include "structure/atoms.h"
#include "structure/scope.h"

/* Bytes of a statement that are no longer a stray: more than a shared constant takes. */
#define EVIDENCE_WEIGHTY 12

struct source_loop {
	uint32_t parent; /* source loop around it, LOOP_NONE; a parent precedes its children */
	uint32_t context;
	uint32_t file, line, end_line; /* 0 = no debug info */
	uint16_t flags;                /* enum scope_flag */
	bool has_own;                  /* some line of the function itself speaks for it */
	uint64_t vaddr;                /* header of its first piece */
};

/* What a loop has of the blocks of lines (struct line_block), as sets of hashes. */
struct line_marks {
	uint64_t lines, blocks[4];
};

/* What a loop does by itself, inner loops included: on which lines it calls or changes memory in one step. */
struct loop_deeds {
	uint32_t context, file, line; /* of its code; line 0 = none has one */
	bool has_others;              /* it has code on other lines, too */
	uint64_t acting;              /* hashes of the lines */
};

struct nest {
	const struct cfg *cfg;
	const struct loop_forest *machine;
	struct contexts *contexts;
	struct atoms *atoms;
	VEC(uint32_t) test;   /* per machine loop: the atom of its test, UINT32_MAX = none with a line */
	VEC(uint32_t) leader; /* per machine loop: union-find of those that are one source loop */
	VEC(uint16_t) flags;  /* per machine loop: enum scope_flag */
	VEC(struct line_marks) marks; /* per leader, inner loops included; empty if no line has such blocks */
	VEC(struct loop_deeds) deeds; /* per leader; empty where no two loops can be one */
	VEC(bool)
	is_way_in; /* per machine loop: control comes into it from outside the loop around it, too */
	VEC(uint32_t) source; /* per machine loop: index into loops */
	VEC(struct source_loop) loops;
	VEC(uint32_t) evidence; /* per atom: innermost source loop it speaks for, LOOP_NONE */
	VEC(bool) is_whole;     /* per atom: all of its statement is in that loop */
	VEC(bool) is_shared;    /* per statement: it stands in several source loops */
	VEC(uint32_t) loop_of;  /* per atom: source loop after normalization, LOOP_NONE */
};

/* Fills nest from its first four members. */
void nest_build(struct nest *nest);
void nest_done(struct nest *nest);

/* Is `loop` inside `outer` or the same? LOOP_NONE, the function's own level, holds every loop. */
bool nest_holds(const struct nest *nest, uint32_t outer, uint32_t loop);
/* The innermost loop that holds both. */
uint32_t nest_common(const struct nest *nest, uint32_t a, uint32_t b);
/* A statement in a loop, LOOP_NONE included: a key of a map. */
static inline uint64_t nest_key(const struct atom *atom, uint32_t loop)
{
	return (uint64_t)atom->statement << 32 | loop;
}
/* A line of some code as a context sees it: its own, or that of the call that brought it in; 0 if it is not
 * below it. */
struct native_line {
	uint32_t file, line;
};
struct native_line nest_native_line(const struct nest *nest, uint32_t context, const struct atom *atom);
/* Fills the marks and the deeds. */
void apart_find(struct nest *nest);
/* Are two machine loops on a line different blocks of it, or does one do there what the other does not? Then
 * they are no copies of one loop. */
bool apart_are(struct nest *nest, uint32_t a, uint32_t b);
/* A leader has what the other had, too. */
void apart_join(struct nest *nest, uint32_t leader, uint32_t other);
/* Two machine loops are one; the first leads. */
void nest_unite(struct nest *nest, uint32_t a, uint32_t b);
uint32_t nest_leader(struct nest *nest, uint32_t loop);
/* Does the atom's statement also stand in this machine loop, in no loop inside it? */
bool nest_stands_in(const struct nest *nest, const struct atom *atom, uint32_t loop);
/* Some machine loop of each source loop; to be freed. */
uint32_t *nest_members(const struct nest *nest);

/* Finds the tests; after the flags. */
void loop_test_find(struct nest *nest);
/* The loop that a jump from the block to the header of `loop` goes round: that one, one with the same header
 * around it, or LOOP_NONE. */
uint32_t loop_test_around(const struct loop_forest *machine, uint32_t loop, uint32_t block);
/* Does the head of a loop that has a test decide something that is written above it? Then it is a loop around
 * that test, and what the branch decides on is another. */
bool loop_test_is_below_head(const struct nest *nest, uint32_t loop);
/* Does nothing but a jump go back to the head of such a loop? Where that is written says less than a test. */
bool loop_test_is_jump(const struct nest *nest, uint32_t loop);
/* Finds what each atom speaks for. */
void evidence_find(struct nest *nest);
/* Makes one of a loop and the loop right inside it that are one in the source: unites leaders. True if any
 * were. */
bool normalize_fold(struct nest *nest);
/* Puts copies of an inner loop that stand outside of the outer one into it: unites leaders. True if any were.
 */
bool normalize_strays(struct nest *nest);
/* Fuses groups that share a statement: unites leaders. True if any were. */
bool normalize_fuse(struct nest *nest);
/* Fuses siblings that start on one line and whose source overlaps: unites leaders. True if any were. */
bool normalize_overlap(struct nest *nest);
/* Fuses siblings that hold the same inlined call: unites leaders. True if any were. */
bool normalize_calls(struct nest *nest);
/* Moves statements that also stand deeper in the same nest down to there: fills loop_of. */
void normalize_elide(struct nest *nest);
/* Moves ways out of a loop that are written inside it into it; after normalize_elide. */
void normalize_exits(struct nest *nest);
/* Marks loops of which a copy does several iterations at once. */
void unroll_find(struct nest *nest);
/* Finds the lines of the loops from the evidence. */
void place_loops(struct nest *nest);
