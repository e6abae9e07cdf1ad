/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procedures: which procedure a source line is written in.
 *
 * Debug information says where a procedure starts, seldom where it ends. The invariants of Tallent et al.
 * 2009 (3.1) give bounds: procedures of one file do not overlap unless one contains the other, so one ends
 * before the next begins; a contained one (Fortran's internal procedures, nested functions) ends before its
 * host does. There are no gaps: a line between two procedures belongs to the first.
 *
 * Made from everything that is known about an image: its functions, and every call inlined into them.
 */
#pragma once

#include "base/vec.h"
#include "symbolize/function_map.h"

#define PROCEDURE_NONE UINT32_MAX

struct procedure {
	uint32_t file, line; /* where it starts */
	uint32_t end_line;   /* last line that can belong to it; UINT32_MAX = the end of the file */
	uint32_t known_end;  /* last line on which code of its own was found, 0 = none */
	uint32_t name, linkage;
	uint32_t host_name; /* of the procedure that contains it, 0 = none */
	uint32_t host;      /* its index, PROCEDURE_NONE */
};

struct procedures {
	VEC(struct procedure) list; /* sorted by file, line */
};

void procedures_find_all(struct procedures *procedures, const struct function_map *maps, size_t n);
void procedures_done(struct procedures *procedures);
/* The innermost procedure that the line is written in; NULL if none is known. */
const struct procedure *procedures_at(const struct procedures *procedures, uint32_t file, uint32_t line);
