/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/cycles_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "report/label.h"
#include "report/number.h"

#define SHARE_LEAST 1.0 /* percent of the function's samples: rows with less are only counted */
#define INDENT_MAX 6

/* ---- lines -------------------------------------------------------------------------------------------- */

struct line_span {
	uint32_t first, last; /* 0 = not known */
};

static void span_add(struct line_span *span, uint32_t line)
{
	if (!line)
		return;
	span->first = !span->first || line < span->first ? line : span->first;
	span->last = line > span->last ? line : span->last;
}

/* The function's own lines, also where something was inlined. */
static void span_add_block(const struct cycles_show *show, const struct cfg_block *block,
			   struct line_span *span)
{
	struct location chain[LOCATION_MAX_DEPTH];

	for (uint64_t vaddr = block->start; vaddr < block->end; vaddr++) {
		const struct function_map *map = profile_function(show->profile, show->map->image, vaddr);
		size_t n = map ? function_map_locate(map, (uint32_t)(vaddr - map->vaddr), chain,
						     LOCATION_MAX_DEPTH)
			       : 0;
		if (n && chain[n - 1].file == show->map->decl_file)
			span_add(span, chain[n - 1].line);
	}
}

static struct line_span span_of_loop(const struct cycles *c, const struct cycles_show *show, uint32_t loop)
{
	struct line_span span = { 0 };

	for (uint32_t i = 0; i < c->blocks.n; i++)
		if (c->forest.innermost.at[i] != LOOP_NONE && loops_contain(&c->forest, loop, i))
			span_add_block(show, &c->cfg->blocks[i], &span);
	return span;
}

static void span_put(struct line *to, struct line_span span)
{
	if (span.first && span.first == span.last)
		line_printf(to, TINT_PLAIN, ", line %u", span.first);
	else if (span.first)
		line_printf(to, TINT_PLAIN, ", lines %u-%u", span.first, span.last);
}

/* ---- rows --------------------------------------------------------------------------------------------- */

struct cycles_table {
	const struct cycles *c;
	const struct cycles_show *show;
	struct text *to;
	size_t n_small, n_doubtful;
};

static double cycles_share(const struct cycles_table *t, const struct cycles_cost *cost)
{
	return number_share(cost->samples, t->c->samples);
}

/* The numbers; what is not sure enough is a dash. */
static void put_numbers(struct cycles_table *t, struct line *to, const struct cycles_cost *cost)
{
	bool is_shown = cost->confidence > CONFIDENCE_LOW || (t->show->all && cost->confidence);
	double each = cycles_each(cost);
	char share[NUMBER_MAX], count[NUMBER_MAX];

	t->n_doubtful += !is_shown && cost->confidence == CONFIDENCE_LOW;
	line_printf(to, TINT_PLAIN, "%7s ", number_percent(cycles_share(t, cost), share));
	if (!is_shown || each < 0)
		line_printf(to, TINT_PLAIN, "%16s %-9s %8s ", "-", "-", "-");
	else
		line_printf(to, TINT_PLAIN, "%16s %-9s %8.2f ",
			    number_count((uint64_t)(cost->executions + 0.5), count),
			    confidence_name((enum confidence)cost->confidence), each);
	if (!(cost->best > 0))
		line_printf(to, TINT_PLAIN, "%8s %8s  ", "-", "-");
	else if (!is_shown || each < 0)
		line_printf(to, TINT_PLAIN, "%8.2f %8s  ", cost->best, "-");
	else
		line_printf(to, TINT_PLAIN, "%8.2f %8.2f  ", cost->best,
			    each > cost->best ? each - cost->best : 0);
}

static void put_culprits(struct cycles_table *t, const struct cycles_cost *cost, unsigned depth)
{
	struct line to = line_start(t->to, &t->show->style);
	const char *between = "";

	if (!cost->culprits || (cost->confidence <= CONFIDENCE_LOW && !t->show->all))
		return;
	line_printf(&to, TINT_DIM, "%62s%*sremains possible: ", "", (int)(2 * depth + 2), "");
	for (unsigned i = 0; i < CULPRITS; i++) {
		if (!(cost->culprits & 1u << i))
			continue;
		line_printf(&to, TINT_DIM, "%s%s", between, culprit_name((enum culprit)(1u << i)));
		between = ", ";
	}
	line_end(&to);
}

