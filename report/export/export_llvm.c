/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llvm-sample: a sample profile as text, for clang -fprofile-sample-use and llvm-profdata.
 *
 * The costs of a function are listed by line, relative to its first one, with the functions inlined into it
 * nested below the line of the call; callers do not matter. Names are linkage names. Functions without lines,
 * or with names that the format cannot represent, are left out. There are no discriminators and no branch
 * counts, so a line has one number, the sum of its samples.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/intern.h"
#include "report/export/exporter.h"
#include "report/limit.h"
#include "report/tree/children.h"
#include "report/tree/document.h"

#define NOWHERE 0 /* node 0: the parent of all functions, and of what is left out */

/* A function, or one inlined at a place in another. */
struct node {
	uint32_t name;   /* in strings */
	uint32_t offset; /* of the call in the function around it */
	uint64_t entry;  /* cost of its first line */
	size_t first, n; /* in lines */
};

struct line {
	uint32_t node, offset;
	uint64_t value;
};

struct llvm {
	FILE *to;
	const struct profile *profile;
	const struct scope_tree *tree;
	uint32_t metric;
	struct intern strings;
	struct map index;
	uint32_t *node_of;  /* of each scope */
	uint32_t *function; /* by scope: the function or inlined function that contains it, as a scope */
	VEC(struct node) nodes;
	VEC(uint32_t) parents;
	VEC(struct line) lines;
	uint64_t *totals; /* by node, including everything inlined into it */
};

/* The linkage name up to the first dot: clones of a function share its profile. 0 if it is not valid. */
static uint32_t llvm_name_of(struct llvm *l, const struct scope *scope)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
	const char *name = profile_text(l->profile, scope->linkage ? scope->linkage : scope->name);
	size_t len = strspn(name, letters);

	if (len == 0 || (name[len] != '\0' && name[len] != '.'))
		return 0;
	return intern_add_n(&l->strings, name, len);
}

/* As the compiler counts: 16 bits, with wrap-around for lines before the first. */
static uint32_t offset_of(const struct llvm *l, uint32_t function, uint32_t line)
{
	return (line - scope_frame(l->tree, function)->line) & 0xffff;
}

static uint32_t node_at(struct llvm *l, uint32_t parent, uint32_t offset, uint32_t name)
{
	uint64_t key = hash_pair_secret((uint64_t)parent << 32 | name, offset);
	uint32_t at = map_find(&l->index, key);

	if (at == MAP_NONE) {
		at = (uint32_t)l->nodes.n;
		vec_push(&l->nodes, (struct node){ .name = name, .offset = offset });
		vec_push(&l->parents, parent);
		map_put(&l->index, key, at);
	}
	return at;
}

static uint32_t place_scope(struct llvm *l, uint32_t index)
{
	const struct scope scope = scope_at(l->tree, index);
	uint32_t around = l->node_of[scope.parent], outer = l->function[scope.parent];

	if (scope.kind == SCOPE_LOOP || scope.kind == SCOPE_LINE) {
		l->function[index] = outer;
		return around;
	}
	bool is_function = scope.kind == SCOPE_FUNCTION, is_inline = scope.kind == SCOPE_INLINE;
	uint32_t name = is_function || is_inline ? llvm_name_of(l, &scope) : 0;
	if (!name || !scope.line || (is_inline && (around == NOWHERE || !scope.call_line)))
		return NOWHERE;
	return is_function ? node_at(l, NOWHERE, 0, name)
			   : node_at(l, around, offset_of(l, outer, scope.call_line), name);
}

static void place_scopes(struct llvm *l)
{
	uint32_t n = (uint32_t)l->tree->scopes.n;

	vec_push(&l->nodes, (struct node){ 0 });
	vec_push(&l->parents, 0);
	l->node_of = alloc_zero(n, sizeof(uint32_t));
	l->function = alloc_zero(n, sizeof(uint32_t));
	for (uint32_t i = 1; i < n; i++) {
		l->function[i] = i;
		l->node_of[i] = place_scope(l, i);
	}
}

