/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope: the fused tree: the calling context tree with every frame expanded into the function, the loops and
 * the inlined calls that contain its address. It has the same layout as the CCT: an array in which parents
 * precede their children and node 0 is the root; values are in separate arrays.
 *
 * A profile has millions of contexts, but only thousands of functions, loops, lines and call sites. So each
 * of those is stored once, and a scope is three numbers; scope_at() assembles it.
 */
#pragma once

#include <stdbool.h>

#include "base/slots.h"
#include "base/vec.h"
#include "binary/elf/image.h"

enum scope_kind {
	SCOPE_ROOT,
	SCOPE_INCOMPLETE,
	SCOPE_FUNCTION,
	SCOPE_INLINE,
	SCOPE_LOOP,
	SCOPE_LINE,
	SCOPE_UNKNOWN
};
enum scope_relation { RELATION_NONE, RELATION_CALL, RELATION_INLINE, RELATION_LEXICAL };
enum scope_flag {
	SCOPE_IRREDUCIBLE = 1,
	SCOPE_COMPILER_MADE = 2,
	SCOPE_VECTOR = 4,
	SCOPE_ALIEN = 8,
	SCOPE_KERNEL = 16,
	SCOPE_COLD = 32,
	SCOPE_RECOVERED_NAME = 64,
	SCOPE_PARALLEL = 128,  /* a function that is the body of a parallel region */
	SCOPE_JOINED = 256,    /* ... with the cost of threads that did not start it */
	SCOPE_WAITING = 512,   /* a function that waits for other threads */
	SCOPE_SCHEDULE = 1024, /* a loop that distributes the iterations of the loop inside it */
	SCOPE_UNROLLED = 2048 /* a loop that has fewer iterations than in the source, and does more in each */
};

/* What a scope is, independent of its context. */
struct scope_frame {
	uint64_t vaddr;   /* start of the function, header of the loop, address of the line; 0 for an inlined
			     function */
	uint32_t name;    /* string id; for a loop: the function it belongs to */
	uint32_t linkage; /* 0 = same as name */
	uint32_t file, line, end_line; /* of the body: declaration of a function, extent of a loop */
	image_id image;                /* index into the profile's images */
	uint16_t flags;
	uint8_t kind;
	uint16_t self_spread, total_spread; /* report/tree/frame_spread.h; 0 = not known */
};

/* Where it is called or inlined. */
struct scope_call {
	uint64_t vaddr;      /* return address of the call, 0 = none */
	uint32_t file, line; /* 0 = unknown */
};

struct scope_row {
	uint32_t parent, frame, call;
};

/* What one thread spent in a scope itself, excluding its children. */
struct scope_value {
	uint32_t scope, thread, metric;
	uint64_t value;
};

/* Lines are leaves and come last, after all other scopes, in the order of their parents; so do their frames.
 */
struct scope_tree {
	VEC(struct scope_row) scopes;
	VEC(struct scope_frame) frames;    /* each once, in the order of the first scope that uses it */
	VEC(struct scope_call) calls;      /* each once; 0 is none */
	VEC(struct scope_value) values;    /* sorted by scope, thread, metric */
	VEC(struct scope_value) durations; /* and doubts, as in unwinder/cct.h; metrics are numbered from 0 */
	uint32_t n_metrics;
	uint32_t activations; /* the metric that counts calls of functions; 0 = none does */
	uint32_t n_rounds;    /* the number of metrics, at the end, that count samples by round */
	bool has_addresses;   /* each SCOPE_LINE is one address */
	uint64_t n_shortened; /* frames of which scopes were left out (fuse.h) */
};

/* One scope with all its properties. */
struct scope {
	uint32_t parent;
	uint8_t kind, relation;
	uint16_t flags;
	uint32_t name, linkage, file, line, end_line, call_file, call_line;
	image_id image;
	uint64_t vaddr, call_vaddr;
};

struct scope scope_at(const struct scope_tree *tree, size_t scope);
static inline const struct scope_frame *scope_frame(const struct scope_tree *tree, size_t scope)
{
	return &tree->frames.at[tree->scopes.at[scope].frame];
}
static inline unsigned scope_kind(const struct scope_tree *tree, size_t scope)
{
	return scope_frame(tree, scope)->kind;
}
/* How a scope of that kind is related to its parent. */
enum scope_relation scope_relation(unsigned kind);
/* The number of scopes before the first line. */
size_t scope_tree_n_nodes(const struct scope_tree *tree);
void scope_tree_done(struct scope_tree *tree);
/* Merges the addresses of each line into one scope; removes all lines. Other scopes keep their numbers. */
void scope_tree_merge_addresses(struct scope_tree *tree);
void scope_tree_drop_lines(struct scope_tree *tree);

/* Builds a tree; finds frames and calls that it already contains. */
struct scope_maker {
	struct scope_tree *tree;
	struct slots frames, calls;
};
void scope_maker_init(struct scope_maker *maker, struct scope_tree *tree);
void scope_maker_done(struct scope_maker *maker);
uint32_t scope_maker_frame(struct scope_maker *maker, struct scope_frame frame);
uint32_t scope_maker_call(struct scope_maker *maker, struct scope_call call);
/* Appends a scope; its relation follows from its kind. Returns its number. */
uint32_t scope_maker_add(struct scope_maker *maker, const struct scope *scope);

/* Sorts values by scope, thread and metric in place and adds up those that agree in all three; returns how
 * many are left. */
size_t scope_values_settle(struct scope_value *values, size_t n, size_t n_scopes);
