/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text_loops.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "report/label.h"
#include "report/number.h"

#define HOT_LOOP 5        /* per cent: a loop with at least this self cost is worth a remark */
#define UNEVEN 20         /* per cent above the mean */
#define DETAIL_INDENT 4   /* columns */
#define SOURCE_COLUMNS 60 /* of a source line after other text */
#define REMARK_ROOM 16    /* columns: with fewer left in a row, no remark is started */
#define HOT_LINE 1        /* per cent: cheaper lines are not mentioned in a row */

unsigned loop_facts_doubts(const struct loop_facts *facts, uint64_t total)
{
	bool is_hot = number_share(facts->own, total) >= HOT_LOOP;
	bool is_warm = number_share(facts->share.sum, total) >= HOT_LOOP;
	bool is_body = facts->has_code && facts->code.is_innermost && is_hot;
	const struct structure *structure = facts->code.structure;
	bool is_vector = is_body && (structure->scopes.at[facts->code.scope].flags & SCOPE_VECTOR);

	return (is_body && !is_vector ? DOUBT_NOT_VECTOR : 0u) |
	       (is_body && facts->code.n_calls ? DOUBT_CALLS : 0u) |
	       (is_warm && facts->share.n_threads > 1 && loop_facts_imbalance(facts) >= UNEVEN
			? DOUBT_IMBALANCE
			: 0u);
}

const char *loop_doubt_name(enum loop_doubt doubt)
{
	return doubt == DOUBT_NOT_VECTOR ? "not vectorised"
	       : doubt == DOUBT_CALLS    ? "calls inside"
					 : "imbalance";
}

/* Which of the loops on its line it is: distinguishes rows that look the same. */
static void text_loops_tell_index(const struct loop_code *code, struct text *ret)
{
	if (code->n_on_line > 1)
		text_printf(ret, " [%u of %u on this line]", code->index_on_line, code->n_on_line);
}

void loop_tags_tell(const struct profile *profile, const struct loop_counts *counts,
		    const struct scope_frame *loop, struct text *ret)
{
	struct loop_code code = { 0 };
	bool has_code = loop_code_find(profile, loop->image, loop->vaddr, &code);

	text_loops_tell_index(&code, ret);
	if ((loop->flags & SCOPE_VECTOR) && code.width == 255)
		text_printf(ret, " [vector of any length]");
	else if ((loop->flags & SCOPE_VECTOR) && code.width)
		text_printf(ret, " [vector %u bit]", code.width * 8);
	else if (loop->flags & SCOPE_VECTOR)
		text_printf(ret, " [vector]");
	if (loop->flags & SCOPE_UNROLLED)
		text_printf(ret, " [unrolled]");
	if (has_code && code.n_copies > 1)
		text_printf(ret, " [%u copies]", code.n_copies);
	if (has_code && counts) {
		struct loop_rounds rounds =
			loop_counts_find(counts, label_image(profile, loop->image), &code);
		loop_rounds_tell(&rounds, &code, ret);
	}
}

void text_loop_tags(const struct text_report *report, struct line *line, uint32_t scope, bool is_told)
{
	const struct scope_frame *frame = scope_frame(report->tree, scope);
	CLEANUP(text_done) struct text tags = { 0 };
	struct loop_code code = { 0 };

	if (frame->kind != SCOPE_LOOP)
		return;
	if (!is_told)
		loop_tags_tell(report->profile, report->counts, frame, &tags);
	else if (loop_code_find(report->profile, frame->image, frame->vaddr, &code))
		text_loops_tell_index(&code, &tags);
	if (tags.len)
		line_printf(line, TINT_DIM, "%s", tags.at);
}

/* A separate line, indented like the name it belongs to. */
static struct line detail_start(const struct text_report *report, size_t column)
{
	struct line line = line_start(report->to, &report->options->style);

	line_pad(&line, column + DETAIL_INDENT);
	return line;
}

/* "hottest line solve.c:51, 38.1%" */
static void tell_hot_place(const struct loop_teller *teller, const struct loop_facts *facts, struct text *ret)
{
	text_printf(ret, "hottest line ");
	label_place(teller->profile, facts->hot_file, facts->hot_line, ret);
	text_printf(ret, ", %.1f%%", number_share(facts->hot_cost, teller->total));
}

const char *loop_hot_text(const struct loop_teller *teller, const struct loop_facts *facts)
{
	const struct text_source *source = teller->source;
	const char *text = source && facts->hot_line
				   ? source->line(source->context,
						  intern_text(&teller->profile->strings, facts->hot_file),
						  facts->hot_line)
				   : NULL;

	while (text && isspace((unsigned char)*text))
		text++;
	return text && *text ? text : NULL;
}

/* As much of the line as is needed to recognise it; escaped. */
static void tell_hot_text(const struct loop_teller *teller, const struct loop_facts *facts, bool is_utf8,
			  struct text *ret)
{
	const struct style narrow = { .width = SOURCE_COLUMNS, .utf8 = is_utf8 };
	const char *text = loop_hot_text(teller, facts);

	if (!text)
		return;
	text_printf(ret, ": ");
	struct line line = line_start(ret, &narrow);
	line_name(&line, TINT_PLAIN, text);
}

static struct loop_teller teller_of(const struct text_report *report)
{
	return (struct loop_teller){ report->profile, report->counts, report->options->source,
				     report->total };
}

