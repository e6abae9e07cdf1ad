/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/paths_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "report/number.h"
#include "symbolize/locator.h"

#define LINES_MAX 24 /* of a path, on a screen */

/* One function, with what is known about its source. */
struct shown {
	const struct paths_print *print;
	const struct paths_function *function;
	struct image *image;
	struct locator *locator;
	uint64_t *block_counts;
};

/* ---- source ------------------------------------------------------------------------------------------ */

/* Calls visit for each instruction of a block. */
static void shown_each_insn(const struct shown *s, uint32_t block,
			    void (*visit)(void *context, uint64_t vaddr), void *context)
{
	const struct cfg_block *at = &s->function->plan.cfg.blocks[block];
	const struct isa *isa = isa_for_machine(s->image->elf_machine);
	struct insn insn;

	for (uint64_t vaddr = at->start; vaddr < at->end; vaddr += insn.len) {
		visit(context, vaddr);
		if (isa->decode(image_code(s->image, vaddr), vaddr, &insn) < 0 || !insn.len)
			return;
	}
}

typedef VEC(uint64_t) addresses;

static void shown_add_address(void *context, uint64_t vaddr)
{
	addresses *all = context;

	vec_push(all, vaddr);
}

static int shown_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void shown_init(struct shown *s, const struct paths_print *print,
		       const struct paths_function *function)
{
	const struct paths_plan *plan = &function->plan;
	addresses all = { 0 };
	struct way way = { 0 };
	size_t n = 0;

	*s = (struct shown){ .print = print,
			     .function = function,
			     .image = images_get(print->paths->images, function->chosen->image) };
	s->block_counts = alloc_zero(plan->cfg.n_blocks, sizeof(*s->block_counts));
	for (size_t i = 0; i < function->counts.n; i++)
		for (size_t k = 0;
		     ways_find(&plan->ways, function->counts.at[i].number, &way) && k < way.blocks.n; k++)
			s->block_counts[way.blocks.at[k]] += function->counts.at[i].count;
	for (uint32_t i = 0; i < plan->cfg.n_blocks; i++)
		if (plan->ways.blocks[i].n_ways)
			shown_each_insn(s, i, shown_add_address, &all);
	for (size_t i = 0; i < function->counts.n; i++)
		if (function->counts.at[i].caller_image == function->chosen->image)
			vec_push(&all, function->counts.at[i].caller - 1);
	if (all.n)
		qsort(all.at, all.n, sizeof(*all.at), shown_compare);
	for (size_t i = 0; i < all.n; i++)
		if (n == 0 || all.at[n - 1] != all.at[i])
			all.at[n++] = all.at[i];
	s->locator = locator_new(print->symbols, s->image, all.at, n);
	vec_done(&all);
	way_done(&way);
}

static void shown_done(struct shown *s)
{
	locator_free(s->locator);
	free(s->block_counts);
}

/* The function's own line, also in inlined code; 0 = not known. */
static uint32_t shown_line(const struct shown *s, uint64_t vaddr, const char **ret_file)
{
	struct location chain[LOCATION_MAX_DEPTH];
	size_t n = locator_find(s->locator, vaddr, chain, LOCATION_MAX_DEPTH);

	if (ret_file)
		*ret_file = n && chain[n - 1].file ? locator_text(s->locator, chain[n - 1].file) : NULL;
	return n ? chain[n - 1].line : 0;
}

typedef VEC(uint32_t) line_list;
struct line_search {
	const struct shown *s;
	line_list *lines;
};

static void shown_add_line(void *context, uint64_t vaddr)
{
	struct line_search *search = context;
	uint32_t line = shown_line(search->s, vaddr, NULL);

	for (size_t i = 0; i < search->lines->n; i++)
		if (search->lines->at[i] == line)
			return;
	if (line)
		vec_push(search->lines, line);
}

/* Each line once, in the order of the path. */
static void shown_lines(const struct shown *s, const struct way *way, line_list *ret)
{
	struct line_search search = { s, ret };

	for (size_t i = 0; i < way->blocks.n; i++)
		shown_each_insn(s, way->blocks.at[i], shown_add_line, &search);
}

/* ---- text -------------------------------------------------------------------------------------------- */

static void shown_put_block(FILE *to, const struct shown *s, uint32_t block)
{
	uint64_t vaddr = s->function->plan.cfg.blocks[block].start;
	uint32_t line = shown_line(s, vaddr, NULL);

	if (line)
		fprintf(to, "line %u", line);
	else
		fprintf(to, "0x%" PRIx64, vaddr);
}