static bool is_small(struct cycles_table *t, const struct cycles_cost *cost)
{
	bool small = !t->show->all && cycles_share(t, cost) < SHARE_LEAST;

	t->n_small += small && cost->samples > 0;
	return small;
}

static void put_block(struct cycles_table *t, uint32_t block, unsigned depth)
{
	const struct cycles_cost *cost = &t->c->blocks.at[block];
	const struct cfg_block *at = &t->c->cfg->blocks[block];
	struct line_span span = { 0 };

	if ((!cost->samples && !t->show->all) || is_small(t, cost) ||
	    t->c->frequency.class_of[block] == FREQUENCY_NONE)
		return;
	struct line to = line_start(t->to, &t->show->style);
	put_numbers(t, &to, cost);
	line_printf(&to, TINT_PLAIN, "%*sblock 0x%" PRIx64 ", %u instructions", (int)(2 * depth), "",
		    at->start, at->n_insns);
	span_add_block(t->show, at, &span);
	span_put(&to, span);
	line_end(&to);
	put_culprits(t, cost, depth);
}

static void put_loop(struct cycles_table *t, uint32_t loop);

static void put_level(struct cycles_table *t, uint32_t loop)
{
	unsigned depth = loop == LOOP_NONE ? 0 : t->c->forest.loops.at[loop].depth;

	depth = depth < INDENT_MAX ? depth : INDENT_MAX;
	for (uint32_t i = 0; i < t->c->blocks.n; i++) {
		uint32_t inner = t->c->forest.innermost.at[i];
		if (inner == loop)
			put_block(t, i, depth);
		/* An inner loop stands where its first block does. */
		while (inner != LOOP_NONE && t->c->forest.loops.at[inner].parent != loop)
			inner = t->c->forest.loops.at[inner].parent;
		if (inner != LOOP_NONE && inner != loop && t->c->forest.loops.at[inner].header == i)
			put_loop(t, inner);
	}
}

static void put_loop(struct cycles_table *t, uint32_t loop)
{
	const struct cycles_cost *cost = &t->c->loops.at[loop];
	unsigned depth = t->c->forest.loops.at[loop].depth - 1;

	if ((!cost->samples && !t->show->all) || is_small(t, cost))
		return;
	depth = depth < INDENT_MAX ? depth : INDENT_MAX;
	struct line to = line_start(t->to, &t->show->style);
	put_numbers(t, &to, cost);
	line_printf(&to, TINT_BOLD, "%*s%sloop", (int)(2 * depth), "",
		    t->c->forest.loops.at[loop].is_irreducible ? "irreducible " : "");
	span_put(&to, span_of_loop(t->c, t->show, loop));
	line_end(&to);
	put_culprits(t, cost, depth);
	put_level(t, loop);
}

/* ---- ways --------------------------------------------------------------------------------------------- */

/* The function's own lines along a way, each once, in its order. */
static void put_way_lines(struct cycles_table *t, struct line *to, const struct cycles_way *way)
{
	VEC(uint32_t) seen = { 0 };

	for (size_t i = 0; i < way->n_blocks; i++) {
		struct line_span span = { 0 };
		uint64_t vaddr = t->show->counts->way_blocks.at[way->first_block + i];
		uint32_t block = cfg_find(t->c->cfg, vaddr);
		bool is_new = block != UINT32_MAX;
		if (is_new)
			span_add_block(t->show, &t->c->cfg->blocks[block], &span);
		for (size_t k = 0; k < seen.n; k++)
			is_new &= seen.at[k] != span.first;
		if (span.first && is_new)
			line_printf(to, TINT_PLAIN, " %u", span.first);
		else if (!span.first)
			line_printf(to, TINT_PLAIN, " 0x%" PRIx64, vaddr);
		vec_push(&seen, span.first);
	}
	vec_done(&seen);
}