static void put_hot_line(const struct text_report *report, const struct loop_facts *facts, size_t column)
{
	const struct loop_teller teller = teller_of(report);
	CLEANUP(text_done) struct text place = { 0 };
	struct line line = detail_start(report, column);

	tell_hot_place(&teller, facts, &place);
	line_name(&line, TINT_DIM, place.at);
	const char *text = loop_hot_text(&teller, facts);
	if (text) {
		line_printf(&line, TINT_DIM, ": ");
		line_name(&line, TINT_PLAIN, text);
	}
	line_end(&line);
}

__attribute__((format(printf, 2, 3))) static void add_remark(struct text *to, const char *format, ...)
{
	va_list args;
	char remark[160];

	va_start(args, format);
	vsnprintf(remark, sizeof(remark), format, args);
	va_end(args);
	text_printf(to, "%s%s", to->len ? "; " : "", remark);
}

void loop_facts_tell(const struct loop_facts *facts, uint64_t total, struct text *ret)
{
	if (loop_facts_doubts(facts, total) & DOUBT_NOT_VECTOR)
		add_remark(ret, "not vectorised");
	if (facts->vector && facts->vector < facts->own)
		add_remark(ret, "%.0f%% of its own cost in vector code",
			   number_share(facts->vector, facts->own));
	if (facts->has_code && facts->code.n_calls)
		add_remark(ret, "%u call%s inside", facts->code.n_calls, facts->code.n_calls > 1 ? "s" : "");
	if (facts->share.n_threads > 1)
		add_remark(ret, "%u threads: %.1f%% to %.1f%%, mean %.1f%%, imbalance %.0f%%",
			   facts->share.n_threads, number_share(facts->share.least, total),
			   number_share(facts->share.most, total),
			   number_share(facts->share.sum, total) / facts->share.n_threads,
			   loop_facts_imbalance(facts));
}

static void put_facts(const struct text_report *report, const struct loop_facts *facts, size_t column)
{
	CLEANUP(text_done) struct text text = { 0 };

	loop_facts_tell(facts, report->total, &text);
	if (!text.len)
		return;
	struct line line = detail_start(report, column);
	line_printf(&line, TINT_DIM, "%s", text.at);
	line_end(&line);
}

void text_loop_details(const struct text_report *report, uint32_t scope, size_t column)
{
	const struct loop_facts *facts =
		report->loops ? loop_table_find(report->loops, report->tree, scope) : NULL;

	if (!facts)
		return;
	if (facts->hot_line)
		put_hot_line(report, facts, column);
	put_facts(report, facts, column);
}

static bool has_room(const struct line *line)
{
	return !line->style->width || line->used + REMARK_ROOM <= line->style->width;
}

/* Is its hottest line worth a remark? The loop's name already has the first line. */
static bool text_loops_has_hot_line(const struct text_report *report, const struct loop_teller *teller,
				    const struct loop_facts *facts, uint32_t scope)
{
	const struct scope_frame *loop = scope_frame(report->tree, scope);

	if (!facts->hot_line || number_share(facts->hot_cost, report->total) < HOT_LINE)
		return false;
	return facts->hot_line != loop->line || facts->hot_file != loop->file || loop_hot_text(teller, facts);
}

void text_loop_remarks(const struct text_report *report, struct line *line, uint32_t scope)
{
	const struct loop_facts *facts =
		report->loops ? loop_table_find(report->loops, report->tree, scope) : NULL;
	const struct loop_teller teller = teller_of(report);
	CLEANUP(text_done) struct text told = { 0 }, hot = { 0 };

	if (!facts || text_is_narrow(report) || !has_room(line))
		return;
	loop_facts_tell(facts, report->total, &told);
	if (told.len)
		line_printf(line, TINT_DIM, "  %s", told.at);
	if (!has_room(line) || !text_loops_has_hot_line(report, &teller, facts, scope))
		return;
	text_printf(&hot, told.len ? "; " : "  ");
	tell_hot_place(&teller, facts, &hot);
	tell_hot_text(&teller, facts, line->style->utf8, &hot);
	line_name(line, TINT_DIM, hot.at);
}

void loop_tell(const struct loop_teller *teller, const struct scope_frame *loop,
	       const struct loop_facts *facts, struct text *ret)
{
	CLEANUP(text_done) struct text tags = { 0 }, measured = { 0 };
	size_t before = ret->len;

	loop_tags_tell(teller->profile, teller->counts, loop, &tags);
	if (tags.len)
		text_printf(ret, "%s", tags.at + 1);
	if (!facts)
		return;
	loop_facts_tell(facts, teller->total, &measured);
	if (measured.len)
		text_printf(ret, "%s%s", ret->len > before ? "; " : "", measured.at);
	if (!facts->hot_line)
		return;
	text_printf(ret, ret->len > before ? "; " : "");
	tell_hot_place(teller, facts, ret);
	tell_hot_text(teller, facts, true, ret);
}

void text_loop_tell(const struct text_report *report, uint32_t scope, struct text *ret)
{
	const struct loop_teller teller = teller_of(report);

	loop_tell(&teller, scope_frame(report->tree, scope),
		  report->loops ? loop_table_find(report->loops, report->tree, scope) : NULL, ret);
}

const char *text_loop_hot_text(const struct text_report *report, const struct loop_facts *facts)
{
	const struct loop_teller teller = teller_of(report);

	return loop_hot_text(&teller, facts);
}
