/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/alloc.h"
#include "report/children.h"
#include "report/firefox.h"

static uint32_t frame_of(struct firefox *f, const struct firefox_place *p)
{
	uint64_t key = hash_u64(p->vaddr) ^ ((uint64_t)p->line << 32 | p->depth);
	key = hash_u64(key) ^ ((uint64_t)p->function << 32 | p->native);
	uint32_t at = map_find(&f->frame_index, key);

	if (at == MAP_NONE) {
		at = (uint32_t)f->frames.n;
		vec_push(&f->frames, *p);
		map_put(&f->frame_index, key, at);
	}
	return at;
}

static uint32_t stack_of(struct firefox *f, uint32_t prefix, uint32_t frame)
{
	uint64_t key = (uint64_t)prefix << 32 | frame;
	uint32_t at = map_find(&f->stack_index, key);

	if (at == MAP_NONE) {
		at = (uint32_t)f->stacks.n;
		vec_push(&f->stacks, (struct firefox_stack){ frame, prefix });
		map_put(&f->stack_index, key, at);
	}
	return at;
}

/* Everything that stands at one address: the function around it and what was inlined. Returns the caller's
 * scope. */
static uint32_t add_physical_frame(struct firefox *f, uint32_t scope, uint32_t line, uint64_t vaddr,
				   const struct scope **ret_function)
{
	const struct scope *s;
	size_t first = f->path.n;

	do {
		s = &f->document->tree->scopes.at[scope];
		vec_push(&f->path, (struct firefox_place){ .function = f->document->frame.at[f->node[scope]],
							   .line = line,
							   .vaddr = vaddr });
		line = s->relation == RELATION_INLINE ? s->call_line : line;
		scope = s->parent;
	} while (s->relation == RELATION_INLINE || s->relation == RELATION_LEXICAL);
	for (size_t i = first; i < f->path.n; i++) {
		f->path.at[i].depth = (uint32_t)(f->path.n - 1 - i);
		f->path.at[i].native = f->path.at[f->path.n - 1].function;
	}
	*ret_function = s;
	return scope;
}

static uint32_t add_stack(struct firefox *f, uint32_t scope)
{
	const struct scope *leaf = &f->document->tree->scopes.at[scope], *function;
	uint32_t line = leaf->line, stack = FIREFOX_NONE;
	uint64_t vaddr = leaf->vaddr;

	vec_clear(&f->path);
	scope = leaf->kind == SCOPE_LINE ? leaf->parent : scope;
	while (scope != 0) {
		scope = add_physical_frame(f, scope, line, vaddr, &function);
		line = function->call_line;
		vaddr = function->call_vaddr ? function->call_vaddr - 1
					     : f->document->tree->scopes.at[scope].vaddr;
	}
	for (size_t i = f->path.n; i-- > 0;)
		stack = stack_of(f, stack, frame_of(f, &f->path.at[i]));
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

	f->rank = alloc_zero(document->scope.n, sizeof(uint32_t));
	f->node = alloc_zero(document->tree->scopes.n, sizeof(uint32_t));
	for (uint32_t i = 0; i < document->scope.n; i++)
		f->node[document->scope.at[i]] = i;
	children_init(&children, document->parent.at, document->scope.n, document->inclusive + f->metric,
		      document->n_metrics);
	children_walk(&children, document->scope.n, rank_node, f);
	children_done(&children);
}

static int by_thread(const void *left, const void *right)
{
	const struct firefox_sample *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void add_samples(struct firefox *f)
{
	const struct scope_tree *tree = f->document->tree;

	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *v = &tree->values.at[i];
		if (v->metric != f->metric || v->value == 0)
			continue;
		const struct scope *scope = &tree->scopes.at[v->scope];
		uint32_t node = f->node[scope->kind == SCOPE_LINE ? scope->parent : v->scope];
		vec_push(&f->samples, (struct firefox_sample){ v->thread, f->rank[node],
							       add_stack(f, v->scope), v->value });
	}
	if (f->samples.n)
		qsort(f->samples.at, f->samples.n, sizeof(*f->samples.at), by_thread);
}

void firefox_collect(struct firefox *firefox)
{
	rank_nodes(firefox);
	add_samples(firefox);
}
