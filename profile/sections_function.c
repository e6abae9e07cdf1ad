/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function maps in the file: a table of functions with the numbers of lines, inlined calls and ranges that
 * each has, then one table of each of these for all functions together; each table is preceded by its
 * length.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/section.h"

static const struct column function_columns[] = {
	COLUMN(struct function_map, image, CODE_DELTA, TO(IMAGE)),
	COLUMN(struct function_map, vaddr, CODE_IN_IMAGE),
	COLUMN(struct function_map, size, CODE_PLAIN),
	COLUMN(struct function_map, name, CODE_DELTA, TO(STRING)),
	COLUMN(struct function_map, linkage, CODE_DELTA, TO(STRING)),
	COLUMN(struct function_map, decl_file, CODE_DELTA, TO(STRING)),
	COLUMN(struct function_map, decl_line, CODE_PLAIN),
	COLUMN(struct function_map, end_line, CODE_PLAIN),
	COLUMN(struct function_map, scope, CODE_PLAIN, TO(STRING)),
	COLUMN(struct function_map, parent_vaddr, CODE_IN_IMAGE),
	COLUMN(struct function_map, source, CODE_PLAIN),
	COLUMN(struct function_map, lines.n, CODE_PLAIN),
	COLUMN(struct function_map, inlines.n, CODE_PLAIN),
	COLUMN(struct function_map, ranges.n, CODE_PLAIN),
};
static const struct table function_table = TABLE(struct function_map, function_columns, .image_column = 0);

static const struct column line_columns[] = {
	COLUMN(struct line_row, offset, CODE_DELTA),
	COLUMN(struct line_row, file, CODE_DELTA, TO(STRING)),
	COLUMN(struct line_row, line, CODE_DELTA),
	COLUMN(struct line_row, column, CODE_PLAIN),
	COLUMN(struct line_row, is_statement, CODE_PLAIN),
};
static const struct table line_table = TABLE(struct line_row, line_columns);

static const struct column inline_columns[] = {
	COLUMN(struct inline_call, parent, CODE_PLAIN, TO_OR_NONE(ANYTHING)),
	COLUMN(struct inline_call, name, CODE_DELTA, TO(STRING)),
	COLUMN(struct inline_call, linkage, CODE_DELTA, TO(STRING)),
	COLUMN(struct inline_call, decl_file, CODE_DELTA, TO(STRING)),
	COLUMN(struct inline_call, decl_line, CODE_DELTA),
	COLUMN(struct inline_call, call_file, CODE_DELTA, TO(STRING)),
	COLUMN(struct inline_call, call_line, CODE_DELTA),
	COLUMN(struct inline_call, call_column, CODE_PLAIN),
};
static const struct table inline_table = TABLE(struct inline_call, inline_columns);

static const struct column range_columns[] = {
	COLUMN(struct inline_range, start, CODE_DELTA),
	COLUMN(struct inline_range, end, CODE_DELTA),
	COLUMN(struct inline_range, call, CODE_DELTA),
};
static const struct table range_table = TABLE(struct inline_range, range_columns);

static struct any_vec function_section_vec_of(const struct function_map *map, size_t offset)
{
	struct any_vec vec;

	memcpy(&vec, (const char *)map + offset, sizeof(vec));
	return vec;
}

void section_write_table(const struct table *table, const void *rows, size_t n, struct writer *ret)
{
	struct writer w = { 0 };

	table_encode(table, rows, n, &w);
	write_uleb(ret, w.len);
	write_bytes(ret, writer_bytes(&w));
	writer_done(&w);
}

/* The rows of all functions together; offset says which VEC of theirs. */
static void write_parts(const struct profile *profile, size_t offset, const struct table *table,
			struct writer *ret)
{
	struct writer rows = { 0 };

	for (size_t i = 0; i < profile->functions.n; i++) {
		struct any_vec vec = function_section_vec_of(&profile->functions.at[i], offset);
		write_bytes(&rows, (struct bytes){ vec.at, vec.n * table->stride });
	}
	section_write_table(table, rows.at, rows.len / table->stride, ret);
	writer_done(&rows);
}

void functions_encode(const struct profile *profile, struct writer *ret)
{
	if (profile->functions.n == 0)
		return;
	section_write_table(&function_table, profile->functions.at, profile->functions.n, ret);
	write_parts(profile, offsetof(struct function_map, lines), &line_table, ret);
	write_parts(profile, offsetof(struct function_map, inlines), &inline_table, ret);
	write_parts(profile, offsetof(struct function_map, ranges), &range_table, ret);
}

