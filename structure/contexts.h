/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contexts: the procedure contexts of a function's code: itself (context 0) and every call inlined
 * into it, as one tree over all its parts.
 *
 * Where the compiler described no inlined calls, code whose file is not the procedure's, or whose line
 * lies outside its bounds, is alien (Tallent et al. 2009, 3.2): one context per procedure it was written in,
 * where that is known, else one without a name per file.
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
	bool describes_inlines;              /* some map has inlined calls, and they are to be believed */
	uint32_t end_line;                   /* of the function, 0 = unknown */
	const struct procedures *procedures; /* NULL = none are known */
};

/* The inlined calls of the map are all that there are. */
bool contexts_are_described(const struct function_map *map);
/* procedures may be NULL and are borrowed. */
void contexts_init(struct contexts *contexts, const struct function_map *own, bool describes_inlines,
		   const struct procedures *procedures);
void contexts_done(struct contexts *contexts);

/* The context of code at an offset of a map whose line row is `row` (may be NULL). */
uint32_t contexts_of(struct contexts *contexts, const struct function_map *map, uint32_t offset,
		     const struct line_row *row);
/* The innermost context that both lie in. */
uint32_t contexts_common(const struct contexts *contexts, uint32_t a, uint32_t b);
/* The child of `outer` that `inner` lies in; inner must lie below outer. */
uint32_t contexts_below(const struct contexts *contexts, uint32_t outer, uint32_t inner);
