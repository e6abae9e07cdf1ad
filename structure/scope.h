/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope: the fused tree: the calling context tree with every frame expanded into the function, the
 * loops and the inlined calls that its address stands in. Same shape as the CCT: an array, parent
 * before child, node 0 the root; values in side arrays.
 */
#pragma once

#include "base/vec.h"
#include "binary/image.h"

enum scope_kind { SCOPE_ROOT, SCOPE_INCOMPLETE, SCOPE_FUNCTION, SCOPE_INLINE, SCOPE_LOOP, SCOPE_LINE, SCOPE_UNKNOWN };
enum scope_relation { RELATION_NONE, RELATION_CALL, RELATION_INLINE, RELATION_LEXICAL };

struct scope {
	uint32_t parent;
	uint8_t kind, relation;
	uint16_t flags;
	uint32_t name;             /* string id; of a loop: the function it belongs to */
	uint32_t linkage;          /* 0 = same as name */
	uint32_t file, line, end_line;  /* of the body: declaration of a function, extent of a loop */
	uint32_t call_file, call_line;  /* where it is called from or inlined at, 0 = unknown */
	image_id image;            /* index into the profile's images */
	uint64_t vaddr;            /* start of the function, header of the loop, address of the line */
	uint64_t call_vaddr;       /* address of the call instruction's return, 0 = none */
};

enum scope_flag { SCOPE_IRREDUCIBLE = 1, SCOPE_COMPILER_MADE = 2, SCOPE_VECTOR = 4, SCOPE_ALIEN = 8, SCOPE_KERNEL = 16, SCOPE_COLD = 32, SCOPE_RECOVERED_NAME = 64 };

/* What one thread spent right in a scope, not in its children. */
struct scope_value {
	uint32_t scope, thread, metric;
	uint64_t value;
};

struct scope_tree {
	VEC(struct scope) scopes;
	VEC(struct scope_value) values; /* sorted by scope, thread, metric */
	uint32_t n_metrics;
};

void scope_tree_done(struct scope_tree *tree);
/* Sorts values by scope, thread and metric and adds up those that agree in all three; returns how many are left. */
size_t scope_values_settle(struct scope_value *values, size_t n);
/* Self values summed over threads: array [scope * n_metrics + metric]; free() it. */
uint64_t *scope_tree_self(const struct scope_tree *tree);
/* Self values plus those of all descendants; free() it. */
uint64_t *scope_tree_inclusive(const struct scope_tree *tree, const uint64_t *self);
