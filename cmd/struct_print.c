/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/struct_print.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/search.h"
#include "cmd/cmd.h"

#define MAX_SPANS 4 /* address ranges shown for one scope; the rest is a number */
#define NONE UINT32_MAX

static const char *struct_print_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- one function, ready to be printed ------------------------------------------------------ */

struct spans {
	struct code_extent at[MAX_SPANS];
	uint64_t end; /* of the last, shown or not */
	uint32_t n;
};

struct source_line {
	uint32_t scope, file, line;
	struct spans spans;
};

struct outline {
	const struct struct_print *print;
	FILE *to;
	struct structure structure;
	VEC(struct spans) spans; /* per scope, with all below it */
	VEC(uint32_t) first_child, next_sibling;
	VEC(uint32_t) n_pieces;
	VEC(struct statement) sorted;
	VEC(struct source_line) lines; /* sorted by scope, then by address */
};

static void spans_add(struct spans *spans, uint64_t start, uint64_t end)
{
	if (spans->n && spans->end == start) {
		spans->end = end;
		if (spans->n <= MAX_SPANS)
			spans->at[spans->n - 1].end = end;
		return;
	}
	if (spans->n < MAX_SPANS)
		spans->at[spans->n] = (struct code_extent){ start, end };
	spans->n++;
	spans->end = end;
}

/* Ranges are in the order of addresses, so those of a scope and its descendants can be combined on the way.
 */
static void struct_print_find_spans(struct outline *o)
{
	const struct structure *s = &o->structure;

	vec_clear(&o->spans);
	for (size_t i = 0; i < s->scopes.n; i++)
		vec_push(&o->spans, (struct spans){ 0 });
	for (size_t i = 0; i < s->extents.n; i++)
		spans_add(&o->spans.at[0], s->extents.at[i].start, s->extents.at[i].end);
	for (size_t i = 0; i < s->ranges.n; i++)
		for (uint32_t scope = s->ranges.at[i].scope; scope; scope = s->scopes.at[scope].parent)
			spans_add(&o->spans.at[scope], s->ranges.at[i].start,
				  s->ranges.at[i].start + s->ranges.at[i].len);
}

/* Siblings in source order: a loop by its first line, an inlined call by its call site. */
struct sibling {
	uint32_t parent, line, scope;
};

