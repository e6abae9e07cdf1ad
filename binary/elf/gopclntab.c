/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/elf/gopclntab.h"

enum go_magic {
	GO_1_2 = 0xfffffffb,
	GO_1_16 = 0xfffffffa,
	GO_1_18 = 0xfffffff0,
	GO_1_20 = 0xfffffff1,
};

#define KIND_AT_1_18 36u /* after nine numbers; 1.20 has a tenth, the first line */
#define KIND_AT_1_20 40u
#define FLAG_ASSEMBLY 4u

static uint64_t gopclntab_number_at(struct bytes table, uint64_t offset, unsigned size)
{
	struct reader r = reader_of(bytes_slice(table, offset, size));

	return read_uint(&r, size);
}

bool gopclntab_open(struct image *image, struct gopclntab *ret)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	const struct section *text = image_section(image, ".text");

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct bytes table = image_named_bytes(image, names[i]);
		if (table.len)
			return gopclntab_parse(table, text ? text->vaddr : 0, ret);
	}
	return false;
}

bool gopclntab_parse(struct bytes table, uint64_t text, struct gopclntab *ret)
{
	struct reader r = reader_of(table);
	uint32_t magic = read_u32(&r);
	uint16_t padding = read_u16(&r);
	uint8_t unit = read_u8(&r), size = read_u8(&r);

	*ret = (struct gopclntab){ .table = table, .pointer_size = size, .entry_size = size };
	if (r.failed || padding || (unit != 1 && unit != 4) || (size != 4 && size != 8))
		return false;
	ret->n_functions = read_uint(&r, size);
	switch (magic) {
	case GO_1_2:
		ret->functions = reader_offset(&r); /* and names are offsets in the whole table */
		break;
	case GO_1_16:
		reader_skip(&r, size); /* number of files */
		ret->names = read_uint(&r, size);
		reader_skip(&r, 3u * size); /* units, files, values by pc */
		ret->functions = read_uint(&r, size);
		break;
	case GO_1_18:
	case GO_1_20:
		reader_skip(&r, size);
		ret->text_start = read_uint(&r, size);
		ret->names = read_uint(&r, size);
		reader_skip(&r, 3u * size);
		ret->functions = read_uint(&r, size);
		ret->entry_size = 4;
		ret->kind_at = magic == GO_1_20 ? KIND_AT_1_20 : KIND_AT_1_18;
		if (ret->text_start == 0)
			ret->text_start = text; /* position-independent: filled in when the program starts */
		break;
	default:
		return false;
	}
	/* Every function has an entry: the count cannot exceed what fits. */
	return !r.failed && ret->n_functions < table.len / ret->entry_size && ret->functions < table.len &&
	       ret->names < table.len;
}

static enum go_kind gopclntab_kind(const struct gopclntab *table, uint64_t record)
{
	struct reader r = reader_of(bytes_slice(table->table, record + table->kind_at, 2));
	uint8_t number = read_u8(&r), flags = read_u8(&r);

	if (!table->kind_at || r.failed)
		return GO_KIND_UNKNOWN;
	if (number)
		return GO_KIND_SPECIAL;
	return flags & FLAG_ASSEMBLY ? GO_KIND_ASSEMBLY : GO_KIND_COMPILED;
}

bool gopclntab_get(const struct gopclntab *table, uint64_t index, struct go_function *ret)
{
	unsigned size = table->entry_size;
	struct reader r = reader_of(table->table);

	if (index >= table->n_functions)
		return false;
	reader_seek(&r, table->functions);
	reader_skip(&r, index * 2 * size);
	uint64_t start = read_uint(&r, size), record = read_uint(&r, size), end = read_uint(&r, size);
	if (r.failed)
		return false;

	/* Records are relative to the table of entries; in the oldest format to the start of the section. */
	uint64_t base = table->names ? table->functions : 0;
	unsigned start_size = table->names && size == 4 ? 4 : table->pointer_size;
	if (record > table->table.len || base + record + start_size + 4 > table->table.len)
		return false;
	uint32_t name = (uint32_t)gopclntab_number_at(table->table, base + record + start_size, 4);
	struct bytes rest = bytes_from(table->table, table->names + name);
	struct reader names =
		reader_of(bytes_slice(rest, 0, rest.len < GO_MAX_NAME ? rest.len : GO_MAX_NAME));
	*ret = (struct go_function){ table->text_start + start, table->text_start + end, read_cstr(&names),
				     gopclntab_kind(table, base + record) };
	return !names.failed && ret->end > ret->start && ret->name[0];
}
