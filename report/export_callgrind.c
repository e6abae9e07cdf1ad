/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgrind: a call graph with costs by line, for KCachegrind and callgrind_annotate.
 *
 * A function is what the readers take for one: an image, a file and a name. A call carries what was
 * spent in it, but only where the called function does not already stand further out on the path: so
 * what arrives at a function from all its callers is its total, and recursion counts once. That holds
 * only if the outermost functions have a caller too: "total" calls them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/children.h"
#include "report/document.h"
#include "report/exporter.h"
#include "report/limit.h"

#define SETTLE_LEAST (1u << 18) /* entries: a few megabytes */
#define NO_CALL 0 /* in entry.callee: the cost is the function's own; else the callee + 1 */

/* One number of a cost line or of a call. */
struct entry {
	uint32_t function, callee, file, line, column;
	uint64_t value;
};

struct function {
	uint32_t frame; /* one of those it stands for */
	uint32_t file;  /* the frame's, else the first in which it has costs */
	bool is_named;  /* its number was given its name */
};

struct callgrind {
	FILE *to;
	const struct document *document;
	uint32_t n_columns; /* the metrics, and after them the number of calls */
	uint32_t first;     /* metric of the first column: readers sort by it */
	uint32_t *function; /* of each frame */
	struct function *functions;
	bool *is_named_file, *is_named_image;
	uint32_t *active; /* of each function: how often it stands on the current path */
	VEC(uint32_t) path;
	VEC(struct entry) entries;
	size_t settle_at; /* so many entries are added up before more come */
};

/* ---- functions -------------------------------------------------------------------------------- */

static int by_identity(const void *left, const void *right, void *context)
{
	const struct document *document = context;
	uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
	const struct document_frame *a = &document->frames.at[l], *b = &document->frames.at[r];
	char a_label[512], b_label[512];

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return strcmp(document_frame_label(document, l, a_label, sizeof(a_label)),
		      document_frame_label(document, r, b_label, sizeof(b_label)));
}

/* Numbers functions in the order of their first frames, so that the file reads as the profile does. */
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
				(struct function){ .frame = i, .file = document->frames.at[i].file };
		c->function[i] = least == i ? n_functions++ : c->function[least];
	}
	free(order);
	free(same);
}

/* ---- costs ------------------------------------------------------------------------------------ */

static uint32_t column_of(const struct callgrind *c, uint32_t metric)
{
	return metric == c->first ? 0 : metric < c->first ? metric + 1 : metric;
}

static uint32_t metric_of(const struct callgrind *c, uint32_t column)
{
	return column == 0 ? c->first : column <= c->first ? column - 1 : column;
}

static int compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = compare(a->function, b->function);

	order = order ? order : compare(a->callee, b->callee);
	order = order ? order : compare(a->file, b->file);
	order = order ? order : compare(a->line, b->line);
	return order ? order : compare(a->column, b->column);
}

static bool is_same_place(const struct entry *a, const struct entry *b)
{
	return a->function == b->function && a->callee == b->callee && a->file == b->file &&
	       a->line == b->line;
}

/* Entries of one place and column become one: the graph is much smaller than the tree it is made of. */
static void settle(struct callgrind *c)
{
	size_t n = 0;

	if (c->entries.n)
		qsort(c->entries.at, c->entries.n, sizeof(*c->entries.at), by_place);
	for (size_t i = 0; i < c->entries.n; i++) {
		if (n && by_place(&c->entries.at[n - 1], &c->entries.at[i]) == 0)
			c->entries.at[n - 1].value += c->entries.at[i].value;
		else
			c->entries.at[n++] = c->entries.at[i];
	}
	c->entries.n = n;
	c->settle_at = 2 * n > SETTLE_LEAST ? 2 * n : SETTLE_LEAST;
}

static void add_entry(struct callgrind *c, struct entry entry)
{
	if (c->entries.n >= c->settle_at)
		settle(c);
	vec_push(&c->entries, entry);
}

static void add_call(struct callgrind *c, uint32_t node, bool is_recursive)
{
	const struct document *document = c->document;
	const struct scope *scope = &document->tree->scopes.at[document->scope.at[node]];
	const struct document_frame *caller =
		&document->frames.at[document->frame.at[document->parent.at[node]]];
	uint32_t m = document->n_metrics;
	struct entry entry = { .function = c->function[document->frame.at[document->parent.at[node]]],
			       .callee = c->function[document->frame.at[node]] + 1,
			       .file = caller->file,
			       .line = caller->line };

	if (scope->call_line && caller->image != IMAGE_NONE) { /* the root and its like have no lines */
		entry.file = scope->call_file;
		entry.line = scope->call_line;
	}
	for (uint32_t k = 0; k < m; k++) {
		entry.column = column_of(c, k);
		entry.value = is_recursive ? 0 : document->inclusive[node * m + k];
		add_entry(c, entry);
	}
	entry.column = m;
	entry.value = document->inclusive[node * m];
	add_entry(c, entry);
}

