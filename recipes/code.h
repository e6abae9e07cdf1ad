/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code: one image's code, and what was read and computed so far. Everything is read lazily: if the store
 * answers all queries, neither unwind entries nor symbols are read.
 */
#pragma once

#include "binary/cfi/frames.h"
#include "recipes/goroutine.h"
#include "recipes/kept.h"

struct code {
	struct image *image;
	const struct isa *isa;
	struct recipes *recipes; /* the pool, borrowed */
	uint64_t *n_compiled;    /* borrowed: unwind entries of all images compiled so far */
	struct kept kept;
	bool is_busy; /* something was computed recently */
	/* Read or created when needed: */
	struct frames *frames;     /* NULL before */
	struct analysis *analysis; /* likewise */
	bool has_entries;          /* the following members are set */
	struct go_stacks *go;      /* NULL except in Go programs */
	uint64_t entry_end;        /* end of the addresses that may be the entry point */
	uint32_t *by_frame;        /* span of the table + 1, per unwind entry; 0 = not compiled yet */
	struct recipe_table table; /* rows of unwind entries */
	uint64_t n_long, taken;    /* bytes of long unwind programs; of the image's memory budget */
	uint64_t n_decodable;      /* bytes of entries that may still be decoded: see MAX_DECODED */
	bool is_full;              /* the budget is exhausted */
};

/* The image must be of isa's machine. All are borrowed; store may be NULL. */
struct code *code_new(struct image *image, const struct isa *isa, struct recipes *recipes,
		      uint64_t *n_compiled, struct store *store);
void code_free(struct code *code);

/* The unwind entries of the image; its analysis. Created on first use. */
const struct frames *code_frames(struct code *code);
struct analysis *code_analysis(struct code *code);
/* Reads what code_entry and places need; does nothing the second time. */
void code_read(struct code *code);

/* The unwind entry that covers vaddr; NULL if there is none. Valid until the next call. */
struct table_span *code_entry(struct code *code, uint64_t vaddr);
/* The recipe of the entry at vaddr. */
uint32_t code_entry_recipe(const struct code *code, const struct table_span *entry, uint64_t vaddr);
/*
 * Whether the entry covers the epilogue. Compilers that write entries only for exceptions omit it: then the
 * entry is valid at calls, but not between the instructions of the epilogue.
 */
bool code_entry_is_exact(const struct code *code, const struct table_span *entry);

/* Whether code inside the entry calls addresses in it other than its start. Then its rows may belong to
 * another frame. False if too much was decoded for such answers. */
bool code_has_inner(struct code *code, struct table_span *entry);

/* Whether a call to vaddr may lead to another function without creating a frame. True if that is not known.
 */
bool code_may_leave(struct code *code, uint64_t vaddr);
