/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nest: derives source loops from machine loops.
 *
 * A loop belongs to the innermost procedure context that contains all of its code: a loop all of whose code
 * was inlined is itself inlined; one that merely contains inlined code, in its body or in its condition, is
 * not. (This is equivalent to guess-and-correct of Tallent et al. 2009, 3.3: a statement of a shallower
 * context moves the loop out to that context.)
 *
 * Not all code in a loop says where the loop belongs, because compilers share constants and move single
 * instructions. The loop that an atom is evidence for is its `evidence`.
 *
 * The steps: find the tests of the loops; group versions of one loop by their test; find evidence; find
 * contexts and lines; fuse groups that share a statement (normalize); move statements to their deepest
 * position; move exit code into the loop that it is written in (exits).
 */
#pragma once

#include "structure/atoms.h"
#include "structure/scope.h"

/* A statement of at least this many bytes is not there by chance: a shared constant takes fewer. */
#define EVIDENCE_WEIGHTY 12

struct source_loop {
	uint32_t parent; /* source loop around it, LOOP_NONE; a parent precedes its children */
	uint32_t context;
	uint32_t file, line, end_line; /* 0 = no debug info */
	uint16_t flags;                /* enum scope_flag */
	bool has_own;                  /* some line of the function itself is evidence for it */
	uint64_t vaddr;                /* header of its first piece */
};

/* The line blocks (struct line_block) that a loop contains, as sets of hashes. */
struct line_marks {
	uint64_t lines, blocks[4];
};

/* What a loop does, inner loops included: the lines on which it calls functions or modifies memory in one
 * instruction. */
struct loop_deeds {
	uint32_t context, file, line; /* of its code; line 0 = none has one */
	bool has_others;              /* it also has code on other lines */
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
	VEC(struct line_marks)
	marks;                        /* per leader, with inner loops; empty if there are no line blocks */
	VEC(struct loop_deeds) deeds; /* per leader; empty if no two loops can be the same */
	VEC(bool)
	is_way_in;            /* per machine loop: it is also entered from outside the loop around it */
	VEC(uint32_t) source; /* per machine loop: index into loops */
	VEC(struct source_loop) loops;
	VEC(uint32_t) evidence; /* per atom: innermost source loop that it is evidence for, or LOOP_NONE */
	VEC(bool) is_whole;     /* per atom: its whole statement is in that loop */
	VEC(bool) is_sure;      /* per atom: it is certain that it is evidence for that loop */
	VEC(bool) is_shared;    /* per statement: it occurs in several source loops */
	VEC(uint32_t) loop_of;  /* per atom: source loop after normalization, or LOOP_NONE */
};

/* Fills nest; its first four members must be set. */
void nest_build(struct nest *nest);
void nest_done(struct nest *nest);

/* Is `loop` inside `outer`, or equal to it? LOOP_NONE, the function itself, contains every loop. */
bool nest_holds(const struct nest *nest, uint32_t outer, uint32_t loop);
/* The innermost loop that contains both. */
uint32_t nest_common(const struct nest *nest, uint32_t a, uint32_t b);
/* A key for maps: a statement in a loop, or in LOOP_NONE. */
static inline uint64_t nest_key(const struct atom *atom, uint32_t loop)
{
	return (uint64_t)atom->statement << 32 | loop;
}
/* The line of code as seen from a context: the code's own line, or that of the inlined call that contains it;
 * 0 if the code is not in the context. */
struct native_line {
	uint32_t file, line;
};
struct native_line nest_native_line(const struct nest *nest, uint32_t context, const struct atom *atom);
/* Fills the marks and the deeds. */
void apart_find(struct nest *nest);
/* Are two machine loops on a line different blocks of that line, or does one do something there that the
 * other does not? Then they are not copies of one loop. */
bool apart_are(struct nest *nest, uint32_t a, uint32_t b);
/* Adds the marks and deeds of `other` to those of its new leader. */
void apart_join(struct nest *nest, uint32_t leader, uint32_t other);
/* Records that two machine loops are one source loop; the first becomes the leader. */
void nest_unite(struct nest *nest, uint32_t a, uint32_t b);
uint32_t nest_leader(struct nest *nest, uint32_t loop);
/* Does the atom's statement also occur in this machine loop, but not in a loop inside it? */
bool nest_stands_in(const struct nest *nest, const struct atom *atom, uint32_t loop);
/* One machine loop of each source loop; to be freed. */
uint32_t *nest_members(const struct nest *nest);

/* Finds the tests of the loops; the flags must be set. */
void loop_test_find(struct nest *nest);
/* The loop whose back edge is a jump from the block to the header of `loop`: that loop, one around it with
 * the same header, or LOOP_NONE. */
uint32_t loop_test_around(const struct loop_forest *machine, uint32_t loop, uint32_t block);
/* Does the header of a loop that has a test branch on something that is written above that test? Then the
 * branch is the test of an outer loop, and the two are different loops. */
bool loop_test_is_below_head(const struct nest *nest, uint32_t loop);
/* Is the test of such a loop only an unconditional jump back? Its source line says less than that of a
 * condition. */
bool loop_test_is_jump(const struct nest *nest, uint32_t loop);
/* Finds the loop that each atom is evidence for. */
void evidence_find(struct nest *nest);
/* Merges a loop with the loop directly inside it if they are one loop in the source: unites leaders. True if
 * any were merged. */
bool normalize_fold(struct nest *nest);
/* Moves copies of an inner loop that are outside the outer loop into it: unites leaders. True if any were
 * moved. */
bool normalize_strays(struct nest *nest);
/* Fuses groups that share a statement: unites leaders. True if any were fused. */
bool normalize_fuse(struct nest *nest);
/* Fuses siblings that start on the same line and whose source overlaps: unites leaders. True if any were
 * fused. */
bool normalize_overlap(struct nest *nest);
/* Fuses siblings that contain the same inlined call: unites leaders. True if any were fused. */
bool normalize_calls(struct nest *nest);
/* Moves statements that also occur deeper in the same nest down to that position: fills loop_of. */
void normalize_elide(struct nest *nest);
/* Moves exit code that is written inside a loop into that loop; after normalize_elide. */
void normalize_exits(struct nest *nest);
/* Marks loops with a copy that executes several iterations at once. */
void unroll_find(struct nest *nest);
/* Finds the lines of the loops from the evidence. */
void place_loops(struct nest *nest);