static void put_ways(struct cycles_table *t)
{
	const struct cycles_counts *counts = t->show->counts;
	double all = 0;
	char share[NUMBER_MAX], count[NUMBER_MAX];

	for (size_t i = 0; i < t->c->ways.n; i++)
		all += counts->ways.at[i].count;
	text_printf(t->to, "\n%7s %16s %-9s %8s %8s\n", "time", "paths", "share", "cycles", "insns");
	for (size_t i = 0; i < t->c->ways.n; i++) {
		const struct way_cost *cost = &t->c->ways.at[i];
		const struct cycles_way *way = &counts->ways.at[i];
		double time = t->c->samples ? 100 * cost->samples / (double)t->c->samples : 0;
		if (!t->show->all && time < SHARE_LEAST && way->count * 100 < all) {
			t->n_small++;
			continue;
		}
		struct line to = line_start(t->to, &t->show->style);
		line_printf(&to, TINT_PLAIN, "%7s ", number_percent(time, share));
		line_printf(&to, TINT_PLAIN, "%16s ", number_count((uint64_t)way->count, count));
		line_printf(&to, TINT_PLAIN, "%-9s ",
			    number_percent(all > 0 ? 100 * way->count / all : 0, share));
		if (counts->is_relative || !(way->count > 0))
			line_printf(&to, TINT_PLAIN, "%8s ", "-");
		else
			line_printf(&to, TINT_PLAIN, "%8.2f ", cost->spent / way->count);
		line_printf(&to, TINT_PLAIN, "%8u  %s: lines", cost->n_insns,
			    cost->is_dense ? "dense" : "sparse");
		put_way_lines(t, &to, way);
		line_printf(&to, TINT_PLAIN, way->leaves ? "; leaves" : "");
		if (way->caller)
			line_printf(&to, TINT_DIM, "  called before 0x%" PRIx64, way->caller);
		line_end(&to);
	}
}

/* ---- the head ----------------------------------------------------------------------------------------- */

static void put_sources(const struct cycles *c, const struct cycles_show *show, struct text *to)
{
	if (show->clock_ghz > 0)
		text_printf(to, "a cycle took %.3f ns (%.2f GHz)", 1 / show->clock_ghz, show->clock_ghz);
	else
		text_printf(to, "cycles as counted by the event");
	if (show->mca && !c->mca_failed.error)
		text_printf(to, "; best case from %s for %s, scheduling model %s\n", mca_tool(show->mca),
			    show->mca_cpu, mca_model(show->mca));
	else
		text_printf(to, "; no best case: %s\n", c->mca_failed.what);
	text_printf(to, "executions: ");
	if (show->counts_path) {
		text_printf(to, show->counts->is_relative ? "in the proportions of '" : "as counted in '");
		style_safe(to, &show->style, show->counts_path);
		text_printf(to, "'\n");
	} else
		text_printf(to,
			    "estimated from samples and control flow; `cpprof paths` counts them exactly\n");
}

