/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/structure_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FORMAT_VERSION 10

enum { EXTENTS, SCOPES, RANGES, PIECES, STATEMENTS, N_ARRAYS };

struct stored_header {
	uint32_t n_structures, n_strings, n_text;
	uint32_t n[N_ARRAYS];
};

struct stored_structure {
	uint64_t function, basis;
	uint32_t n[N_ARRAYS]; /* each array follows that of the previous structure */
	uint32_t reserved;
};

struct stored_scope {
	uint64_t vaddr;
	uint32_t parent, kind, flags, name, linkage, file, line, end_line, call_file, call_line;
};

struct stored_piece {
	uint64_t header, start;
	uint32_t scope, n_blocks, flags, len, n_calls, width;
};

static const size_t element_size[N_ARRAYS] = { [EXTENTS] = sizeof(struct code_extent),
					       [SCOPES] = sizeof(struct stored_scope),
					       [RANGES] = sizeof(struct static_range),
					       [PIECES] = sizeof(struct stored_piece),
					       [STATEMENTS] = sizeof(struct statement) };
_Static_assert(sizeof(struct stored_header) == 32 && sizeof(struct stored_structure) == 40 &&
		       sizeof(struct stored_scope) == 48 && sizeof(struct stored_piece) == 40 &&
		       sizeof(struct static_range) == 16 && sizeof(struct statement) == 24,
	       "the layout is stored: raise FORMAT_VERSION");

struct store_key structure_store_key(uint64_t identity, bool demangles,
				     const struct structure_options *options)
{
	struct bytes version = { (const uint8_t *)CPPROF_VERSION, strlen(CPPROF_VERSION) };
	uint64_t choices =
		(uint64_t)demangles | (uint64_t)options->alien_only << 1 | (uint64_t)options->statements << 2;

	return (struct store_key){ "structures",
				   FORMAT_VERSION,
				   { identity, hash_u64(hash_bytes(version) + choices) } };
}

/* ---- writing ------------------------------------------------------------------------------- */

struct structure_packer {
	struct stored_header header;
	struct writer structures, arrays[N_ARRAYS], offsets, text;
	const struct intern *strings; /* the caller's, of the last call */
	VEC(uint32_t) ids;            /* for those: the number here + 1, 0 = not here yet */
};

static uint32_t pack_text(struct structure_packer *p, const char *text)
{
	write_u32(&p->offsets, (uint32_t)p->text.len);
	write_bytes(&p->text, (struct bytes){ (const uint8_t *)text, strlen(text) + 1 });
	return p->header.n_strings++;
}

struct structure_packer *structure_packer_new(void)
{
	struct structure_packer *p = alloc_zero(1, sizeof(*p));

	pack_text(p, ""); /* number 0 means no name, as everywhere */
	return p;
}

void structure_packer_free(struct structure_packer *p)
{
	if (!p)
		return;
	writer_done(&p->structures);
	for (size_t i = 0; i < N_ARRAYS; i++)
		writer_done(&p->arrays[i]);
	writer_done(&p->offsets);
	writer_done(&p->text);
	vec_done(&p->ids);
	free(p);
}

static uint32_t pack_id(struct structure_packer *p, const struct intern *strings, uint32_t id)
{
	if (id == 0)
		return 0;
	while (p->ids.n <= id)
		vec_push(&p->ids, 0);
	if (!p->ids.at[id])
		p->ids.at[id] = pack_text(p, intern_text(strings, id)) + 1;
	return p->ids.at[id] - 1;
}

static void structure_store_put(struct structure_packer *p, unsigned array, const void *element)
{
	write_bytes(&p->arrays[array], (struct bytes){ element, element_size[array] });
	p->header.n[array]++;
}

static void pack_scope(struct structure_packer *p, const struct static_scope *scope,
		       const struct intern *strings)
{
	struct stored_scope stored = { .vaddr = scope->vaddr,
				       .parent = scope->parent,
				       .kind = scope->kind,
				       .flags = scope->flags,
				       .name = pack_id(p, strings, scope->name),
				       .linkage = pack_id(p, strings, scope->linkage),
				       .file = pack_id(p, strings, scope->file),
				       .line = scope->line,
				       .end_line = scope->end_line,
				       .call_file = pack_id(p, strings, scope->call_file),
				       .call_line = scope->call_line };

	structure_store_put(p, SCOPES, &stored);
}

