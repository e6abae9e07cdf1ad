/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/alloc.h"
#include "report/export/firefox.h"
#include "report/tree/children.h"

/* Everything at one address: the function and what was inlined into it. Returns the caller's scope. */
static uint32_t add_physical_frame(struct firefox *f, uint32_t scope, uint32_t line, uint64_t vaddr,
				   struct scope *ret_function)
{
	struct scope s;
	size_t first = f->path.n;

	do {
		s = scope_at(f->document->tree, scope);
		vec_push(&f->path, (struct firefox_place){ .function = document_frame(f->document, scope),
							   .line = line,
							   .vaddr = vaddr });
		line = s.relation == RELATION_INLINE ? s.call_line : line;
		scope = s.parent;
	} while (s.relation == RELATION_INLINE || s.relation == RELATION_LEXICAL);
	for (size_t i = first; i < f->path.n; i++) {
		f->path.at[i].depth = (uint32_t)(f->path.n - 1 - i);
		f->path.at[i].native = f->path.at[f->path.n - 1].function;
	}
	*ret_function = s;
	return scope;
}

static uint32_t firefox_stacks_add_stack(struct firefox *f, uint32_t scope)
{
	const struct scope_frame *leaf = scope_frame(f->document->tree, scope);
	uint32_t line = leaf->line, stack = FIREFOX_NONE;
	uint64_t vaddr = leaf->vaddr;
	struct scope function;

	vec_clear(&f->path);
	scope = leaf->kind == SCOPE_LINE ? f->document->tree->scopes.at[scope].parent : scope;
	while (scope != 0) {
		scope = add_physical_frame(f, scope, line, vaddr, &function);
		line = function.call_line;
		vaddr = function.call_vaddr ? function.call_vaddr - 1
					    : scope_frame(f->document->tree, scope)->vaddr;
	}
	for (size_t i = f->path.n; i-- > 0;)
		stack = numbering_add(&f->stacks, &(struct firefox_stack){
							  numbering_add(&f->frames, &f->path.at[i]), stack });
	return stack;
}

static void rank_node(void *context, uint32_t node, uint32_t depth)
{
	struct firefox *f = context;

	(void)depth;
	f->rank[node] = f->n_ranked++;
}

static void rank_nodes(struct firefox *f)
{
	const struct document *document = f->document;
	struct children children;

	f->rank = alloc_zero(document->n_nodes, sizeof(uint32_t));
	children_of_document(&children, document, f->metric);
	children_walk(&children, document->n_nodes, rank_node, f);
	children_done(&children);
}

static int firefox_stacks_by_thread(const void *left, const void *right)
{
	const struct firefox_sample *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void firefox_stacks_add_samples(struct firefox *f)
{
	const struct scope_tree *tree = f->document->tree;

	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *v = &tree->values.at[i];
		if (v->metric != f->metric || v->value == 0)
			continue;
		uint32_t node = i < f->document->first_point ? v->scope : tree->scopes.at[v->scope].parent;
		vec_push(&f->samples,
			 (struct firefox_sample){ v->thread, f->rank[node],
						  firefox_stacks_add_stack(f, v->scope), v->value });
	}
	if (f->samples.n)
		qsort(f->samples.at, f->samples.n, sizeof(*f->samples.at), firefox_stacks_by_thread);
}

void firefox_collect(struct firefox *firefox)
{
	numbering_init(&firefox->frames, sizeof(struct firefox_place));
	numbering_init(&firefox->stacks, sizeof(struct firefox_stack));
	rank_nodes(firefox);
	firefox_stacks_add_samples(firefox);
}