void cycles_text(const struct cycles *c, const struct cycles_show *show, struct text *ret)
{
	struct cycles_table t = { .c = c, .show = show, .to = ret };
	struct line head = line_start(ret, &show->style);

	line_name(&head, TINT_BOLD, intern_text(&show->profile->strings, show->map->name));
	line_printf(&head, TINT_PLAIN, "  [");
	line_name(&head, TINT_PLAIN, label_image(show->profile, show->map->image));
	line_printf(&head, TINT_PLAIN, "]  %" PRIu64 " samples in its own code", c->samples);
	line_end(&head);
	put_sources(c, show, ret);
	text_printf(ret, "\n%7s %16s %-9s %8s %8s %8s\n", "share", "executions", "sure", "cycles", "best",
		    "lost");
	put_level(&t, LOOP_NONE);
	if (show->counts_path)
		put_ways(&t);
	if (t.n_doubtful)
		text_printf(ret, "%zu rows have no numbers because of low confidence; --all shows them\n",
			    t.n_doubtful);
	if (t.n_small)
		text_printf(ret, "%zu more with less than %.0f%% each; --all shows them\n", t.n_small,
			    SHARE_LEAST);
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

static void json_put_cost(struct json *json, const struct cycles_cost *cost)
{
	json_uint_of(json, "samples", cost->samples);
	json_number_of(json, "spent", cost->spent);
	json_text_of(json, "confidence", confidence_name((enum confidence)cost->confidence));
	if (cost->confidence != CONFIDENCE_NONE)
		json_number_of(json, "executions", cost->executions);
	if (cost->best > 0)
		json_number_of(json, "best", cost->best);
	json_name(json, "possible");
	json_array(json);
	for (unsigned i = 0; i < CULPRITS; i++)
		if (cost->culprits & 1u << i)
			json_text(json, culprit_name((enum culprit)(1u << i)));
	json_end_array(json);
}

static void json_put_lines(struct json *json, struct line_span span)
{
	json_uint_of(json, "line", span.first);
	json_uint_of(json, "end_line", span.last);
}

static void json_put_blocks(struct json *json, const struct cycles *c, const struct cycles_show *show)
{
	json_name(json, "blocks");
	json_array(json);
	for (uint32_t i = 0; i < c->blocks.n; i++) {
		struct line_span span = { 0 };
		if (c->frequency.class_of[i] == FREQUENCY_NONE)
			continue;
		json_object(json);
		json_name(json, "vaddr");
		json_hex(json, c->cfg->blocks[i].start);
		json_name(json, "end");
		json_hex(json, c->cfg->blocks[i].end);
		json_uint_of(json, "class", c->frequency.class_of[i]);
		span_add_block(show, &c->cfg->blocks[i], &span);
		json_put_lines(json, span);
		json_put_cost(json, &c->blocks.at[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

static void json_put_ways(struct json *json, const struct cycles *c, const struct cycles_counts *counts)
{
	json_name(json, "ways");
	json_array(json);
	for (size_t i = 0; i < c->ways.n; i++) {
		const struct cycles_way *way = &counts->ways.at[i];
		json_object(json);
		json_number_of(json, "count", way->count);
		json_uint_of(json, "instructions", c->ways.at[i].n_insns);
		json_number_of(json, "samples", c->ways.at[i].samples);
		json_number_of(json, "spent", c->ways.at[i].spent);
		json_bool_of(json, "dense", c->ways.at[i].is_dense);
		json_name(json, "blocks");
		json_array(json);
		for (size_t k = 0; k < way->n_blocks; k++)
			json_hex(json, counts->way_blocks.at[way->first_block + k]);
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

int cycles_json(const struct cycles *c, const struct cycles_show *show, FILE *to)
{
	struct json json;

	json_init(&json, to);
	json_object(&json);
	json_text_of(&json, "schema", "cpprof-cycles");
	json_text_of(&json, "version", "1.0");
	json_text_of(&json, "function", intern_text(&show->profile->strings, show->map->name));
	json_number_of(&json, "cycle_ns", show->clock_ghz > 0 ? 1 / show->clock_ghz : 0);
	json_text_of(&json, "tool", show->mca ? mca_tool(show->mca) : NULL);
	json_text_of(&json, "model", show->mca ? mca_model(show->mca) : NULL);
	json_uint_of(&json, "samples", c->samples);
	json_name(&json, "loops");
	json_array(&json);
	for (uint32_t i = 0; i < c->loops.n; i++) {
		json_object(&json);
		json_name(&json, "header");
		json_hex(&json, c->cfg->blocks[c->forest.loops.at[i].header].start);
		json_uint_of(&json, "depth", c->forest.loops.at[i].depth);
		json_put_lines(&json, span_of_loop(c, show, i));
		json_put_cost(&json, &c->loops.at[i]);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_put_blocks(&json, c, show);
	if (show->counts_path)
		json_put_ways(&json, c, show->counts);
	json_end_object(&json);
	json_line(&json);
	return json_done(&json);
}
