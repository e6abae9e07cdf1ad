/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/ways_text.h"

#include <inttypes.h>

#include "report/annotate/way_lines.h"
#include "report/number.h"

#define SHARE_LEAST 1.0 /* percent; rarer paths are only counted */

/* Lines if they are known, otherwise the addresses of the blocks. */
static void ways_put_lines(const struct ways_show *show, const struct cycles_way *way, struct line *to)
{
	const uint64_t *blocks = show->counts->way_blocks.at + way->first_block;
	way_lines lines = { 0 };

	way_lines_find(show->map, blocks, way->n_blocks, &lines);
	if (lines.n)
		line_printf(to, TINT_PLAIN, "lines");
	for (size_t i = 0; i < lines.n; i++)
		line_printf(to, TINT_PLAIN, " %u", lines.at[i]);
	for (size_t i = 0; !lines.n && i < way->n_blocks; i++)
		line_printf(to, TINT_PLAIN, "%s0x%" PRIx64, i ? " " : "", blocks[i]);
	vec_done(&lines);
}

static void ways_put_end(const struct ways_show *show, const struct cycles_way *way, struct line *to)
{
	uint32_t line = way->next ? way_line(show->map, way->next) : 0;

	if (way->leaves)
		line_printf(to, TINT_PLAIN, "; leaves");
	else if (line)
		line_printf(to, TINT_PLAIN, "; back to %u", line);
	else if (way->next)
		line_printf(to, TINT_PLAIN, "; back to 0x%" PRIx64, way->next);
	if (way->caller)
		line_printf(to, TINT_DIM, "  called before 0x%" PRIx64, way->caller);
}

static void ways_put_way(const struct ways_show *show, const struct cycles_way *way, double share,
			 struct text *ret)
{
	struct line to = line_start(ret, &show->style);
	char count[NUMBER_MAX], percent[NUMBER_MAX];

	line_printf(&to, TINT_PLAIN, "%16s %7s  ", number_count((uint64_t)way->count, count),
		    number_percent(share, percent));
	ways_put_lines(show, way, &to);
	ways_put_end(show, way, &to);
	line_end(&to);
}

void ways_text(const struct ways_show *show, struct text *ret)
{
	const struct cycles_counts *counts = show->counts;
	size_t n_rare = 0;

	text_printf(ret, "\n%16s %7s  %s in '", "paths", "share",
		    counts->is_relative ? "in the proportions" : "as counted");
	style_safe(ret, &show->style, show->counts_path);
	text_printf(ret, "'\n");
	for (size_t i = 0; i < counts->ways.n; i++) {
		const struct cycles_way *way = &counts->ways.at[i];
		double share = counts->total > 0 ? 100 * way->count / counts->total : 0;
		if (show->all || share >= SHARE_LEAST)
			ways_put_way(show, way, share, ret);
		else
			n_rare++;
	}
	if (n_rare)
		text_printf(ret, "%zu rarer %s; --all shows %s\n", n_rare, n_rare == 1 ? "path" : "paths",
			    n_rare == 1 ? "it" : "them");
}