int section_read_table(const struct decoder *decoder, struct reader *r, const struct table *table,
		       void **ret_rows, size_t *ret_n)
{
	struct decoder part = *decoder;

	part.bytes = read_bytes(r, read_uleb(r));
	if (r->failed)
		return decoder_refuse(decoder, "a table is truncated");
	return table_decode(table, &part, ret_rows, ret_n);
}

/* Distributes the rows to their functions. The counts were read with them; until now each VEC has only a
 * count. */
static int read_parts(const struct decoder *decoder, struct reader *r, struct profile *profile, size_t offset,
		      const struct table *table)
{
	CLEANUP(freep) void *rows = NULL;
	size_t n, used = 0;
	int error = section_read_table(decoder, r, table, &rows, &n);

	if (error < 0)
		return error;
	for (size_t i = 0; i < profile->functions.n; i++) {
		struct any_vec vec = function_section_vec_of(&profile->functions.at[i], offset);
		if (vec.n > n - used)
			return decoder_refuse(decoder, "function %zu has more rows than there are", i);
		if (vec.n == 0)
			continue;
		vec.at = alloc_resize(NULL, vec.n, table->stride);
		vec.cap = vec.n;
		memcpy(vec.at, (const char *)rows + used * table->stride, vec.n * table->stride);
		memcpy((char *)&profile->functions.at[i] + offset, &vec, sizeof(vec));
		used += vec.n;
	}
	if (used != n)
		return decoder_refuse(decoder, "%zu rows belong to no function", n - used);
	return 0;
}

static bool lines_are_sound(const struct function_map *map)
{
	for (size_t i = 1; i < map->lines.n; i++)
		if (map->lines.at[i].offset <= map->lines.at[i - 1].offset)
			return false;
	return true;
}

static bool inlines_are_sound(const struct function_map *map)
{
	for (uint32_t i = 0; i < map->inlines.n; i++)
		if (map->inlines.at[i].parent != INLINE_NONE && map->inlines.at[i].parent >= i)
			return false;
	return true;
}

static bool function_section_ranges_are_sound(const struct function_map *map)
{
	uint32_t end = 0;

	for (size_t i = 0; i < map->ranges.n; i++) {
		const struct inline_range *range = &map->ranges.at[i];
		if (range->start < end || range->end <= range->start || range->call >= map->inlines.n)
			return false;
		end = range->end;
	}
	return true;
}

/* Checks what function_map.h guarantees, so that later code can rely on it. */
static int function_section_check_functions(const struct decoder *decoder, const struct profile *profile)
{
	for (size_t i = 0; i < profile->functions.n; i++) {
		const struct function_map *map = &profile->functions.at[i], *last = map - 1;
		if (i > 0 &&
		    (map->image < last->image || (map->image == last->image && map->vaddr <= last->vaddr)))
			return decoder_refuse(decoder, "function %zu is out of order", i);
		if (map->vaddr + map->size < map->vaddr)
			return decoder_refuse(decoder, "function %zu is too large", i);
		if (!lines_are_sound(map))
			return decoder_refuse(decoder, "lines of function %zu are out of order", i);
		if (!inlines_are_sound(map))
			return decoder_refuse(decoder, "inlined calls of function %zu are out of order", i);
		if (!function_section_ranges_are_sound(map))
			return decoder_refuse(decoder, "inlined ranges of function %zu are invalid", i);
	}
	return 0;
}

int functions_decode(struct decoder *decoder, struct profile *profile)
{
	struct reader r = reader_of(decoder->bytes);
	void *rows;
	int error = section_read_table(decoder, &r, &function_table, &rows, &profile->functions.n);

	if (error < 0)
		return error;
	profile->functions.at = rows;
	profile->functions.cap = profile->functions.n;
	error = read_parts(decoder, &r, profile, offsetof(struct function_map, lines), &line_table);
	if (error == 0)
		error = read_parts(decoder, &r, profile, offsetof(struct function_map, inlines),
				   &inline_table);
	if (error == 0)
		error = read_parts(decoder, &r, profile, offsetof(struct function_map, ranges), &range_table);
	return error < 0 ? error : function_section_check_functions(decoder, profile);
}