void structure_pack(struct structure_packer *p, const struct structure *s, const struct intern *strings)
{
	struct stored_structure stored = { .function = s->function,
					   .basis = s->basis,
					   .n = { (uint32_t)s->extents.n, (uint32_t)s->scopes.n,
						  (uint32_t)s->ranges.n, (uint32_t)s->pieces.n,
						  (uint32_t)s->statements.n } };

	if (p->strings != strings)
		vec_clear(&p->ids);
	p->strings = strings;
	for (size_t i = 0; i < s->extents.n; i++)
		structure_store_put(p, EXTENTS, &s->extents.at[i]);
	for (size_t i = 0; i < s->scopes.n; i++)
		pack_scope(p, &s->scopes.at[i], strings);
	for (size_t i = 0; i < s->ranges.n; i++)
		structure_store_put(p, RANGES, &s->ranges.at[i]);
	for (size_t i = 0; i < s->pieces.n; i++) {
		const struct loop_piece *piece = &s->pieces.at[i];
		structure_store_put(p, PIECES,
				    &(struct stored_piece){ piece->header, piece->start, piece->scope,
							    piece->n_blocks, piece->flags, piece->len,
							    piece->n_calls, piece->width });
	}
	for (size_t i = 0; i < s->statements.n; i++) {
		struct statement statement = s->statements.at[i];
		statement.file = pack_id(p, strings, statement.file);
		structure_store_put(p, STATEMENTS, &statement);
	}
	write_bytes(&p->structures, (struct bytes){ (const uint8_t *)&stored, sizeof(stored) });
	p->header.n_structures++;
}

void structure_packer_finish(const struct structure_packer *p, struct writer *ret)
{
	struct stored_header header = p->header;

	header.n_text = (uint32_t)p->text.len;
	write_bytes(ret, (struct bytes){ (const uint8_t *)&header, sizeof(header) });
	write_bytes(ret, writer_bytes(&p->structures));
	for (size_t i = 0; i < N_ARRAYS; i++)
		write_bytes(ret, writer_bytes(&p->arrays[i]));
	write_bytes(ret, writer_bytes(&p->offsets));
	write_bytes(ret, writer_bytes(&p->text));
}

/* ---- reading ------------------------------------------------------------------------------- */

struct cursor {
	uint32_t at[N_ARRAYS];
};

struct structure_entry {
	const struct stored_header *header;
	const struct stored_structure *structures;
	const void *arrays[N_ARRAYS];
	const uint32_t *offsets;
	const char *text;
	struct cursor *cursors; /* where the arrays of each structure start */
};

static const void *structure_store_take(struct reader *r, uint64_t count, size_t size)
{
	return read_bytes(r, count * size).at;
}

static bool find_arrays(struct structure_entry *e, struct bytes bytes)
{
	struct reader r = reader_of(bytes);

	e->header = structure_store_take(&r, 1, sizeof(*e->header));
	if (r.failed)
		return false;
	e->structures = structure_store_take(&r, e->header->n_structures, sizeof(*e->structures));
	for (size_t i = 0; i < N_ARRAYS; i++)
		e->arrays[i] = structure_store_take(&r, e->header->n[i], element_size[i]);
	e->offsets = structure_store_take(&r, e->header->n_strings, sizeof(*e->offsets));
	e->text = structure_store_take(&r, e->header->n_text, 1);
	return !r.failed && reader_left(&r) == 0 && e->header->n_strings > 0 && e->header->n_text > 0 &&
	       e->text[e->header->n_text - 1] == '\0';
}

static bool find_cursors(struct structure_entry *e)
{
	struct cursor at = { 0 };

	e->cursors = alloc_zero(e->header->n_structures + 1, sizeof(*e->cursors));
	for (uint32_t i = 0; i < e->header->n_structures; i++) {
		e->cursors[i] = at;
		for (size_t k = 0; k < N_ARRAYS; k++) {
			if (e->structures[i].n[k] > e->header->n[k] - at.at[k])
				return false;
			at.at[k] += e->structures[i].n[k];
		}
	}
	for (uint32_t i = 0; i < e->header->n_strings; i++)
		if (e->offsets[i] >= e->header->n_text)
			return false;
	return true;
}

static bool is_scope_sound(const struct stored_scope *scope, uint32_t index, uint32_t n_strings)
{
	bool is_named = scope->name < n_strings && scope->linkage < n_strings && scope->file < n_strings &&
			scope->call_file < n_strings;
	bool is_kind = index == 0 ? scope->kind == SCOPE_FUNCTION
				  : scope->kind == SCOPE_INLINE || scope->kind == SCOPE_LOOP;

	return is_named && is_kind && scope->flags <= UINT16_MAX &&
	       (index == 0 ? scope->parent == 0 : scope->parent < index);
}

/* Parents before children, every reference to an existing scope, every name present: printing relies on this.
 */
