/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/callgrind.h"

#include <stdlib.h>
#include <string.h>

#include "report/tree/children.h"

#define SETTLE_LEAST (1u << 16) /* entries: two megabytes */

/* ---- functions -------------------------------------------------------------------------------- */

static int by_identity(const void *left, const void *right, void *context)
{
	const struct document *document = context;
	uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
	const struct scope_frame *a = &document->frames.at[l], *b = &document->frames.at[r];
	char a_label[512], b_label[512];

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return strcmp(document_frame_label(document, l, a_label, sizeof(a_label)),
		      document_frame_label(document, r, b_label, sizeof(b_label)));
}

/* Numbers functions in the order of their first frames, so that the file has the order of the profile. */
static void number_functions(struct callgrind *c)
{
	const struct document *document = c->document;
	uint32_t n = (uint32_t)document->frames.n, n_functions = 0;
	uint32_t *order = alloc_resize(NULL, n, sizeof(uint32_t)),
		 *same = alloc_resize(NULL, n, sizeof(uint32_t));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(uint32_t), by_identity, (void *)document);
	for (uint32_t i = 0, first = 0; i < n; i++) {
		if (i && by_identity(&order[i - 1], &order[i], (void *)document) != 0)
			first = i;
		same[order[i]] = order[first];
		if (order[i] < same[order[first]])
			same[order[first]] = order[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t least = same[same[i]];
		if (least == i)
			c->functions[n_functions] =
				(struct callgrind_function){ .frame = i,
							     .file = document->frames.at[i].file };
		c->function[i] = least == i ? n_functions++ : c->function[least];
	}
	c->n_functions = n_functions;
	free(order);
	free(same);
}

static uint32_t function_of(const struct callgrind *c, uint32_t node)
{
	return c->function[document_frame(c->document, node)];
}

static uint32_t caller_of(const struct callgrind *c, uint32_t node)
{
	return function_of(c, document_parent(c->document, node));
}

/* Nodes from `from` on, in the order of the functions that `of` returns for them. */
static struct callgrind_nodes group_nodes(const struct callgrind *c, uint32_t from,
					  uint32_t (*of)(const struct callgrind *c, uint32_t node))
{
	struct callgrind_nodes ret = { alloc_zero(c->n_functions + 2, sizeof(uint32_t)),
				       alloc_zero(c->document->n_nodes + 1, sizeof(uint32_t)) };

	for (uint32_t i = from; i < c->document->n_nodes; i++)
		ret.first[of(c, i) + 2]++;
	for (size_t i = 1; i < c->n_functions + 2; i++)
		ret.first[i] += ret.first[i - 1];
	for (uint32_t i = from; i < c->document->n_nodes; i++)
		ret.node[ret.first[of(c, i) + 1]++] = i;
	return ret;
}

struct recursion {
	struct callgrind *c;
	uint32_t *active; /* by function: how often it is on the current path */
	VEC(uint32_t) path;
};

static void visit(void *context, uint32_t node, uint32_t depth)
{
	struct recursion *r = context;
	uint32_t function = function_of(r->c, node);

	while (r->path.n > depth)
		r->active[r->path.at[--r->path.n]]--;
	r->c->is_recursive[node] = r->active[function] > 0;
	r->active[function]++;
	vec_push(&r->path, function);
}

static void find_recursion(struct callgrind *c)
{
	struct recursion r = { .c = c, .active = alloc_zero(c->n_functions + 1, sizeof(uint32_t)) };
	struct children children;

	c->is_recursive = alloc_zero(c->document->n_nodes + 1, sizeof(bool));
	children_of_document(&children, c->document, NO_METRIC);
	children_walk(&children, c->document->n_nodes, visit, &r);
	children_done(&children);
	free(r.active);
	vec_done(&r.path);
}

/* ---- costs ------------------------------------------------------------------------------------ */

static uint32_t column_of(const struct callgrind *c, uint32_t metric)
{
	return metric == c->first ? 0 : metric < c->first ? metric + 1 : metric;
}

uint32_t callgrind_metric(const struct callgrind *c, uint32_t column)
{
	return column == 0 ? c->first : column <= c->first ? column - 1 : column;
}

static int callgrind_compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int callgrind_by_place(const void *left, const void *right)
{
	const struct callgrind_entry *a = left, *b = right;
	int order = callgrind_compare(a->function, b->function);

	order = order ? order : callgrind_compare(a->callee, b->callee);
	order = order ? order : callgrind_compare(a->file, b->file);
	order = order ? order : callgrind_compare(a->line, b->line);
	return order ? order : callgrind_compare(a->column, b->column);
}

/* Combines entries of one place and column: the graph is much smaller than the tree. */
static void callgrind_settle(struct callgrind *c)
{
	size_t n = 0;

	if (c->entries.n)
		qsort(c->entries.at, c->entries.n, sizeof(*c->entries.at), callgrind_by_place);
	for (size_t i = 0; i < c->entries.n; i++) {
		if (n && callgrind_by_place(&c->entries.at[n - 1], &c->entries.at[i]) == 0)
			c->entries.at[n - 1].value += c->entries.at[i].value;
		else
			c->entries.at[n++] = c->entries.at[i];
	}
	c->entries.n = n;
	c->settle_at = 2 * n > SETTLE_LEAST ? 2 * n : SETTLE_LEAST;
}