static void visit(void *context, uint32_t node, uint32_t depth)
{
	struct callgrind *c = context;
	uint32_t function = c->function[c->document->frame.at[node]];

	while (c->path.n > depth)
		c->active[c->path.at[--c->path.n]]--;
	if (node != 0 && c->document->inclusive[node * c->document->n_metrics])
		add_call(c, node, c->active[function] > 0);
	c->active[function]++;
	vec_push(&c->path, function);
}

static void add_calls(struct callgrind *c)
{
	const struct document *document = c->document;
	struct children children;

	children_init(&children, document->parent.at, document->scope.n, document->inclusive,
		      document->n_metrics);
	children_walk(&children, document->scope.n, visit, c);
	children_done(&children);
}

/* What lines do not account for is told at the line the function begins. */
static void add_own(struct callgrind *c)
{
	const struct document *document = c->document;
	size_t m = document->n_metrics, n = document->scope.n * m;
	uint64_t *rest = alloc_resize(NULL, n, sizeof(uint64_t));

	if (n)
		memcpy(rest, document->self, n * sizeof(uint64_t));
	for (size_t i = 0; i < document->points.n; i++) {
		struct document_point p = document_point(document, i);
		rest[p.node * m + p.metric] -= p.value;
		add_entry(c, (struct entry){ c->function[document->frame.at[p.node]], NO_CALL,
						      p.file, p.line, column_of(c, p.metric), p.value });
	}
	for (size_t i = 0; i < n; i++) {
		const struct document_frame *f = &document->frames.at[document->frame.at[i / m]];
		if (rest[i])
			add_entry(c,
				 (struct entry){ c->function[document->frame.at[i / m]], NO_CALL, f->file,
						 f->line, column_of(c, (uint32_t)(i % m)), rest[i] });
	}
	free(rest);
}

