/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/annotate_text.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/text.h"
#include "binary/isa/isa.h"
#include "report/annotate/insn_loops.h"
#include "report/annotate/insn_text.h"
#include "report/annotate/source_loops.h"
#include "report/annotate/source_range.h"
#include "report/names.h"
#include "report/number.h"
#include "report/shorten.h"
#include "report/spread.h"

#define MAX_METRIC_COLUMNS 16

struct writer_state {
	const struct profile *profile;
	const struct annotation *a;
	const struct annotate_text_options *o;
	struct text *to;
	source_loops loops;
	struct names *names;
	struct function_parts parts;
	struct map found; /* the first of a function's parts -> index in code_loops */
	VEC(struct insn_loops *) code_loops;
};

/* A function's name, shortened for display. */
static void annotate_text_put_function(const struct writer_state *w, struct line *line, enum tint tint,
				       uint32_t name)
{
	CLEANUP(text_done) struct text shown = { 0 };

	names_shorten(w->names, intern_text(&w->profile->strings, name), SHORTEN_COLUMNS, &shown);
	line_name(line, tint, shown.at ? shown.at : "");
}

/* Foreign text, escaped. */
static void annotate_text_put_name(struct writer_state *w, const char *name)
{
	style_safe(w->to, &w->o->style, name);
}

static const char *annotate_text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint32_t main_metric(const struct writer_state *w)
{
	return w->o->metrics[0];
}

static const char *annotate_text_metric_name(const struct writer_state *w, size_t i)
{
	return intern_text(&w->profile->strings, w->profile->metrics.at[w->o->metrics[i]].name);
}

/* As wide as the heading, within limits. */
static int metric_columns(const struct writer_state *w, size_t i)
{
	int len = (int)strlen(annotate_text_metric_name(w, i));

	return len < 7 ? 7 : len > MAX_METRIC_COLUMNS ? MAX_METRIC_COLUMNS : len;
}

/* " 12.3% ", or as many spaces if it is 0. */
static void put_share(const struct writer_state *w, struct line *line, const uint64_t *values,
		      uint32_t metric, int columns)
{
	char share[NUMBER_MAX];
	double percent = values ? number_share(values[metric], w->a->all[metric]) : 0;
	enum tint tint = percent >= 5 ? TINT_HOT : percent >= 1 ? TINT_WARM : TINT_PLAIN;

	line_printf(line, tint, "%*s ", columns,
		    values && values[metric] ? number_percent(percent, share) : "");
}

static struct interval annotate_text_interval(const struct writer_state *w, const uint64_t *costs)
{
	uint32_t metric = main_metric(w), rounds = w->a->n_metrics - CCT_ROUNDS;
	double spread = spread_factor(costs + rounds, w->a->all + rounds, CCT_ROUNDS);

	return number_interval_of_cost(costs[metric], w->a->all[metric], costs[0], w->a->all[0], spread);
}

/* Half the width of the 95 % interval of a self cost. */
static void put_interval(const struct writer_state *w, struct line *line, const uint64_t *self)
{
	uint32_t metric = main_metric(w);

	if (!self || !self[metric]) {
		line_printf(line, TINT_PLAIN, "%6s ", "");
		return;
	}
	struct interval i = annotate_text_interval(w, self);
	line_printf(line, TINT_DIM, "%6.1f ", (i.high - i.low) / 2);
}

static void put_costs(const struct writer_state *w, struct line *line, const uint64_t *self,
		      const uint64_t *calls)
{
	put_share(w, line, self, main_metric(w), 7);
	put_interval(w, line, self);
	put_share(w, line, calls, main_metric(w), 7);
	for (size_t i = 1; i < w->o->n_metrics; i++)
		put_share(w, line, self, w->o->metrics[i], metric_columns(w, i));
}

/* The headings of these columns; returns their width. */
static int put_heading(const struct writer_state *w)
{
	size_t start = w->to->len;

	text_printf(w->to, "%7s %6s %7s ", "code", "+-", "calls");
	for (size_t i = 1; i < w->o->n_metrics; i++) {
		struct text name = { 0 };
		style_safe(&name, &w->o->style, annotate_text_metric_name(w, i));
		text_printf(w->to, "%*.*s ", metric_columns(w, i), metric_columns(w, i),
			    name.at ? name.at : "");
		text_done(&name);
	}
	return (int)(w->to->len - start);
}

/* Loops that contain the line: a corner at their first and last line, a bar between. */
static void put_loop_marks(const struct writer_state *w, struct line *to, const struct loop_marks *marks)
{
	static const char *const plain[] = { "/", "|", "\\" }, *const drawn[] = { "┌", "│", "└" };

	for (unsigned i = 0; i < marks->n; i++)
		line_printf(to, TINT_DIM, "%s", (w->o->style.utf8 ? drawn : plain)[marks->marks[i]]);
	line_printf(to, TINT_PLAIN, "%*s ", (int)(3 - (marks->n < 3 ? marks->n : 3)), "");
}

