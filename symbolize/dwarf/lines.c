/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf/lines.h"

#include "base/search.h"
#include "base/text.h"
#include "symbolize/dwarf/dwarf_names.h"
#include "symbolize/file_text.h"

#define MAX_FILES (1u << 20)
#define MAX_FORMATS 256     /* a count stored in one byte */
#define MAX_PATH_PART 16384 /* of a directory or file; longer ones are damage */
/* Pairs of row and part processed in one program: rows that go back and forth cost more than others. */
#define MAX_WORK (256u << 20)

/* ---- header -------------------------------------------------------------------------------- */

static void read_old_tables(struct line_table *table, struct reader *r)
{
	while (!r->failed && table->directories.n < MAX_FILES) {
		const char *directory = read_cstr(r);
		if (!directory[0])
			break;
		vec_push(&table->directories, directory);
	}
	while (!r->failed && table->files.n < MAX_FILES) {
		struct line_file file = { .name = read_cstr(r) };
		if (!file.name[0])
			break;
		file.directory = read_uleb(r);
		read_uleb(r); /* time */
		read_uleb(r); /* size */
		vec_push(&table->files, file);
	}
}

/*
 * DWARF 5: a list of (content, form) pairs, then entries of that shape. The width of offsets is that of the
 * table: the assembler writes it, and may use 4 bytes although the compiler's unit has 8.
 */
static void read_entries(struct line_table *table, struct reader *r, uint8_t offset_size, bool is_files)
{
	struct unit shape = *table->unit;
	struct attribute_spec formats[MAX_FORMATS];
	unsigned n_formats = read_u8(r);

	shape.offset_size = offset_size;
	for (unsigned i = 0; i < n_formats; i++) {
		uint64_t content = read_uleb(r), form = read_uleb(r);
		formats[i] = (struct attribute_spec){ content > UINT16_MAX ? 0 : (uint16_t)content,
						      form > UINT16_MAX ? 0 : (uint16_t)form, 0 };
	}
	uint64_t count = read_uleb(r);
	for (uint64_t n = 0; n < count && n < MAX_FILES && n_formats && !r->failed; n++) {
		struct line_file file = { .name = "" };
		for (unsigned i = 0; i < n_formats; i++) {
			struct attribute value = attribute_read(r, &shape, &formats[i]);
			if (formats[i].name == DW_LNCT_path)
				file.name = attribute_text(&value, table->unit);
			else if (formats[i].name == DW_LNCT_directory_index)
				file.directory = value.value;
		}
		if (is_files)
			vec_push(&table->files, file);
		else
			vec_push(&table->directories, file.name);
	}
}

static void lines_read_header(struct line_table *table, struct reader *r, uint8_t offset_size)
{
	if (table->version >= 5)
		reader_skip(r, 2); /* address size, segment size */
	uint64_t header_length = read_uint(r, offset_size);
	if (header_length > reader_left(r))
		reader_fail(r);
	const uint8_t *program = r->at + (r->failed ? 0 : header_length);

	table->min_insn = read_u8(r);
	if (table->version >= 4)
		reader_skip(r, 1); /* operations per instruction: 1 on all supported machines */
	table->is_statement = read_u8(r) != 0;
	table->line_base = (int8_t)read_u8(r);
	table->line_range = read_u8(r);
	table->opcode_base = read_u8(r);
	for (unsigned i = 1; i < table->opcode_base; i++)
		table->operands[i] = read_u8(r);
	if (table->version >= 5) {
		read_entries(table, r, offset_size, false);
		read_entries(table, r, offset_size, true);
	} else {
		read_old_tables(table, r);
	}
	if (table->line_range == 0)
		reader_fail(r);
	table->program = (struct bytes){ program, (size_t)(r->end - program) };
}

bool lines_open(const struct unit *unit, struct line_table *ret)
{
	struct reader r = reader_of(unit->dwarf->section[DWARF_LINE]);
	uint8_t offset_size = 4;

	*ret = (struct line_table){ .unit = unit, .has_blocks = strstr(unit->producer, "GNU Fortran") };
	if (!unit->has_lines)
		return false;
	reader_seek(&r, unit->line_offset);
	uint64_t length = read_u32(&r);
	if (length == 0xffffffff) {
		offset_size = 8;
		length = read_u64(&r);
	}
	if (r.failed || length > reader_left(&r))
		return false;
	r.end = r.at + length;
	ret->version = (uint8_t)read_u16(&r);
	if (ret->version < 2 || ret->version > 5)
		return false;
	lines_read_header(ret, &r, offset_size);
	if (r.failed)
		ret->program = (struct bytes){ 0 };
	return !r.failed;
}