static void shown_put_way(FILE *to, const struct shown *s, const struct way *way)
{
	line_list lines = { 0 };

	if (way->blocks.at[0] == s->function->plan.cfg.entry)
		fprintf(to, "entry");
	else
		shown_put_block(to, s, way->blocks.at[0]);
	shown_lines(s, way, &lines);
	fprintf(to, lines.n ? ": lines" : ": blocks");
	for (size_t i = 0; i < lines.n && i < LINES_MAX; i++)
		fprintf(to, " %u", lines.at[i]);
	for (size_t i = 0; !lines.n && i < way->blocks.n && i < LINES_MAX; i++)
		fprintf(to, " 0x%" PRIx64, s->function->plan.cfg.blocks[way->blocks.at[i]].start);
	if ((lines.n ? lines.n : way->blocks.n) > LINES_MAX)
		fprintf(to, " ...");
	if (way->to == WAYS_NONE) {
		fprintf(to, "; leaves");
	} else {
		fprintf(to, "; on to ");
		shown_put_block(to, s, way->to);
	}
	vec_done(&lines);
}

static void shown_put_caller(FILE *to, const struct shown *s, const struct paths_count *count)
{
	struct location chain[LOCATION_MAX_DEPTH];
	size_t n = count->caller_image == s->function->chosen->image
			   ? locator_find(s->locator, count->caller - 1, chain, LOCATION_MAX_DEPTH)
			   : 0;

	fputs("  called by ", to);
	if (n) {
		cmd_print_name(to, locator_text(s->locator, chain[n - 1].function));
		if (chain[n - 1].line)
			fprintf(to, " line %u", chain[n - 1].line);
	} else if (count->caller_image != IMAGE_NONE) {
		cmd_print_name(to, image_name(images_peek(s->print->paths->images, count->caller_image)));
		fprintf(to, "+0x%" PRIx64, count->caller);
	} else {
		fputs(count->has_caller ? "another file" : "a caller from before counting began", to);
	}
}

static void shown_put_text(FILE *to, const struct shown *s)
{
	const struct paths_function *f = s->function;
	char count[NUMBER_MAX], total[NUMBER_MAX], possible[NUMBER_MAX];
	struct way way = { 0 };

	cmd_print_name(to, f->chosen->name);
	fprintf(to, " in ");
	cmd_print_name(to, image_name(s->image));
	fprintf(to, ": %s paths executed, %zu distinct of %s possible\n", number_count(f->n_ways, total),
		f->counts.n, number_count(f->plan.ways.n, possible));
	if (f->plan.ways.n_cuts)
		fprintf(to,
			"  too many possible paths: paths also end at %u more edges than loop back edges\n",
			f->plan.ways.n_cuts);
	if (f->counts.n)
		fprintf(to, "%16s %7s %6s  path\n", "count", "share", "insns");
	for (size_t i = 0; i < f->counts.n && (!s->print->limit || i < s->print->limit); i++) {
		if (!ways_find(&f->plan.ways, f->counts.at[i].number, &way))
			continue;
		fprintf(to, "%16s %6.2f%% %6u  ", number_count(f->counts.at[i].count, count),
			number_share(f->counts.at[i].count, f->n_ways), way.n_insns);
		if (f->counts.at[i].high > 0)
			fprintf(to, "(%.1f%%-%.1f%%)  ", 100 * f->counts.at[i].low,
				100 * f->counts.at[i].high);
		shown_put_way(to, s, &way);
		if (s->print->by_caller)
			shown_put_caller(to, s, &f->counts.at[i]);
		fprintf(to, "\n");
	}
	way_done(&way);
}