/* Every place has a file if one is known at all: readers take a change of file for another function. */
static void settle_files(struct callgrind *c)
{
	for (size_t i = 0; i < c->entries.n; i++) {
		struct function *f = &c->functions[c->entries.at[i].function];
		f->file = f->file ? f->file : c->entries.at[i].file;
	}
	for (size_t i = 0; i < c->entries.n; i++)
		if (!c->entries.at[i].file)
			c->entries.at[i].file = c->functions[c->entries.at[i].function].file;
	settle(c);
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* "key=(number) name" the first time, "key=(number)" from then on. */
static void write_name(struct callgrind *c, const char *key, uint32_t number, bool *is_named,
		       const char *name)
{
	fprintf(c->to, "%s=(%u)", key, number);
	if (!*is_named) {
		fputc(' ', c->to);
		for (name = *name ? name : "???"; *name; name++)
			fputc((unsigned char)*name < ' ' ? ' ' : *name, c->to);
	}
	fputc('\n', c->to);
	*is_named = true;
}

static void write_file(struct callgrind *c, const char *key, uint32_t file)
{
	write_name(c, key, file + 1, &c->is_named_file[file], profile_text(c->document->profile, file));
}

static void write_function(struct callgrind *c, uint32_t function, const char *const keys[3])
{
	const struct profile *profile = c->document->profile;
	struct function *f = &c->functions[function];
	const struct document_frame *frame = &c->document->frames.at[f->frame];
	uint32_t image = frame->image < profile->images.n ? frame->image : (uint32_t)profile->images.n;
	char label[512];

	write_name(c, keys[0], image + 1, &c->is_named_image[image],
		   image < profile->images.n ? profile_text(profile, profile->images.at[image].path) : "");
	write_file(c, keys[1], f->file);
	write_name(c, keys[2], function + 1, &f->is_named,
		   document_frame_label(c->document, f->frame, label, sizeof(label)));
}

static void write_costs(struct callgrind *c, uint32_t line, const uint64_t *columns)
{
	fprintf(c->to, "%u", line);
	for (uint32_t k = 0; k + 1 < c->n_columns; k++)
		fprintf(c->to, " %llu", (unsigned long long)columns[k]);
	fputc('\n', c->to);
}

static void write_place(struct callgrind *c, const struct entry *place, uint32_t *file,
			const uint64_t *columns)
{
	static const char *const callee_keys[3] = { "cob", "cfi", "cfn" };
	uint32_t own_file = c->functions[place->function].file;

	if (place->file != *file)
		write_file(c, place->file == own_file ? "fe" : "fi", place->file);
	*file = place->file;
	if (place->callee != NO_CALL) {
		uint32_t callee = place->callee - 1;
		uint64_t calls = columns[c->n_columns - 1];
		write_function(c, callee, callee_keys);
		/* Readers drop a call that was made no time at all. */
		fprintf(c->to, "calls=%llu %u\n", (unsigned long long)(calls ? calls : 1),
			c->document->frames.at[c->functions[callee].frame].line);
	}
	write_costs(c, place->line, columns);
}

static void write_body(struct callgrind *c)
{
	static const char *const keys[3] = { "ob", "fl", "fn" };
	uint64_t *columns = alloc_zero(c->n_columns, sizeof(uint64_t));
	uint32_t file = 0;

	for (size_t i = 0; i < c->entries.n;) {
		const struct entry *place = &c->entries.at[i];
		if (i == 0 || place[-1].function != place->function) {
			fputc('\n', c->to);
			write_function(c, place->function, keys);
			file = c->functions[place->function].file;
		}
		memset(columns, 0, c->n_columns * sizeof(uint64_t));
		for (; i < c->entries.n && is_same_place(place, &c->entries.at[i]); i++)
			columns[c->entries.at[i].column] += c->entries.at[i].value;
		write_place(c, place, &file, columns);
	}
	free(columns);
}

/* Event names are words. */
static void write_event_name(FILE *to, const char *name)
{
	for (; *name; name++)
		fputc(strchr(" -:=,.;\t\n\r", *name) ? '_' : *name, to);
}

static void write_line_of(FILE *to, const char *key, const char *text)
{
	fprintf(to, "%s: ", key);
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
	fputc('\n', to);
}

static void write_totals(struct callgrind *c, const char *key)
{
	fprintf(c->to, "%s:", key);
	for (uint32_t k = 0; k < c->document->n_metrics; k++)
		fprintf(c->to, " %llu", (unsigned long long)c->document->inclusive[metric_of(c, k)]);
	fputc('\n', c->to);
}

static void write_header(struct callgrind *c)
{
	const struct profile *profile = c->document->profile;
	struct text folded = { 0 };

	fputs("# callgrind format\nversion: 1\n", c->to);
	fprintf(c->to, "creator: cpprof %s\n", profile_text(profile, profile->run.tool_version));
	write_line_of(c->to, "cmd", profile_text(profile, profile->run.command_line));
	fputs("desc: calls are samples in which the call was under way\n", c->to);
	limit_note(c->document->tree, profile, &folded);
	if (folded.len)
		fprintf(c->to, "desc: %s\n", folded.at);
	text_done(&folded);
	fputs("positions: line\n", c->to);
	for (uint32_t k = 0; k < c->document->n_metrics; k++) {
		const struct profile_metric *metric = &profile->metrics.at[metric_of(c, k)];
		fputs("event: ", c->to);
		write_event_name(c->to, profile_text(profile, metric->name));
		fprintf(c->to, " : %s [%s]\n", profile_text(profile, metric->name),
			profile_text(profile, metric->unit));
	}
	fputs("events:", c->to);
	for (uint32_t k = 0; k < c->document->n_metrics; k++) {
		fputc(' ', c->to);
		write_event_name(c->to, profile_text(profile, profile->metrics.at[metric_of(c, k)].name));
	}
	fputc('\n', c->to);
	write_totals(c, "summary");
}

static int write_callgrind(const struct export_input *input, const struct export_options *options, FILE *to,
			   struct diag *diag)
{
	struct document document;

	(void)diag;
	document_init(&document, input->profile, input->tree);
	struct callgrind c = {
		.to = to, .document = &document, .n_columns = document.n_metrics + 1, .first = options->metric
	};
	c.function = alloc_zero(document.frames.n, sizeof(uint32_t));
	c.functions = alloc_zero(document.frames.n, sizeof(struct function));
	c.active = alloc_zero(document.frames.n, sizeof(uint32_t));
	c.is_named_file = alloc_zero(input->profile->strings.strings.n + 1, sizeof(bool));
	c.is_named_image = alloc_zero(input->profile->images.n + 1, sizeof(bool));
	number_functions(&c);
	add_calls(&c);
	add_own(&c);
	settle_files(&c);
	write_header(&c);
	write_body(&c);
	fputc('\n', to);
	write_totals(&c, "totals");
	free(c.function);
	free(c.functions);
	free(c.active);
	free(c.is_named_file);
	free(c.is_named_image);
	vec_done(&c.path);
	vec_done(&c.entries);
	document_done(&document);
	return 0;
}

const struct exporter exporter_callgrind = {
	.name = "callgrind",
	.suffixes = ".callgrind callgrind.out",
	.summary = "a call graph with lines, for KCachegrind and callgrind_annotate",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_METRICS | CARRIES_LINES | CARRIES_CALL_SITES,
	.needs_lines = true,
	.write = write_callgrind,
};