/* Source is foreign text; tabs are eight columns wide. */
static void annotate_text_put_code(struct line *to, const char *source)
{
	char plain[512];
	size_t n = 0;

	for (; *source && n + 9 < sizeof(plain); source++) {
		if (*source != '\t')
			plain[n++] = *source;
		else
			do
				plain[n++] = ' ';
			while (n % 8);
	}
	plain[n] = '\0';
	line_name(to, TINT_PLAIN, plain);
}

static const struct annotated_line *find_line(const struct annotation *a, uint32_t line)
{
	size_t at = search_first(i, a->lines.n, a->lines.at[i].line >= line);

	return at < a->lines.n && a->lines.at[at].line == line ? &a->lines.at[at] : NULL;
}

static void put_line(struct writer_state *w, uint32_t number, const struct loop_marks *marks,
		     const char *source)
{
	const struct annotated_line *line = find_line(w->a, number);
	struct line to = line_start(w->to, &w->o->style);
	char share[NUMBER_MAX];

	put_costs(w, &to, line ? line->self : NULL, line ? line->calls : NULL);
	line_printf(&to, TINT_DIM, "%5u ", number);
	put_loop_marks(w, &to, marks);
	annotate_text_put_code(&to, source);
	if (line && line->inlined_name && line->inlined[main_metric(w)]) {
		double percent = number_share(line->inlined[main_metric(w)], w->a->all[main_metric(w)]);
		line_printf(&to, TINT_DIM, "   <- inlined ");
		annotate_text_put_function(w, &to, TINT_DIM, line->inlined_name);
		line_printf(&to, TINT_DIM, " %s", number_percent(percent, share));
	}
	line_end(&to);
}

static void put_source_heading(struct writer_state *w, const char *path, int *ret_columns)
{
	*ret_columns = put_heading(w) + 10;
	text_printf(w->to, " line     ");
	annotate_text_put_name(w, annotate_text_base_name(path));
	text_printf(w->to, "\n");
}

static void put_lines(struct writer_state *w, const struct source_text *source, int columns)
{
	struct source_range range;

	source_range_find(w->a, main_metric(w), w->o->all, source->lines.n, &range);
	CLEANUP(freep) struct loop_marks *marks = alloc_zero(range.shown.n + 1, sizeof(*marks));
	source_loops_mark(&w->loops, range.shown.at, range.shown.n, marks);
	uint64_t next = range.first;
	for (size_t i = 0; i < range.shown.n; i++) {
		uint32_t line = range.shown.at[i];
		if (line != next)
			text_printf(w->to, "%*s...\n", columns, "");
		put_line(w, line, &marks[i],
			 line <= source->lines.n && line ? source->lines.at[line - 1] : "");
		next = (uint64_t)line + 1;
	}
	if (next <= range.last)
		text_printf(w->to, "%*s...\n", columns, "");
	source_range_done(&range);
}

static void put_source(struct writer_state *w)
{
	const struct function_map *map = w->a->map;
	const char *path = intern_text(&w->profile->strings, map->decl_file);
	struct source_text source = { 0 };
	int columns;

	if (!map->decl_file) {
		text_printf(w->to, "its source is not known (no debug information)%s\n",
			    w->a->codes.n ? "; its instructions:" : "");
		return;
	}
	if (source_text_read(path, w->o->sources, &source) < 0) {
		text_printf(w->to, "the text of '");
		annotate_text_put_name(w, path);
		text_printf(w->to, "' was not found");
		if (w->o->sources->has_user && w->o->sources->user.uid)
			text_printf(w->to, ", or user %u may not read it", w->o->sources->user.uid);
		text_printf(w->to, "; --source-dir or --source-map may help\n");
	}
	put_source_heading(w, path, &columns);
	put_lines(w, &source, columns);
	source_text_done(&source);
}

/* ---- instructions ------------------------------------------------------------------------------------- */

struct code_state {
	const struct annotated_code *code;
	const struct annotated_insn *insns;
	const struct isa *isa;
	struct bytes bytes;
	const struct insn_loops *loops;
};

struct loop_list {
	uint32_t scopes[MAX_LOOP_MARKS]; /* outermost first */
	unsigned n;
};

/* The loops around an instruction, the innermost ones if there are too many; none beyond the ends of the
 * code. */
static struct loop_list loops_around(const struct code_state *c, size_t insn)
{
	struct loop_list loops = { .n = 0 };
	unsigned depth = 0;