static int by_offset(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void llvm_add_lines(struct llvm *l)
{
	for (size_t i = 0; i < l->tree->values.n; i++) {
		const struct scope_value *v = &l->tree->values.at[i];
		const struct scope_frame *scope = scope_frame(l->tree, v->scope);
		uint32_t node = l->node_of[v->scope];
		if (v->metric == l->metric && v->value && scope->kind == SCOPE_LINE && scope->line &&
		    node != NOWHERE)
			vec_push(&l->lines,
				 (struct line){ node, offset_of(l, l->function[v->scope], scope->line),
						v->value });
	}
	if (l->lines.n)
		qsort(l->lines.at, l->lines.n, sizeof(*l->lines.at), by_offset);
}

/* Each line of a node once; the node gets the range of its lines. */
static void merge_lines(struct llvm *l)
{
	size_t n = 0;

	l->totals = alloc_zero(l->nodes.n, sizeof(uint64_t));
	for (size_t i = 0; i < l->lines.n; i++) {
		struct line line = l->lines.at[i];
		struct node *node = &l->nodes.at[line.node];
		l->totals[line.node] += line.value;
		node->entry += line.offset == 0 ? line.value : 0;
		if (n && by_offset(&l->lines.at[n - 1], &line) == 0) {
			l->lines.at[n - 1].value += line.value;
			continue;
		}
		node->first = node->n ? node->first : n;
		node->n++;
		l->lines.at[n++] = line;
	}
	l->lines.n = n;
	for (size_t i = l->nodes.n; i-- > 1;)
		l->totals[l->parents.at[i]] += l->totals[i];
}

static void write_node(void *context, uint32_t index, uint32_t depth)
{
	struct llvm *l = context;
	const struct node *node = &l->nodes.at[index];
	const char *name = intern_text(&l->strings, node->name);
	unsigned long long total = l->totals[index];

	if (index == NOWHERE || total == 0)
		return;
	if (depth == 1)
		fprintf(l->to, "%s:%llu:%llu\n", name, total, (unsigned long long)node->entry);
	else
		fprintf(l->to, "%*s%u: %s:%llu\n", (int)depth - 1, "", node->offset, name, total);
	for (size_t i = node->first; i < node->first + node->n; i++)
		fprintf(l->to, "%*s%u: %llu\n", (int)depth, "", l->lines.at[i].offset,
			(unsigned long long)l->lines.at[i].value);
}

static uint32_t llvm_parent_of(const void *context, uint32_t node)
{
	return ((const struct llvm *)context)->parents.at[node];
}

static uint64_t total_of(const void *context, uint32_t node, uint32_t metric)
{
	(void)metric;
	return ((const struct llvm *)context)->totals[node];
}

static int write_llvm(const struct export_input *input, const struct export_options *options, FILE *to,
		      struct diag *diag)
{
	struct llvm l = {
		.to = to, .profile = input->profile, .tree = input->tree, .metric = options->metric
	};
	struct children children;
	struct text note = { 0 };

	(void)diag;
	intern_init(&l.strings);
	place_scopes(&l);
	llvm_add_lines(&l);
	merge_lines(&l);
	limit_note(input->tree, input->profile, &note);
	if (note.len)
		fprintf(to, "# %s\n", note.at);
	text_done(&note);
	children_init(&children, &(struct children_of){ l.nodes.n, &l, llvm_parent_of, total_of, 0 });
	children_walk(&children, l.nodes.n, write_node, &l);
	children_done(&children);
	free(l.node_of);
	free(l.function);
	free(l.totals);
	vec_done(&l.nodes);
	vec_done(&l.parents);
	vec_done(&l.lines);
	map_done(&l.index);
	intern_done(&l.strings);
	return 0;
}

const struct exporter exporter_llvm = {
	.name = "llvm-sample",
	.suffixes = ".prof .afdo",
	.summary = "a sample profile, for clang -fprofile-sample-use",
	.carries = CARRIES_INLINES | CARRIES_LINES,
	.needs_lines = true,
	.write = write_llvm,
};
