/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_entry: results about an image's code in the format of the store, used in place.
 *
 * Tables give a recipe for address ranges. A fact is the answer to one query, a place everything the unwinder
 * needs for one address. Opening an entry checks only its header; the rest is checked on access. The bytes
 * are not trusted: invalid offsets and recipes are treated as absent.
 */
#pragma once

#include "base/bytes.h"
#include "base/vec.h"
#include "base/writer.h"
#include "recipes/table.h"

#define RECIPE_ENTRY_VERSION 8 /* of the following structs, and of everything in an entry */

/* The kind of query that a span answers: if no other witness covers the address (alone), more code is
 * searched. */
enum { SPANS_BESIDE, SPANS_ALONE, SPANS_N };

/* An entry: the header, then rules, whole recipes and their rules, the spans of either kind, rows, facts,
 * places. */
struct stored_recipes {
	uint32_t n_rules, n_wholes, n_whole_rules, n_spans[SPANS_N], n_rows, n_facts, n_places;
};

/* A recipe that no packed rule can hold. */
struct stored_recipe {
	uint8_t cfa_kind, cfa_reg, witness, trust, is_signal_frame, ra_is_signed, n_rules, reserved;
	int32_t cfa_offset, cfa_addend;
	uint32_t rules;
};

/* kind, a and b identify the question. */
struct stored_fact {
	uint64_t a, b, value;
	uint32_t kind;
	uint32_t recipe; /* RECIPE_NONE if that is the answer, or the question is a different one */
};

/* See struct place. */
struct stored_place {
	uint64_t vaddr /* first, for sorting */, function, call_target, wants;
	uint32_t recipe[2];
	uint8_t is_return; /* identifies the question, together with vaddr */
	uint8_t call, flags, reserved[5];
};

struct recipe_entry {
	struct stored_recipes header;
	const struct packed_rule *rules;
	const struct stored_recipe *wholes;
	const struct rule *whole_rules;
	struct table_view tables[SPANS_N]; /* sorted and without overlaps, if we wrote the entry */
	const struct stored_fact *facts;   /* sorted by question */
	const struct stored_place *places; /* likewise */
};

/* False if the bytes, which must be aligned to 8, are not an entry; ret is then an empty one. Borrows them.
 */
bool recipe_entry_open(struct bytes bytes, struct recipe_entry *ret);
/* NULL if there is no such answer. */
const struct stored_fact *recipe_entry_fact(const struct recipe_entry *entry, uint32_t kind, uint64_t a,
					    uint64_t b);
const struct stored_place *recipe_entry_place(const struct recipe_entry *entry, uint64_t vaddr,
					      bool is_return);
/* Adds a recipe of the entry to the pool; RECIPE_NONE if there is no such number. */
uint32_t recipe_entry_add(const struct recipe_entry *entry, uint32_t number, struct recipes *recipes);

/* What is added to an entry; numbers of recipes are those of a pool. None may have expressions. */
struct recipe_finds {
	VEC(struct table_span) spans[SPANS_N];
	struct table_view rows; /* of these spans */
	VEC(struct stored_fact) facts;
	VEC(struct stored_place) places;
};
/*
 * Combines the entry and the finds, which may be in any order and are sorted, into one entry. Finds whose
 * span overlaps another one, or whose question is already answered, are left out. False if nothing new
 * remains, or the entry would be too large.
 */
bool recipe_entry_pack(const struct recipe_entry *entry, struct recipe_finds *finds,
		       const struct recipes *recipes, struct writer *ret);
