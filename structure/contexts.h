/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contexts: the procedure contexts of a function's code: the function itself (context 0) and every call
 * inlined into it, as one tree for all parts of the function.
 *
 * If the compiler described no inlined calls, code whose file is not the procedure's, or whose line is
 * outside the procedure's bounds, is alien (Tallent et al. 2009, 3.2). It gets one context per procedure that
 * it was written in or, if that is not known, one unnamed context per file.
 */
#pragma once

#include "base/hash.h"
#include "structure/procedures.h"
#include "symbolize/function_map.h"

struct context {
	uint32_t parent, depth;             /* depth 0 is the function itself */
	uint32_t name, linkage, file, line; /* declaration */
	uint32_t call_file, call_line, call_column;
	bool is_alien;
};

struct contexts {
	VEC(struct context) list;
	struct map known;                    /* hash of a context -> index */
	bool describes_inlines;              /* some map has inlined calls, and they can be trusted */
	uint32_t end_line;                   /* of the function, 0 = unknown */
	const struct procedures *procedures; /* NULL = none are known */
};

/* Does the map describe all inlined calls? */
bool contexts_are_described(const struct function_map *map);
/* procedures may be NULL and are borrowed. */
void contexts_init(struct contexts *contexts, const struct function_map *own, bool describes_inlines,
		   const struct procedures *procedures);
void contexts_done(struct contexts *contexts);

/* The context of the code at an offset of a map; its line row is `row` (may be NULL). */
uint32_t contexts_of(struct contexts *contexts, const struct function_map *map, uint32_t offset,
		     const struct line_row *row);
/* The innermost context that contains both. */
uint32_t contexts_common(const struct contexts *contexts, uint32_t a, uint32_t b);
/* The child of `outer` that contains `inner`; inner must be below outer. */
uint32_t contexts_below(const struct contexts *contexts, uint32_t outer, uint32_t inner);