	if (insn >= c->code->n)
		return loops;
	for (uint32_t at = insn_loops_at(c->loops, c->code->map->vaddr + c->insns[insn].offset);
	     at && loops.n < MAX_LOOP_MARKS && depth++ < STRUCTURE_MAX_DEPTH;
	     at = c->loops->structure->scopes.at[at].parent) {
		if (c->loops->structure->scopes.at[at].kind != SCOPE_LOOP)
			continue;
		memmove(&loops.scopes[1], &loops.scopes[0], loops.n * sizeof(loops.scopes[0]));
		loops.scopes[0] = at;
		loops.n++;
	}
	return loops;
}

static bool has_loop(const struct loop_list *loops, uint32_t scope)
{
	for (unsigned i = 0; i < loops->n; i++)
		if (loops->scopes[i] == scope)
			return true;
	return false;
}

static void put_insn_marks(const struct writer_state *w, struct line *to, const struct code_state *c,
			   size_t insn)
{
	static const char *const plain[] = { "/", "|", "\\", "-" }, *const drawn[] = { "┌", "│", "└", "╶" };
	const char *const *marks = w->o->style.utf8 ? drawn : plain;
	struct loop_list here = loops_around(c, insn), before = loops_around(c, insn ? insn - 1 : SIZE_MAX),
			 after = loops_around(c, insn + 1);

	for (unsigned i = 0; i < here.n; i++) {
		bool was = has_loop(&before, here.scopes[i]), stays = has_loop(&after, here.scopes[i]);
		line_printf(to, TINT_DIM, "%s", marks[was ? (stays ? 1 : 2) : (stays ? 0 : 3)]);
	}
	line_printf(to, TINT_PLAIN, "%*s ", (int)(3 - (here.n < 3 ? here.n : 3)), "");
}

static void put_insn(const struct writer_state *w, const struct code_state *c, size_t i)
{
	const struct annotated_insn *insn = &c->insns[i];
	uint64_t vaddr = c->code->map->vaddr + insn->offset;
	struct line to = line_start(w->to, &w->o->style);
	CLEANUP(text_done) struct text text = { 0 };

	insn_text(w->profile, c->code->map->image, c->isa, bytes_from(c->bytes, insn->offset), vaddr, &text);
	put_costs(w, &to, insn->self, insn->calls);
	line_printf(&to, TINT_DIM, "%8llx ", (unsigned long long)vaddr);
	put_insn_marks(w, &to, c, i);
	line_name(&to, TINT_PLAIN, text.at);
	line_end(&to);
}

/* A heading above code that is not the function's own: which function it belongs to. */
static void put_code_heading(struct writer_state *w, const struct annotated_code *code, int columns)
{
	char share[NUMBER_MAX];

	if (code->map == w->a->map)
		return;
	struct line to = line_start(w->to, &w->o->style);
	line_printf(&to, TINT_PLAIN, "%*s", columns + 1, "");
	line_printf(&to, TINT_PLAIN, w->a->map == &w->a->inlined ? "inlined in " : "split off as ");
	annotate_text_put_function(w, &to, TINT_BOLD, code->map->name);
	line_printf(&to, TINT_PLAIN, "  [");
	line_name(&to, TINT_PLAIN,
		  annotate_text_base_name(
			  intern_text(&w->profile->strings, w->profile->images.at[code->map->image].path)));
	line_printf(
		&to, TINT_PLAIN, "], %s",
		number_percent(number_share(code->self[main_metric(w)], w->a->all[main_metric(w)]), share));
	line_end(&to);
}

/* The loops of the function that the code is a part of: they are looked for once, however many parts it has.
 */
static const struct insn_loops *code_loops_of(struct writer_state *w, const struct function_map *map)
{
	size_t from, to;

	function_parts_find(&w->parts, map->image, map->parent_vaddr, &from, &to);
	uint32_t known = map_find(&w->found, from);
	if (known == MAP_NONE) {
		map_put(&w->found, from, known = (uint32_t)w->code_loops.n);
		vec_push(&w->code_loops, alloc_zero(1, sizeof(struct insn_loops)));
		insn_loops_find(&w->parts, map->image, map->parent_vaddr, w->code_loops.at[known]);
	}
	return w->code_loops.at[known];
}

static void code_loops_done(struct writer_state *w)
{
	for (size_t i = 0; i < w->code_loops.n; i++) {
		insn_loops_done(w->code_loops.at[i]);
		free(w->code_loops.at[i]);
	}
	vec_done(&w->code_loops);
	map_done(&w->found);
	function_parts_done(&w->parts);
}