static int compare_siblings(const void *left, const void *right)
{
	const struct sibling *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

static void find_children(struct outline *o)
{
	const struct structure *s = &o->structure;
	VEC(struct sibling) siblings = { 0 };

	vec_clear(&o->first_child);
	vec_clear(&o->next_sibling);
	vec_clear(&o->n_pieces);
	for (uint32_t i = 0; i < s->scopes.n; i++) {
		const struct static_scope *scope = &s->scopes.at[i];
		vec_push(&o->first_child, NONE);
		vec_push(&o->next_sibling, NONE);
		vec_push(&o->n_pieces, 0);
		uint32_t line = scope->kind == SCOPE_INLINE ? scope->call_line : scope->line;
		if (i > 0)
			vec_push(&siblings, (struct sibling){ scope->parent, line, i });
	}
	if (siblings.n)
		qsort(siblings.at, siblings.n, sizeof(*siblings.at), compare_siblings);
	for (size_t i = siblings.n; i-- > 0;) {
		uint32_t *first = &o->first_child.at[siblings.at[i].parent];
		o->next_sibling.at[siblings.at[i].scope] = *first;
		*first = siblings.at[i].scope;
	}
	for (size_t i = 0; i < s->pieces.n; i++)
		o->n_pieces.at[s->pieces.at[i].scope]++;
	vec_done(&siblings);
}

static int compare_statements(const void *left, const void *right)
{
	const struct statement *a = left, *b = right;

	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static int struct_print_compare_lines(const void *left, const void *right)
{
	const struct source_line *a = left, *b = right;

	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	return a->spans.at[0].start < b->spans.at[0].start ? -1 : a->spans.at[0].start > b->spans.at[0].start;
}

/* The lines of each scope, each once, in the order of the code. */
static void struct_print_find_lines(struct outline *o)
{
	vec_clear(&o->sorted);
	vec_clear(&o->lines);
	for (size_t i = 0; i < o->structure.statements.n; i++)
		if (o->structure.statements.at[i].line)
			vec_push(&o->sorted, o->structure.statements.at[i]);
	if (o->sorted.n)
		qsort(o->sorted.at, o->sorted.n, sizeof(*o->sorted.at), compare_statements);
	for (size_t i = 0; i < o->sorted.n; i++) {
		const struct statement *s = &o->sorted.at[i];
		struct source_line *last = o->lines.n ? &o->lines.at[o->lines.n - 1] : NULL;
		if (!last || last->scope != s->scope || last->file != s->file || last->line != s->line) {
			vec_push(&o->lines,
				 (struct source_line){ .scope = s->scope, .file = s->file, .line = s->line });
			last = &o->lines.at[o->lines.n - 1];
		}
		spans_add(&last->spans, s->vaddr, s->vaddr + s->len);
	}
	if (o->lines.n)
		qsort(o->lines.at, o->lines.n, sizeof(*o->lines.at), struct_print_compare_lines);
}

static void outline_done(struct outline *o)
{
	structure_done(&o->structure);
	vec_done(&o->spans);
	vec_done(&o->first_child);
	vec_done(&o->next_sibling);
	vec_done(&o->n_pieces);
	vec_done(&o->sorted);
	vec_done(&o->lines);
}

static void tally(struct struct_tally *tally, const struct structure *structure)
{
	tally->n_functions++;
	for (size_t i = 0; i < structure->scopes.n; i++) {
		tally->n_loops += structure->scopes.at[i].kind == SCOPE_LOOP;
		tally->n_inlines += structure->scopes.at[i].kind == SCOPE_INLINE;
	}
}

/* ---- text ---------------------------------------------------------------------------------- */

static const char *struct_print_text_of(const struct outline *o, uint32_t id)
{
	return structure_entry_text(o->print->entry, id);
}

static void struct_print_place(const struct outline *o, uint32_t file, uint32_t line, uint32_t end_line)
{
	if (!line)
		return;
	putc(' ', o->to);
	cmd_print_name(o->to, struct_print_base_name(struct_print_text_of(o, file)));
	fprintf(o->to, ":%u", line);
	if (end_line > line)
		fprintf(o->to, "-%u", end_line);
}

static void print_flags(const struct outline *o, uint32_t flags)
{
	if (flags & SCOPE_IRREDUCIBLE)
		fputs(" [irreducible]", o->to);
	if (flags & SCOPE_COMPILER_MADE)
		fputs(" [compiler-made]", o->to);
	if (flags & SCOPE_VECTOR)
		fputs(" [vector]", o->to);
	if (flags & SCOPE_UNROLLED)
		fputs(" [unrolled]", o->to);
	if (flags & SCOPE_SCHEDULE)
		fputs(" [schedule]", o->to);
}

static void print_spans(const struct outline *o, const struct spans *spans)
{
	for (uint32_t i = 0; i < spans->n && i < MAX_SPANS; i++)
		fprintf(o->to, "%s0x%llx-0x%llx", i ? ", " : "  ", (unsigned long long)spans->at[i].start,
			(unsigned long long)spans->at[i].end);
	if (spans->n > MAX_SPANS)
		fprintf(o->to, " and %u more", spans->n - MAX_SPANS);
}

static void print_scope(const struct outline *o, uint32_t index)
{
	const struct static_scope *scope = &o->structure.scopes.at[index];

	if (scope->kind == SCOPE_FUNCTION) {
		cmd_print_name(o->to, struct_print_text_of(o, scope->name));
		struct_print_place(o, scope->file, scope->line, scope->end_line);
	} else if (scope->kind == SCOPE_INLINE) {
		fputs("inlined ", o->to);
		cmd_print_name(o->to, struct_print_text_of(o, scope->name));
		struct_print_place(o, scope->file, scope->line, 0);
		if (scope->call_line) {
			fputs(" at", o->to);
			struct_print_place(o, scope->call_file, scope->call_line, 0);
		}
	} else if (scope->line) {
		fputs("loop", o->to);
		struct_print_place(o, scope->file, scope->line, scope->end_line);
	} else {
		bool is_before = scope->vaddr < o->structure.function; /* in cold code */
		uint64_t away = is_before ? o->structure.function - scope->vaddr
					  : scope->vaddr - o->structure.function;
		fputs("loop at ", o->to);
		cmd_print_name(o->to, struct_print_text_of(o, o->structure.scopes.at[0].name));
		fprintf(o->to, "%c0x%llx", is_before ? '-' : '+', (unsigned long long)away);
	}
	print_flags(o, scope->flags);
	if (o->n_pieces.at[index] > 1)
		fprintf(o->to, " (%u pieces)", o->n_pieces.at[index]);
	print_spans(o, &o->spans.at[index]);
	putc('\n', o->to);
}

static void print_pieces(const struct outline *o, uint32_t scope, unsigned depth)
{
	for (size_t i = 0; i < o->structure.pieces.n; i++) {
		const struct loop_piece *piece = &o->structure.pieces.at[i];
		if (piece->scope != scope)
			continue;
		fprintf(o->to, "%*spiece at 0x%llx, %u blocks", (int)depth * 2, "",
			(unsigned long long)piece->header, piece->n_blocks);
		print_flags(o, piece->flags);
		putc('\n', o->to);
	}
}

static void print_lines(const struct outline *o, uint32_t scope, unsigned depth)
{
	size_t at = search_first(i, o->lines.n, o->lines.at[i].scope >= scope);

	for (; at < o->lines.n && o->lines.at[at].scope == scope; at++) {
		fprintf(o->to, "%*sline", (int)depth * 2, "");
		struct_print_place(o, o->lines.at[at].file, o->lines.at[at].line, 0);
		print_spans(o, &o->lines.at[at].spans);
		putc('\n', o->to);
	}
}

/* Scopes below one, depth first; STRUCTURE_MAX_DEPTH bounds the depth. */
static void print_below(const struct outline *o, uint32_t index, unsigned depth)
{
	fprintf(o->to, "%*s", (int)depth * 2, "");
	print_scope(o, index);
	if (o->print->pieces && o->n_pieces.at[index] > 1)
		print_pieces(o, index, depth + 1);
	print_lines(o, index, depth + 1);
	for (uint32_t i = o->first_child.at[index]; i != NONE; i = o->next_sibling.at[i])
		print_below(o, i, depth + 1);
}

/* The position of a structure in the outline. */
struct position {
	const char *file; /* "" last */
	uint32_t line;
	uint64_t vaddr;
	size_t index;
};

static int compare_positions(const void *left, const void *right)
{
	const struct position *a = left, *b = right;

	if (!a->file[0] != !b->file[0])
		return a->file[0] ? -1 : 1;
	int order = strcmp(a->file, b->file);
	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static int compare_vaddrs(const void *left, const void *right)
{
	const struct position *a = left, *b = right;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

typedef VEC(struct position) positions;

static positions sorted_positions(struct outline *o, int (*compare)(const void *, const void *))
{
	positions order = { 0 };

	for (size_t i = 0; i < structure_entry_count(o->print->entry); i++) {
		structure_entry_get(o->print->entry, i, &o->structure);
		const struct static_scope *self = &o->structure.scopes.at[0];
		vec_push(&order, (struct position){ struct_print_text_of(o, self->file), self->line,
						    o->structure.function, i });
	}
	if (order.n)
		qsort(order.at, order.n, sizeof(*order.at), compare);
	return order;
}

static void print_file(FILE *to, const char *file)
{
	fputs(file[0] ? "  file " : "  no file known", to);
	cmd_print_name(to, file);
	putc('\n', to);
}

struct struct_tally struct_print_text(const struct struct_print *print, FILE *to)
{
	struct outline o = { .print = print, .to = to };
	struct struct_tally sum = { 0 };
	positions order = sorted_positions(&o, compare_positions);
	const char *file = NULL;

	fputs("module ", to);
	cmd_print_name(to, print->module);
	putc('\n', to);
	for (size_t i = 0; i < order.n; i++) {
		if (!file || strcmp(file, order.at[i].file) != 0)
			print_file(to, order.at[i].file);
		file = order.at[i].file;
		structure_entry_get(print->entry, order.at[i].index, &o.structure);
		struct_print_find_spans(&o);
		find_children(&o);
		struct_print_find_lines(&o);
		print_below(&o, 0, 2);
		tally(&sum, &o.structure);
	}
	outline_done(&o);
	vec_done(&order);
	return sum;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void write_scope(struct json *json, const struct outline *o, uint32_t index)
{
	static const char *const kinds[] = {
		[SCOPE_FUNCTION] = "function", [SCOPE_INLINE] = "inline", [SCOPE_LOOP] = "loop"
	};
	const struct static_scope *scope = &o->structure.scopes.at[index];

	json_object(json);
	json_int_of(json, "parent", index ? (int64_t)scope->parent : -1);
	json_text_of(json, "kind", kinds[scope->kind]);
	json_text_of(json, "name", struct_print_text_of(o, scope->name));
	json_text_of(json, "file", struct_print_text_of(o, scope->file));
	json_uint_of(json, "line", scope->line);
	json_uint_of(json, "end_line", scope->end_line);
	json_text_of(json, "call_file", struct_print_text_of(o, scope->call_file));
	json_uint_of(json, "call_line", scope->call_line);
	json_uint_of(json, "vaddr", scope->vaddr);
	json_uint_of(json, "flags", scope->flags);
	if (scope->kind == SCOPE_LOOP)
		json_uint_of(json, "pieces", o->n_pieces.at[index]);
	json_end_object(json);
}

static void write_range(struct json *json, uint64_t start, uint64_t len, uint32_t scope)
{
	json_array(json);
	json_uint(json, start);
	json_uint(json, len);
	json_uint(json, scope);
	json_end_array(json);
}

static void write_pieces(struct json *json, const struct structure *s)
{
	json_name(json, "pieces");
	json_array(json);
	for (size_t i = 0; i < s->pieces.n; i++) {
		json_object(json);
		json_uint_of(json, "scope", s->pieces.at[i].scope);
		json_uint_of(json, "vaddr", s->pieces.at[i].header);
		json_uint_of(json, "blocks", s->pieces.at[i].n_blocks);
		json_uint_of(json, "flags", s->pieces.at[i].flags);
		json_uint_of(json, "calls", s->pieces.at[i].n_calls);
		json_uint_of(json, "width", s->pieces.at[i].width);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_statements(struct json *json, const struct outline *o)
{
	json_name(json, "statements");
	json_array(json);
	for (size_t i = 0; i < o->structure.statements.n; i++) {
		const struct statement *statement = &o->structure.statements.at[i];
		json_array(json);
		json_uint(json, statement->vaddr);
		json_uint(json, statement->len);
		json_uint(json, statement->scope);
		json_text(json, struct_print_text_of(o, statement->file));
		json_uint(json, statement->line);
		json_end_array(json);
	}
	json_end_array(json);
}

static void write_structure(struct json *json, const struct outline *o)
{
	const struct structure *s = &o->structure;
	const struct static_scope *self = &s->scopes.at[0];

	json_object(json);
	json_text_of(json, "module", o->print->module);
	json_text_of(json, "function", struct_print_text_of(o, self->name));
	json_text_of(json, "linkage", struct_print_text_of(o, self->linkage ? self->linkage : self->name));
	json_uint_of(json, "vaddr", s->function);
	json_name(json, "extents");
	json_array(json);
	for (size_t i = 0; i < s->extents.n; i++) {
		json_array(json);
		json_uint(json, s->extents.at[i].start);
		json_uint(json, s->extents.at[i].end - s->extents.at[i].start);
		json_end_array(json);
	}
	json_end_array(json);
	json_name(json, "scopes");
	json_array(json);
	for (uint32_t i = 0; i < s->scopes.n; i++)
		write_scope(json, o, i);
	json_end_array(json);
	json_name(json, "ranges");
	json_array(json);
	for (size_t i = 0; i < s->ranges.n; i++)
		write_range(json, s->ranges.at[i].start, s->ranges.at[i].len, s->ranges.at[i].scope);
	json_end_array(json);
	if (o->print->pieces)
		write_pieces(json, s);
	if (o->print->statements)
		write_statements(json, o);
	json_end_object(json);
	json_line(json);
}

struct struct_tally struct_print_json(const struct struct_print *print, FILE *to)
{
	struct outline o = { .print = print, .to = to };
	struct struct_tally sum = { 0 };
	positions order = sorted_positions(&o, compare_vaddrs);
	struct json json;

	json_init(&json, to);
	for (size_t i = 0; i < order.n; i++) {
		structure_entry_get(print->entry, order.at[i].index, &o.structure);
		find_children(&o);
		write_structure(&json, &o);
		tally(&sum, &o.structure);
	}
	outline_done(&o);
	vec_done(&order);
	return sum;
}