void lines_done(struct line_table *table)
{
	vec_done(&table->directories);
	vec_done(&table->files);
}

/* ---- source paths -------------------------------------------------------------------------- */

/* Removes the last component; false if there is none that a literal ".." would undo. */
static bool drop_component(struct text *text)
{
	const char *slash = text->len ? memrchr(text->at, '/', text->len) : NULL;
	size_t start = slash ? (size_t)(slash - text->at) : 0;

	if (text->len == 0 || strcmp(text->at + start + (slash ? 1 : 0), "..") == 0)
		return false;
	text->len = start;
	text->at[text->len] = '\0';
	return true;
}

void lines_add_path(struct text *text, const char *path)
{
	if (strnlen(path, MAX_PATH_PART) == MAX_PATH_PART)
		return;
	if (path[0] == '/')
		text_clear(text);
	bool is_absolute = path[0] == '/' || (text->len && text->at[0] == '/');

	while (*path) {
		size_t len = strcspn(path, "/");
		bool is_up = len == 2 && path[0] == '.' && path[1] == '.';
		bool is_here = len == 0 || (len == 1 && path[0] == '.');

		if (!is_here && !(is_up && (drop_component(text) || is_absolute))) {
			if (is_absolute || text->len)
				text_add(text, "/", 1);
			text_add(text, path, len);
		}
		path += len + (path[len] == '/');
	}
}

/* Directory 0 is that of the compilation; the others are relative to it. */
static void add_directory(struct text *text, const struct line_table *table, uint64_t index)
{
	uint64_t slot = table->version < 5 ? index - 1 : index;

	if (index != 0 || slot >= table->directories.n)
		lines_add_path(text, table->unit->directory);
	if (slot < table->directories.n)
		lines_add_path(text, table->directories.at[slot]);
}

uint32_t lines_file(struct line_table *table, uint64_t index, struct intern *strings, struct image *image)
{
	struct text path = { 0 };

	if (table->version < 5)
		index--; /* 0 means no file */
	if (index >= table->files.n)
		return 0;
	struct line_file *file = &table->files.at[index];
	if (file->id || !file->name[0])
		return file->id;
	text_add(&path, "", 0);
	add_directory(&path, table, file->directory);
	lines_add_path(&path, file->name);
	file->id = file_text_add(strings, image, path.at, path.len);
	if (!file->id)
		file->name = ""; /* not tried again for every row */
	text_done(&path);
	return file->id;
}

/* ---- the program --------------------------------------------------------------------------- */

struct machine {
	struct line_table *table;
	struct image *image;
	struct intern *strings;
	struct line_part *parts;
	size_t n_parts;
	size_t part;       /* the first that ends after the pending row */
	uint64_t sequence; /* counts from 1 */
	uint64_t work;
	bool is_dead; /* this sequence describes code that the linker removed */
	bool has_pending;
	uint64_t vaddr; /* registers */
	uint64_t file;
	uint32_t line, column;
	uint64_t block;
	bool is_statement;
	uint64_t pending_vaddr;
	struct line_row pending;
	uint64_t pending_file;
};

static void start_sequence(struct machine *m)
{
	m->sequence++;
	m->has_pending = m->is_dead = false;
	m->vaddr = m->column = 0;
	m->block = 0;
	m->file = m->line = 1;
	m->is_statement = m->table->is_statement;
}

static size_t first_part_behind(const struct machine *m, uint64_t vaddr)
{
	return search_first(i, m->n_parts, m->parts[i].end > vaddr);
}

static bool is_same_row(const struct line_row *a, const struct line_row *b)
{
	return a->file == b->file && a->line == b->line && a->column == b->column &&
	       a->is_statement == b->is_statement && a->block == b->block;
}

/* The pending row is valid up to `end`: adds it to every part that it overlaps. */
static void keep_pending(struct machine *m, uint64_t end)
{
	for (size_t i = m->part; i < m->n_parts && m->parts[i].start < end && m->work < MAX_WORK;
	     i++, m->work++) {
		struct line_part *part = &m->parts[i];
		struct line_row row = m->pending;
		if (part->sequence && part->sequence != m->sequence)
			continue;
		part->sequence = m->sequence;
		row.offset = m->pending_vaddr > part->start ? (uint32_t)(m->pending_vaddr - part->start) : 0;
		row.file = lines_file(m->table, m->pending_file, m->strings, m->image);
		struct line_row *last =
			part->map->lines.n ? &part->map->lines.at[part->map->lines.n - 1] : NULL;
		if (last && (row.offset <= last->offset || is_same_row(&row, last)))
			continue;
		vec_push(&part->map->lines, row);
	}
}