static void put_code_of(struct writer_state *w, const struct annotated_code *code, int columns)
{
	const struct function_map *map = code->map;
	struct code_state c = { .code = code,
				.insns = &w->a->insns.at[code->first],
				.isa = isa_for_machine(
					(uint16_t)w->profile->images.at[map->image].elf_machine),
				.bytes = profile_code_at(w->profile, map->image, map->vaddr),
				.loops = code_loops_of(w, map) };
	uint32_t line = 0, file = 0;

	put_code_heading(w, code, columns);
	for (size_t i = 0; i < code->n; i++) {
		const struct annotated_insn *insn = &c.insns[i];
		if (i && insn->offset != insn[-1].offset + insn[-1].len)
			text_printf(w->to, "%*s ...\n", columns, "");
		if (insn->line && (insn->line != line || insn->file != file)) {
			line = insn->line;
			file = insn->file;
			text_printf(w->to, "%*s ; ", columns, "");
			annotate_text_put_name(
				w, annotate_text_base_name(intern_text(&w->profile->strings, file)));
			text_printf(w->to, ":%u\n", line);
		}
		put_insn(w, &c, i);
	}
}

/* Most samples of a timer are attributed to an instruction after the one that took the time. */
static bool is_timed(const struct writer_state *w)
{
	const struct profile_metric *metric = &w->profile->metrics.at[main_metric(w)];

	/* Samples are those of the first event. */
	if (metric->event == UINT32_MAX && w->profile->metrics.n > 1)
		metric = &w->profile->metrics.at[1];
	return strcmp(intern_text(&w->profile->strings, metric->unit), "ns") == 0;
}

/* Instructions without costs are only counted, unless all are requested. */
static void put_insns(struct writer_state *w)
{
	size_t left_out = 0;

	function_parts_init(&w->parts, w->profile);
	text_printf(w->to, "\n");
	int columns = put_heading(w);
	text_printf(w->to, " instructions%s\n",
		    is_timed(w) ? " (sampled by a timer: accurate for basic blocks and loops, not for single "
				  "instructions)"
				: " (accurate for single instructions only if the event is precise)");
	if (!w->a->codes.n)
		text_printf(w->to, "the profile does not contain its code\n");
	for (size_t i = 0; i < w->a->codes.n; i++) {
		const struct annotated_code *code = &w->a->codes.at[i];
		if (w->o->all || code->map == w->a->map || code->self[main_metric(w)])
			put_code_of(w, code, columns);
		else
			left_out++;
	}
	if (left_out)
		text_printf(w->to, "%zu more %s without samples; --all shows them\n", left_out,
			    left_out == 1 ? "place" : "places");
	code_loops_done(w);
}

static void put_head(struct writer_state *w)
{
	const struct function_map *map = w->a->map;
	const char *path = intern_text(&w->profile->strings, w->profile->images.at[map->image].path);
	struct line head = line_start(w->to, &w->o->style);

	annotate_text_put_function(w, &head, TINT_BOLD, map->name);
	line_printf(&head, TINT_PLAIN, "  [");
	line_name(&head, TINT_PLAIN, annotate_text_base_name(path));
	line_printf(&head, TINT_PLAIN, map == &w->a->inlined ? "]  all inlined copies" : "]");
	line_end(&head);
}

/* "7.8% (6.2%-9.8%) of cpu-clock itself, 60.5% with what was inlined into it, 61.0% with what it calls" */
static void put_sums(struct writer_state *w)
{
	uint32_t metric = main_metric(w);
	uint64_t own = w->a->own[metric], code = w->a->self[metric], all = w->a->all[metric];
	struct interval interval = annotate_text_interval(w, w->a->own);
	char share[NUMBER_MAX], low[NUMBER_MAX], high[NUMBER_MAX];

	text_printf(w->to, "%s (%s-%s) of ", number_percent(number_share(own, all), share),
		    number_percent(interval.low, low), number_percent(interval.high, high));
	annotate_text_put_name(w, annotate_text_metric_name(w, 0));
	text_printf(w->to, " itself");
	if (code > own)
		text_printf(w->to, ", %s with what was inlined into it",
			    number_percent(number_share(code, all), share));
	text_printf(w->to, ", %s with what it calls\n\n",
		    number_percent(number_share(w->a->total[metric], all), share));
}

void annotate_text(const struct profile *profile, const struct annotation *annotation,
		   const struct annotate_text_options *options, struct text *ret)
{
	struct writer_state w = { .profile = profile, .a = annotation, .o = options, .to = ret };

	w.names = names_new(profile);
	put_head(&w);
	put_sums(&w);
	source_loops_find(profile, annotation->map, annotation->map == &annotation->inlined, &w.loops);
	put_source(&w);
	vec_done(&w.loops);
	if (options->insns || (!annotation->map->decl_file && annotation->codes.n))
		put_insns(&w);
	names_free(w.names);
}