static void callgrind_add_entry(struct callgrind *c, struct callgrind_entry entry)
{
	if (c->entries.n >= c->settle_at)
		callgrind_settle(c);
	vec_push(&c->entries, entry);
}

typedef void put_entry(struct callgrind *c, struct callgrind_entry entry);

/* The number of calls of a node: a lower bound; in a profile without such counts, the number of samples. */
static uint64_t callgrind_calls(const struct callgrind *c, uint32_t node)
{
	return c->seen->by_scope.n ? c->seen->by_scope.at[node] : document_inclusive(c->document, node, 0);
}

/* The call of a node other than the root. */
static void put_call(struct callgrind *c, uint32_t node, put_entry *put)
{
	const struct document *document = c->document;
	const struct scope_call *call = document_call(document, node);
	const struct scope_frame *caller = scope_frame(document->tree, document_parent(document, node));
	uint32_t m = document->n_metrics;
	struct callgrind_entry entry = { .function = caller_of(c, node),
					 .callee = function_of(c, node) + 1,
					 .file = caller->file,
					 .line = caller->line };

	if (document_inclusive(document, node, 0) == 0)
		return;
	if (call->line && caller->image != IMAGE_NONE) { /* the root and similar nodes have no lines */
		entry.file = call->file;
		entry.line = call->line;
	}
	for (uint32_t k = 0; k < m; k++) {
		entry.column = column_of(c, k);
		entry.value = c->is_recursive[node] ? 0 : document_inclusive(document, node, k);
		put(c, entry);
	}
	entry.column = m;
	entry.value = callgrind_calls(c, node);
	put(c, entry);
}

/* Costs without a line are shown at the first line of the function. */
static void put_own(struct callgrind *c, uint32_t node, put_entry *put)
{
	const struct document *document = c->document;
	const struct scope_frame *f = scope_frame(document->tree, node);
	const struct scope_value *values = document->tree->values.at;
	size_t from, to;

	document_line_values(document, node, &from, &to);
	for (; from < to; from++) {
		const struct scope_frame *line = scope_frame(document->tree, values[from].scope);
		put(c, (struct callgrind_entry){ function_of(c, node), NO_CALL, line->file, line->line,
						 column_of(c, values[from].metric), values[from].value });
	}
	document_own_values(document, node, &from, &to);
	for (; from < to; from++)
		if (values[from].value)
			put(c, (struct callgrind_entry){ function_of(c, node), NO_CALL, f->file, f->line,
							 column_of(c, values[from].metric),
							 values[from].value });
}

static void note_file(struct callgrind *c, struct callgrind_entry entry)
{
	uint64_t from = (uint64_t)entry.callee << 32 | entry.file;

	if (entry.file && from < c->file_from[entry.function])
		c->file_from[entry.function] = from;
}

/* Every function gets a file if any is known: readers take a change of the file for another function. */
static void find_files(struct callgrind *c)
{
	c->file_from = alloc_zero(c->n_functions + 1, sizeof(*c->file_from));
	memset(c->file_from, 0xff, c->n_functions * sizeof(*c->file_from));
	for (uint32_t i = 0; i < c->document->n_nodes; i++) {
		if (i && !c->functions[caller_of(c, i)].file)
			put_call(c, i, note_file);
		if (!c->functions[function_of(c, i)].file)
			put_own(c, i, note_file);
	}
	for (uint32_t i = 0; i < c->n_functions; i++)
		if (!c->functions[i].file && c->file_from[i] != UINT64_MAX)
			c->functions[i].file = (uint32_t)c->file_from[i];
	free(c->file_from);
}

void callgrind_add_up(struct callgrind *c, uint32_t function)
{
	vec_clear(&c->entries);
	c->settle_at = SETTLE_LEAST;
	for (uint32_t i = c->own.first[function]; i < c->own.first[function + 1]; i++)
		put_own(c, c->own.node[i], callgrind_add_entry);
	for (uint32_t i = c->calls.first[function]; i < c->calls.first[function + 1]; i++)
		put_call(c, c->calls.node[i], callgrind_add_entry);
	for (size_t i = 0; i < c->entries.n; i++)
		if (!c->entries.at[i].file)
			c->entries.at[i].file = c->functions[function].file;
	callgrind_settle(c);
}

/* ---- the whole -------------------------------------------------------------------------------- */

void callgrind_init(struct callgrind *c, const struct document *document, const struct scope_calls *seen,
		    uint32_t first_metric)
{
	*c = (struct callgrind){ .document = document,
				 .seen = seen,
				 .n_columns = document->n_metrics + 1,
				 .first = first_metric };
	c->function = alloc_zero(document->frames.n + 1, sizeof(*c->function));
	c->functions = alloc_zero(document->frames.n + 1, sizeof(*c->functions));
	number_functions(c);
	find_recursion(c);
	find_files(c);
	c->own = group_nodes(c, 0, function_of);
	c->calls = group_nodes(c, 1, caller_of);
}

void callgrind_done(struct callgrind *c)
{
	free(c->function);
	free(c->functions);
	free(c->is_recursive);
	free(c->own.first);
	free(c->own.node);
	free(c->calls.first);
	free(c->calls.node);
	vec_done(&c->entries);
}