static void emit_row(struct machine *m, bool is_end)
{
	if (!m->has_pending) {
		m->is_dead = !image_is_executable(m->image, m->vaddr);
		m->part = first_part_behind(m, m->vaddr);
	} else if (m->vaddr > m->pending_vaddr) {
		while (m->part < m->n_parts && m->parts[m->part].end <= m->pending_vaddr)
			m->part++;
		if (m->part < m->n_parts && m->parts[m->part].start < m->vaddr && !m->is_dead)
			keep_pending(m, m->vaddr);
	} else if (m->vaddr < m->pending_vaddr) {
		m->part = first_part_behind(
			m, m->vaddr); /* not allowed, but then the row is still at this address */
	}
	m->has_pending = !is_end;
	m->pending_vaddr = m->vaddr;
	m->pending_file = m->file;
	m->pending.line = m->line;
	m->pending.column = m->column > UINT16_MAX ? 0 : (uint16_t)m->column;
	m->pending.is_statement = m->is_statement;
	m->pending.block = m->table->has_blocks && m->block <= UINT8_MAX ? (uint8_t)m->block : 0;
	m->block = 0;
}

static void lines_extended(struct machine *m, struct reader *r)
{
	uint64_t len = read_uleb(r);
	struct reader body = reader_of(read_bytes(r, len));

	switch (len ? read_u8(&body) : 0) {
	case DW_LNE_end_sequence:
		emit_row(m, true);
		start_sequence(m);
		break;
	case DW_LNE_set_address:
		m->vaddr = reader_left(&body) <= 8 ? read_uint(&body, (unsigned)reader_left(&body)) : 0;
		break;
	case DW_LNE_define_file: {
		struct line_file file = { .name = read_cstr(&body), .directory = read_uleb(&body) };
		if (!body.failed && m->table->files.n < MAX_FILES)
			vec_push(&m->table->files, file);
		break;
	}
	case DW_LNE_set_discriminator:
		m->block = read_uleb(&body);
		break;
	default:
		break;
	}
}

static void standard(struct machine *m, struct reader *r, uint8_t opcode)
{
	const struct line_table *table = m->table;

	switch (opcode) {
	case DW_LNS_extended:
		lines_extended(m, r);
		break;
	case DW_LNS_copy:
		emit_row(m, false);
		break;
	case DW_LNS_advance_pc:
		m->vaddr += read_uleb(r) * table->min_insn;
		break;
	case DW_LNS_advance_line:
		m->line += (uint32_t)read_sleb(r);
		break;
	case DW_LNS_set_file:
		m->file = read_uleb(r);
		break;
	case DW_LNS_set_column:
		m->column = (uint32_t)read_uleb(r);
		break;
	case DW_LNS_negate_stmt:
		m->is_statement = !m->is_statement;
		break;
	case DW_LNS_const_add_pc:
		m->vaddr += (uint64_t)((255 - table->opcode_base) / table->line_range) * table->min_insn;
		break;
	case DW_LNS_fixed_advance_pc:
		m->vaddr += read_u16(r);
		break;
	default:
		for (unsigned i = 0; i < table->operands[opcode]; i++)
			read_uleb(r);
	}
}

void lines_run(struct line_table *table, struct image *image, struct intern *strings, struct line_part *parts,
	       size_t n_parts)
{
	struct machine m = {
		.table = table, .image = image, .strings = strings, .parts = parts, .n_parts = n_parts
	};
	struct reader r = reader_of(table->program);

	start_sequence(&m);
	while (reader_left(&r) > 0) {
		uint8_t opcode = read_u8(&r);
		if (opcode < table->opcode_base) {
			standard(&m, &r, opcode);
			continue;
		}
		uint8_t adjusted = (uint8_t)(opcode - table->opcode_base);
		m.vaddr += (uint64_t)(adjusted / table->line_range) * table->min_insn;
		m.line += (uint32_t)(table->line_base + adjusted % table->line_range);
		emit_row(&m, false);
	}
}
