/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static maps in the file: a table of structures with the numbers of scopes, ranges and pieces that each
 * has, then one table of each of these for all structures together; each table is preceded by its length.
 * Addresses inside a structure are stored relative to its function.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/section.h"

static const struct column structure_columns[] = {
	COLUMN(struct structure, image, CODE_DELTA, TO(IMAGE)),
	COLUMN(struct structure, function, CODE_IN_IMAGE),
	COLUMN(struct structure, scopes.n, CODE_PLAIN),
	COLUMN(struct structure, ranges.n, CODE_PLAIN),
	COLUMN(struct structure, pieces.n, CODE_PLAIN),
};
static const struct table structure_table = TABLE(struct structure, structure_columns, .image_column = 0);

static const struct column scope_columns[] = {
	COLUMN(struct static_scope, parent, CODE_PLAIN),
	COLUMN(struct static_scope, kind, CODE_PLAIN),
	COLUMN(struct static_scope, flags, CODE_PLAIN),
	COLUMN(struct static_scope, name, CODE_DELTA, TO(STRING)),
	COLUMN(struct static_scope, linkage, CODE_DELTA, TO(STRING)),
	COLUMN(struct static_scope, file, CODE_DELTA, TO(STRING)),
	COLUMN(struct static_scope, line, CODE_DELTA),
	COLUMN(struct static_scope, end_line, CODE_DELTA),
	COLUMN(struct static_scope, call_file, CODE_DELTA, TO(STRING)),
	COLUMN(struct static_scope, call_line, CODE_DELTA),
	COLUMN(struct static_scope, vaddr, CODE_DELTA),
};
static const struct table scope_table = TABLE(struct static_scope, scope_columns);

static const struct column range_columns[] = {
	COLUMN(struct static_range, start, CODE_DELTA),
	COLUMN(struct static_range, len, CODE_PLAIN),
	COLUMN(struct static_range, scope, CODE_PLAIN),
};
static const struct table range_table = TABLE(struct static_range, range_columns);

static const struct column piece_columns[] = {
	COLUMN(struct loop_piece, scope, CODE_PLAIN),    COLUMN(struct loop_piece, header, CODE_DELTA),
	COLUMN(struct loop_piece, n_blocks, CODE_PLAIN), COLUMN(struct loop_piece, flags, CODE_PLAIN),
	COLUMN(struct loop_piece, start, CODE_DELTA),    COLUMN(struct loop_piece, len, CODE_PLAIN),
	COLUMN(struct loop_piece, n_calls, CODE_PLAIN),  COLUMN(struct loop_piece, width, CODE_PLAIN),
};
static const struct table piece_table = TABLE(struct loop_piece, piece_columns);

/* Which VEC of a structure a table contains. */
struct part {
	const struct table *table;
	size_t offset;
};
static const struct part parts[] = {
	{ &scope_table, offsetof(struct structure, scopes) },
	{ &range_table, offsetof(struct structure, ranges) },
	{ &piece_table, offsetof(struct structure, pieces) },
};

static struct any_vec structure_section_vec_of(const struct structure *structure, size_t offset)
{
	struct any_vec vec;

	memcpy(&vec, (const char *)structure + offset, sizeof(vec));
	return vec;
}

void structures_encode(const struct profile *profile, struct writer *ret)
{
	if (profile->structures.n == 0)
		return;
	section_write_table(&structure_table, profile->structures.at, profile->structures.n, ret);
	for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
		struct writer rows = { 0 };
		for (size_t i = 0; i < profile->structures.n; i++) {
			struct any_vec vec =
				structure_section_vec_of(&profile->structures.at[i], parts[p].offset);
			write_bytes(&rows, (struct bytes){ vec.at, vec.n * parts[p].table->stride });
		}
		section_write_table(parts[p].table, rows.at, rows.len / parts[p].table->stride, ret);
		writer_done(&rows);
	}
}

/* Distributes the rows of one table; until then each VEC has only a count. */
static int read_part(const struct decoder *decoder, struct reader *r, struct profile *profile,
		     const struct part *part)
{
	CLEANUP(freep) void *rows = NULL;
	size_t n, used = 0, stride = part->table->stride;
	int error = section_read_table(decoder, r, part->table, &rows, &n);

	if (error < 0)
		return error;
	for (size_t i = 0; i < profile->structures.n; i++) {
		struct any_vec vec = structure_section_vec_of(&profile->structures.at[i], part->offset);
		if (vec.n > n - used)
			return decoder_refuse(decoder, "structure %zu has more rows than there are", i);
		if (vec.n == 0)
			continue;
		vec.at = alloc_resize(NULL, vec.n, stride);
		vec.cap = vec.n;
		memcpy(vec.at, (const char *)rows + used * stride, vec.n * stride);
		memcpy((char *)&profile->structures.at[i] + part->offset, &vec, sizeof(vec));
		used += vec.n;
	}
	return used == n ? 0 : decoder_refuse(decoder, "%zu rows belong to no structure", n - used);
}

static bool scopes_are_sound(const struct structure *s)
{
	if (s->scopes.n == 0 || s->scopes.at[0].kind != SCOPE_FUNCTION)
		return false;
	for (uint32_t i = 1; i < s->scopes.n; i++)
		if (s->scopes.at[i].parent >= i ||
		    (s->scopes.at[i].kind != SCOPE_INLINE && s->scopes.at[i].kind != SCOPE_LOOP))
			return false;
	return true;
}

static bool structure_section_ranges_are_sound(const struct structure *s)
{
	uint64_t end = 0;

	for (size_t i = 0; i < s->ranges.n; i++) {
		const struct static_range *range = &s->ranges.at[i];
		if (range->start < end || range->start + range->len < range->start ||
		    range->scope >= s->scopes.n)
			return false;
		end = range->start + range->len;
	}
	for (size_t i = 0; i < s->pieces.n; i++)
		if (s->pieces.at[i].scope >= s->scopes.n)
			return false;
	return true;
}

/* Checks what structure.h guarantees, so that later code can rely on it. */
static int check_structures(const struct decoder *decoder, const struct profile *profile)
{
	for (size_t i = 0; i < profile->structures.n; i++) {
		const struct structure *s = &profile->structures.at[i], *last = s - 1;
		if (i > 0 &&
		    (s->image < last->image || (s->image == last->image && s->function <= last->function)))
			return decoder_refuse(decoder, "structure %zu is out of order", i);
		if (!scopes_are_sound(s))
			return decoder_refuse(decoder, "scopes of structure %zu are invalid", i);
		if (!structure_section_ranges_are_sound(s))
			return decoder_refuse(decoder, "ranges of structure %zu are invalid", i);
	}
	return 0;
}

int structures_decode(struct decoder *decoder, struct profile *profile)
{
	struct reader r = reader_of(decoder->bytes);
	void *rows;
	int error = section_read_table(decoder, &r, &structure_table, &rows, &profile->structures.n);

	if (error < 0)
		return error;
	profile->structures.at = rows;
	profile->structures.cap = profile->structures.n;
	for (size_t p = 0; p < ARRAY_LEN(parts) && error == 0; p++)
		error = read_part(decoder, &r, profile, &parts[p]);
	return error < 0 ? error : check_structures(decoder, profile);
}