static bool is_sound(const struct structure_entry *e, uint32_t i)
{
	const struct stored_structure *s = &e->structures[i];
	const struct stored_scope *scopes =
		(const struct stored_scope *)e->arrays[SCOPES] + e->cursors[i].at[SCOPES];
	const struct static_range *ranges =
		(const struct static_range *)e->arrays[RANGES] + e->cursors[i].at[RANGES];
	const struct stored_piece *pieces =
		(const struct stored_piece *)e->arrays[PIECES] + e->cursors[i].at[PIECES];
	const struct statement *statements =
		(const struct statement *)e->arrays[STATEMENTS] + e->cursors[i].at[STATEMENTS];
	bool is_good = s->n[SCOPES] > 0;

	for (uint32_t k = 0; is_good && k < s->n[SCOPES]; k++)
		is_good = is_scope_sound(&scopes[k], k, e->header->n_strings);
	for (uint32_t k = 0; is_good && k < s->n[RANGES]; k++)
		is_good = ranges[k].scope < s->n[SCOPES];
	for (uint32_t k = 0; is_good && k < s->n[PIECES]; k++)
		is_good = pieces[k].scope < s->n[SCOPES];
	for (uint32_t k = 0; is_good && k < s->n[STATEMENTS]; k++)
		is_good = statements[k].scope < s->n[SCOPES] && statements[k].file < e->header->n_strings;
	return is_good;
}

struct structure_entry *structure_entry_open(struct bytes bytes)
{
	struct structure_entry *e = alloc_zero(1, sizeof(*e));
	bool is_good = find_arrays(e, bytes) && find_cursors(e);

	for (uint32_t i = 0; is_good && i < e->header->n_structures; i++)
		is_good = is_sound(e, i);
	if (is_good)
		return e;
	structure_entry_close(e);
	return NULL;
}

void structure_entry_close(struct structure_entry *e)
{
	if (!e)
		return;
	free(e->cursors);
	free(e);
}

size_t structure_entry_count(const struct structure_entry *e)
{
	return e->header->n_structures;
}

const char *structure_entry_text(const struct structure_entry *e, uint32_t id)
{
	return id < e->header->n_strings ? e->text + e->offsets[id] : "";
}

static void get_scopes(const struct stored_scope *stored, uint32_t n, struct structure *ret)
{
	for (uint32_t k = 0; k < n; k++)
		vec_push(&ret->scopes, (struct static_scope){ .parent = stored[k].parent,
							      .kind = (uint8_t)stored[k].kind,
							      .flags = (uint16_t)stored[k].flags,
							      .name = stored[k].name,
							      .linkage = stored[k].linkage,
							      .file = stored[k].file,
							      .line = stored[k].line,
							      .end_line = stored[k].end_line,
							      .call_file = stored[k].call_file,
							      .call_line = stored[k].call_line,
							      .vaddr = stored[k].vaddr });
}

void structure_entry_get(const struct structure_entry *e, size_t i, struct structure *ret)
{
	const struct stored_structure *s = &e->structures[i];
	const uint32_t *at = e->cursors[i].at;
	const struct code_extent *extents = (const struct code_extent *)e->arrays[EXTENTS] + at[EXTENTS];
	const struct static_range *ranges = (const struct static_range *)e->arrays[RANGES] + at[RANGES];
	const struct stored_piece *pieces = (const struct stored_piece *)e->arrays[PIECES] + at[PIECES];
	const struct statement *statements = (const struct statement *)e->arrays[STATEMENTS] + at[STATEMENTS];

	ret->function = s->function;
	ret->basis = s->basis;
	vec_clear(&ret->extents);
	vec_clear(&ret->scopes);
	vec_clear(&ret->ranges);
	vec_clear(&ret->pieces);
	vec_clear(&ret->statements);
	for (uint32_t k = 0; k < s->n[EXTENTS]; k++)
		vec_push(&ret->extents, extents[k]);
	get_scopes((const struct stored_scope *)e->arrays[SCOPES] + at[SCOPES], s->n[SCOPES], ret);
	for (uint32_t k = 0; k < s->n[RANGES]; k++)
		vec_push(&ret->ranges, ranges[k]);
	for (uint32_t k = 0; k < s->n[PIECES]; k++)
		vec_push(&ret->pieces,
			 (struct loop_piece){ pieces[k].scope, pieces[k].header, pieces[k].n_blocks,
					      pieces[k].flags, pieces[k].start, pieces[k].len,
					      pieces[k].n_calls, pieces[k].width });
	for (uint32_t k = 0; k < s->n[STATEMENTS]; k++)
		vec_push(&ret->statements, statements[k]);
}

uint64_t structure_entry_function(const struct structure_entry *e, size_t i)
{
	return e->structures[i].function;
}

void structure_entry_rename(const struct structure_entry *e, struct structure *s, struct intern *strings)
{
	for (size_t i = 0; i < s->scopes.n; i++) {
		struct static_scope *scope = &s->scopes.at[i];
		uint32_t *const ids[] = { &scope->name, &scope->linkage, &scope->file, &scope->call_file };
		for (size_t k = 0; k < ARRAY_LEN(ids); k++)
			*ids[k] = intern_add(strings, structure_entry_text(e, *ids[k]));
	}
	for (size_t i = 0; i < s->statements.n; i++)
		s->statements.at[i].file =
			intern_add(strings, structure_entry_text(e, s->statements.at[i].file));
}
