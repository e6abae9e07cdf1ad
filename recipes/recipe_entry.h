/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_entry: what is known of an image's code as the store keeps it, used where it lies.
 *
 * A span is a function with its rows: they answer for every address of it at which they name a recipe. A fact
 * is the answer to one question, a place all that a walk asks of one address. Opening looks at the frame of
 * an entry and no further; the rest is looked at when it is asked for. The bytes are not trusted: what points
 * outside, or is no recipe, counts as not there.
 */
#pragma once

#include "base/bytes.h"
#include "base/vec.h"
#include "base/writer.h"
#include "recipes/recipe.h"

#define RECIPE_ENTRY_VERSION \
	2 /* of what follows, and of struct recipe_row and struct rule, which lie in an entry */

/* What a place is known for: alone, where no other witness speaks, more is looked for. */
enum { SPANS_BESIDE, SPANS_ALONE, SPANS_N };

/* An entry: the header, then recipes, rules, the spans of either kind, rows, facts, places. */
struct stored_recipes {
	uint32_t n_recipes, n_rules, n_spans[SPANS_N], n_rows, n_facts, n_places, reserved;
};

struct stored_recipe {
	uint8_t cfa_kind, cfa_reg, witness, trust, is_signal_frame, ra_is_signed, n_rules, reserved;
	int32_t cfa_offset, cfa_addend;
	uint32_t rules;
};

struct stored_span {
	uint64_t start;
	uint32_t size, first_row, n_rows, reserved;
};

/* kind, a and b are the question. */
struct stored_fact {
	uint64_t a, b, value;
	uint32_t kind;
	uint32_t recipe; /* RECIPE_NONE if that is the answer, or none is asked for */
};

/* As struct place. */
struct stored_place {
	uint64_t vaddr /* first, for sorting */, function, call_target, wants;
	uint32_t recipe[2];
	uint8_t is_return; /* with vaddr: the question */
	uint8_t call, flags, reserved[5];
};

struct recipe_entry {
	struct stored_recipes header;
	const struct stored_recipe *recipes;
	const struct rule *rules;
	const struct stored_span
		*spans[SPANS_N]; /* sorted by start, none overlapping, if the entry is ours */
	const struct recipe_row *rows;
	const struct stored_fact *facts;   /* sorted by question */
	const struct stored_place *places; /* too */
};

/* False if the bytes, aligned to 8, are no entry; then it is one without anything. Borrows them. */
bool recipe_entry_open(struct bytes bytes, struct recipe_entry *ret);
/* The number of the recipe at vaddr, and the start of its function; RECIPE_NONE if no span names one. */
uint32_t recipe_entry_at(const struct recipe_entry *entry, unsigned spans, uint64_t vaddr,
			 uint64_t *ret_function);
/* NULL if nobody has asked that. */
const struct stored_fact *recipe_entry_fact(const struct recipe_entry *entry, uint32_t kind, uint64_t a,
					    uint64_t b);
const struct stored_place *recipe_entry_place(const struct recipe_entry *entry, uint64_t vaddr,
					      bool is_return);
/* Adds a recipe of the entry; RECIPE_NONE if the number names none. */
uint32_t recipe_entry_add(const struct recipe_entry *entry, uint32_t number, struct recipes *recipes);

/* What joins an entry; numbers of recipes are those of a pool. */
struct recipe_span {
	uint64_t start; /* first, for sorting */
	uint32_t size, n_rows;
	const struct recipe_row *rows; /* of recipes without expressions */
};
struct recipe_finds {
	VEC(struct recipe_span) spans[SPANS_N];
	VEC(struct stored_fact) facts;
	VEC(struct stored_place) places; /* of recipes without expressions */
};
/*
 * The entry and the finds, in any order, as one entry; the finds are sorted. Where a span of theirs overlaps
 * another one, or a question is answered already, it is left out. False if that leaves nothing new, or the
 * entry would be too large.
 */
bool recipe_entry_pack(const struct recipe_entry *entry, struct recipe_finds *finds,
		       const struct recipes *recipes, struct writer *ret);
