/* SPDX-License-Identifier: Apache-2.0 */
/*
 * structure: the static map of one function: for each of its addresses the loops and inlined calls that
 * contain it. Plain data that is stored in the profile.
 *
 * Scope 0 is the function itself; parents precede children; loops and inlined calls nest in each other as
 * they do in the source. Ranges are sorted and disjoint; an address in none of them belongs to scope 0. The
 * ranges of a function's cold part are included.
 */
#pragma once

#include "base/intern.h"
#include "base/vec.h"
#include "binary/elf/image.h"
#include "binary/flow/cfg.h"
#include "structure/procedures.h"
#include "structure/scope.h"
#include "symbolize/function_map.h"

#define STRUCTURE_MAX_DEPTH 512 /* of nested scopes; deeper code belongs to the last of them */

struct static_scope {
	uint32_t parent;        /* index; 0 for the function itself */
	uint8_t kind;           /* SCOPE_FUNCTION, SCOPE_INLINE, SCOPE_LOOP */
	uint16_t flags;         /* enum scope_flag */
	uint32_t name, linkage; /* of an inlined function; for a loop: the procedure it is written in */
	uint32_t file, line, end_line; /* declaration; extent of a loop, line 0 = no debug info */
	uint32_t call_file, call_line; /* of an inlined call */
	uint64_t vaddr;                /* a loop's header; otherwise where its code starts */
};

struct static_range {
	uint64_t start;
	uint32_t len, scope;
};

/* Machine loops that are one source loop: versions, peeled iterations, vector body and remainder. */
struct loop_piece {
	uint32_t scope;
	uint64_t header;
	uint32_t n_blocks;
	uint32_t flags;
	/* Its own code, not that of loops in it: */
	uint64_t start; /* it is in [start, start + len), which may also contain other code */
	uint32_t len;
	uint32_t n_calls;
	uint32_t width; /* of a vectorised one: vector size in bytes, 255 = as large as the processor's */
};

/* Code of one source position in one scope; only on request, never stored. */
struct statement {
	uint64_t vaddr;
	uint32_t len, scope;
	uint32_t file, line; /* line 0 = none */
};

struct code_extent {
	uint64_t start, end;
};

struct structure {
	image_id image;
	uint64_t function; /* vaddr */
	uint64_t basis;    /* in the store only, never in a profile: identifies the maps it was made from
			      (structurer_basis) */
	VEC(struct code_extent) extents; /* of all its code, its own part first; never in a profile */
	VEC(struct static_scope) scopes;
	VEC(struct static_range) ranges;
	VEC(struct loop_piece) pieces;
	VEC(struct statement) statements; /* all its code, by address; parts follow */
};

struct structure_options {
	bool alien_only;                     /* as if the compiler had described no inlined call */
	bool statements;                     /* fill in `statements` */
	const struct procedures *procedures; /* of the image, NULL = not known; the structurer sets them */
};

/*
 * maps: the function's own map first, then those of its parts; may be none. Fills ret; structure_done it.
 * Alien code whose procedure is not known has no name yet.
 */
void structure_build(const struct cfg *cfg, const struct function_map *const *maps, size_t n_maps,
		     const struct structure_options *options, struct structure *ret);
/* Does what depends on names: alien code whose procedure is not known is named after its file (new names are
 * added to strings), and in a parallel region the loop that distributes iterations is marked. */
void structure_name(struct structure *structure, struct intern *strings);
void structure_done(struct structure *structure);

/* The structure of a function, among structures sorted by (image, function); NULL if there is none. */
const struct structure *structures_find(const struct structure *structures, size_t n, image_id image,
					uint64_t function);

/* The innermost scope at vaddr; 0 = the function's own code. */
uint32_t structure_find(const struct structure *structure, uint64_t vaddr);