void paths_print_text(FILE *to, const struct paths_print *print)
{
	const struct paths_stats *stats = &print->paths->stats;

	for (size_t i = 0; i < print->paths->functions.n; i++) {
		struct shown s;
		shown_init(&s, print, &print->paths->functions.at[i]);
		if (i)
			fprintf(to, "\n");
		shown_put_text(to, &s);
		shown_done(&s);
	}
	if (print->paths->n_stretches > 1)
		fprintf(to,
			"the probes were set for %.2f s of %.2f s, in %u windows: counts are from these "
			"windows, shares have 95%% confidence intervals\n",
			(double)print->paths->in_ns / 1e9, print->paths->seconds, print->paths->n_stretches);
	if (stats->partial)
		fprintf(to, "%llu path%s had already begun when counting started%s: not counted\n",
			(unsigned long long)stats->partial, stats->partial == 1 ? "" : "s",
			print->paths->n_stretches > 1 ? ", over all windows" : "");
	if (stats->dropped)
		fprintf(to, "%llu path%s left by longjmp or an exception: not counted\n",
			(unsigned long long)stats->dropped, stats->dropped == 1 ? " was" : "s were");
	if (stats->full)
		fprintf(to, "%llu path%s not counted: the table of distinct paths was full\n",
			(unsigned long long)stats->full, stats->full == 1 ? " was" : "s were");
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

static void json_put_lines(struct json *json, const line_list *lines)
{
	json_name(json, "lines");
	json_array(json);
	for (size_t i = 0; i < lines->n; i++)
		json_uint(json, lines->at[i]);
	json_end_array(json);
}

static void json_put_address(struct json *json, const char *name, uint64_t vaddr)
{
	json_name(json, name);
	json_hex(json, vaddr);
}

static void json_put_way(struct json *json, const struct shown *s, const struct paths_count *count)
{
	const struct cfg_block *blocks = s->function->plan.cfg.blocks;
	struct way way = { 0 };
	line_list lines = { 0 };

	ways_find(&s->function->plan.ways, count->number, &way);
	shown_lines(s, &way, &lines);
	json_object(json);
	json_uint_of(json, "number", count->number);
	json_uint_of(json, "count", count->count);
	if (count->high > 0) {
		json_number_of(json, "share_low", count->low);
		json_number_of(json, "share_high", count->high);
	}
	json_uint_of(json, "instructions", way.n_insns);
	json_name(json, "blocks");
	json_array(json);
	for (size_t i = 0; i < way.blocks.n; i++)
		json_hex(json, blocks[way.blocks.at[i]].start);
	json_end_array(json);
	json_put_lines(json, &lines);
	json_bool_of(json, "leaves", way.to == WAYS_NONE);
	if (way.to != WAYS_NONE)
		json_put_address(json, "next", blocks[way.to].start);
	if (count->caller) {
		json_text_of(json, "caller_module",
			     image_name(images_peek(s->print->paths->images, count->caller_image)));
		json_put_address(json, "caller", count->caller);
	}
	json_end_object(json);
	vec_done(&lines);
	way_done(&way);
}

static void json_put_block(struct json *json, const struct shown *s, uint32_t block)
{
	const struct cfg_block *at = &s->function->plan.cfg.blocks[block];
	const char *file = NULL;
	line_list lines = { 0 };
	struct line_search search = { s, &lines };

	shown_each_insn(s, block, shown_add_line, &search);
	shown_line(s, at->start, &file);
	json_object(json);
	json_put_address(json, "vaddr", at->start);
	json_put_address(json, "end", at->end);
	json_uint_of(json, "instructions", at->n_insns);
	json_uint_of(json, "count", s->block_counts[block]);
	json_text_of(json, "file", file);
	json_put_lines(json, &lines);
	json_end_object(json);
	vec_done(&lines);
}

static void json_put_function(struct json *json, const struct shown *s)
{
	const struct paths_function *f = s->function;
	char build_id[2 * BUILD_ID_MAX + 1];

	json_object(json);
	json_text_of(json, "name", f->chosen->name);
	json_text_of(json, "module", s->image->path);
	build_id_format(&s->image->build_id, build_id);
	json_text_of(json, "build_id", s->image->build_id.len ? build_id : NULL);
	json_put_address(json, "vaddr", f->chosen->vaddr);
	json_uint_of(json, "total", f->n_ways);
	json_uint_of(json, "possible", f->plan.ways.n);
	json_uint_of(json, "cuts", f->plan.ways.n_cuts);
	json_name(json, "ways");
	json_array(json);
	for (size_t i = 0; i < f->counts.n && (!s->print->limit || i < s->print->limit); i++)
		json_put_way(json, s, &f->counts.at[i]);
	json_end_array(json);
	json_name(json, "blocks");
	json_array(json);
	for (uint32_t i = 0; i < f->plan.cfg.n_blocks; i++)
		if (f->plan.ways.blocks[i].n_ways)
			json_put_block(json, s, i);
	json_end_array(json);
	json_end_object(json);
}

int paths_print_json(FILE *to, const struct paths_print *print)
{
	const struct paths_stats *stats = &print->paths->stats;
	struct json json;

	json_init(&json, to);
	json_object(&json);
	json_text_of(&json, "schema", "cpprof-paths");
	json_text_of(&json, "version", "1.0");
	json_bool_of(&json, "whole", print->is_whole);
	if (print->command)
		json_text_of(&json, "command", print->command);
	if (print->paths->n_stretches) {
		json_uint_of(&json, "stretches", print->paths->n_stretches);
		json_number_of(&json, "seconds_in", (double)print->paths->in_ns / 1e9);
		json_number_of(&json, "seconds", print->paths->seconds);
	}
	if (print->paths->hits >= 0)
		json_number_of(&json, "expected_hits_per_second", print->paths->hits);
	json_uint_of(&json, "hits", stats->hits);
	json_uint_of(&json, "dropped", stats->dropped);
	json_uint_of(&json, "partial", stats->partial);
	json_uint_of(&json, "full", stats->full);
	json_name(&json, "functions");
	json_array(&json);
	for (size_t i = 0; i < print->paths->functions.n; i++) {
		struct shown s;
		shown_init(&s, print, &print->paths->functions.at[i]);
		json_put_function(&json, &s);
		shown_done(&s);
	}
	json_end_array(&json);
	json_end_object(&json);
	json_line(&json);
	return json_done(&json);
}
