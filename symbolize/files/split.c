/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/files/split.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "symbolize/dwarf/dwarf_names.h"

#define MAX_CODE_SECTIONS 16 /* of a .dwo file; compilers create one */

static struct image *split_open_regular(struct images *images, const char *path)
{
	struct stat st;
	image_id id;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || images_open(images, path, &id, NULL) < 0)
		return NULL;
	return images_get(images, id);
}

/* ---- packages ------------------------------------------------------------------------------ */

/* Columns of a package's index, by its version; -1 for sections that are not needed. */
static int section_of_column(uint32_t version, uint32_t column)
{
	switch (column) {
	case 1:
		return DWARF_INFO;
	case 3:
		return DWARF_ABBREV;
	case 4:
		return DWARF_LINE;
	case 6:
		return DWARF_STR_OFFSETS;
	case 8:
		return version == 5 ? DWARF_RNGLISTS : -1;
	default:
		return -1;
	}
}

struct package_index {
	uint32_t version, n_columns, n_units, n_slots;
	struct bytes signatures, rows, columns, offsets, sizes;
};

static bool read_index(struct image *package, struct package_index *ret)
{
	struct reader r = reader_of(image_named_bytes(package, ".debug_cu_index"));

	ret->version = read_u16(&r); /* the old format has 32 bits, the upper half of which is 0 */
	reader_skip(&r, 2);
	ret->n_columns = read_u32(&r);
	ret->n_units = read_u32(&r);
	ret->n_slots = read_u32(&r);
	ret->signatures = read_bytes(&r, 8ull * ret->n_slots);
	ret->rows = read_bytes(&r, 4ull * ret->n_slots);
	ret->columns = read_bytes(&r, 4ull * ret->n_columns);
	if (ret->n_columns > 16)
		return false;
	ret->offsets = read_bytes(&r, 4ull * ret->n_columns * ret->n_units);
	ret->sizes = read_bytes(&r, 4ull * ret->n_columns * ret->n_units);
	return !r.failed && (ret->version == 2 || ret->version == 5);
}

static uint32_t split_word_at(struct bytes table, uint64_t index)
{
	struct reader r = reader_of(bytes_slice(table, 4 * index, 4));

	return read_u32(&r);
}

/* Row of a unit, counted from 1; 0 if it is not in the package. */
static uint32_t split_find_row(const struct package_index *index, uint64_t id)
{
	struct reader r = reader_of(index->signatures);

	/* A linear search: packages are queried once per unit, and their hash table need not be trusted. */
	for (uint32_t slot = 0; slot < index->n_slots; slot++)
		if (read_u64(&r) == id && split_word_at(index->rows, slot) != 0)
			return split_word_at(index->rows, slot);
	return 0;
}

/* The sections of one unit, cut out of the package's. */
static bool open_packaged(struct image *package, struct split_file *split)
{
	struct package_index index;

	if (!read_index(package, &index))
		return false;
	uint32_t row = split_find_row(&index, split->skeleton->split_id);
	if (row == 0 || row > index.n_units)
		return false;
	dwarf_sections(package, true, split->dwarf.section);
	for (uint32_t i = 0; i < index.n_columns; i++) {
		int section = section_of_column(index.version, split_word_at(index.columns, i));
		uint64_t cell = (uint64_t)(row - 1) * index.n_columns + i;
		if (section >= 0)
			split->dwarf.section[section] =
				bytes_slice(split->dwarf.section[section], split_word_at(index.offsets, cell),
					    split_word_at(index.sizes, cell));
	}
	return true;
}

static struct image *find_package(struct debugfile *file)
{
	const char *const paths[] = { file->debug->path, file->image->path };

	if (file->looked_for_package)
		return file->package;
	file->looked_for_package = true;
	for (size_t i = 0; i < ARRAY_LEN(paths) && !file->package; i++) {
		CLEANUP(freep) char *path = alloc_printf("%s.dwp", paths[i]);
		file->package = split_open_regular(file->images, path);
	}
	return file->package;
}

/* ---- single files -------------------------------------------------------------------------- */

static struct image *open_under(const struct debugfile *file, const char *prefix, const char *directory,
				const char *name)
{
	CLEANUP(freep)
	char *path = alloc_printf("%s%s%s%s", prefix, directory, directory[0] ? "/" : "", name);

	return split_open_regular(file->images, path);
}

/* Where the compiler left it, under the known roots, or next to the image. */
static struct image *split_find_file(const struct debugfile *file, const struct unit *skeleton)
{
	const struct debug_search *search = file->search;
	const char *name = skeleton->split_name;
	const char *directory = name[0] == '/' ? "" : skeleton->directory;
	const char *slash = strrchr(name, '/'), *home = strrchr(file->debug->path, '/');
	struct image *image = open_under(file, "", directory, name);

	if (!image && search->symfs)
		image = open_under(file, search->symfs, directory, name);
	if (!image && search->target_root)
		image = open_under(file, search->target_root, directory, name);
	if (!image && home) {
		CLEANUP(freep)
		char *beside = alloc_text_n(file->debug->path, (size_t)(home - file->debug->path));
		image = open_under(file, "", beside, name[0] == '/' ? slash + 1 : name);
		if (!image && slash)
			image = open_under(file, "", beside, slash + 1);
	}
	return image;
}

/* ---- both ---------------------------------------------------------------------------------- */

/* The unit that belongs to the skeleton. DWARF 4 has the id in the root entry, DWARF 5 in the header. */
static const struct unit *matching_unit(const struct dwarf *dwarf, uint64_t id)
{
	for (size_t i = 0; i < dwarf->units.n; i++) {
		const struct unit *unit = &dwarf->units.at[i];
		if (unit->split_id == id && unit->type != DW_UT_split_type && unit->type != DW_UT_type)
			return unit;
	}
	return NULL;
}

/* Does a section start with a unit of types? */
static bool has_types(struct bytes section)
{
	struct reader r = reader_of(section);

	if (read_u32(&r) == 0xffffffff)
		read_u64(&r);
	return read_u16(&r) == 5 && read_u8(&r) == DW_UT_split_type;
}

/*
 * A file in which each type has its own section (DWARF 5 with -fdebug-types-section), all with the same name.
 * References do not leave a unit, so the one with code can be read without the others.
 */
static void find_code_section(struct image *image, struct split_file *split)
{
	const struct section *first = dwarf_section(image, DWARF_INFO, true);
	unsigned n_tried = 0;

	for (size_t i = 0; first && i < image->n_sections && n_tried < MAX_CODE_SECTIONS && !split->unit;
	     i++) {
		const struct section *section = &image->sections[i];
		if (section <= first || strcmp(section->name, first->name) != 0)
			continue;
		struct bytes bytes = image_section_bytes(image, section);
		if (has_types(bytes))
			continue;
		n_tried++;
		dwarf_done(&split->dwarf);
		split->dwarf.section[DWARF_INFO] = bytes;
		dwarf_index(&split->dwarf, split->skeleton);
		split->unit = matching_unit(&split->dwarf, split->skeleton->split_id);
	}
}

static struct split_file *open_split(struct debugfile *file, const struct unit *skeleton)
{
	struct split_file *split = alloc_zero(1, sizeof(*split));
	struct image *image = find_package(file);

	split->skeleton = skeleton;
	split->dwarf.id = atomic_fetch_add(file->ids, 1);
	split->dwarf.alt = file->dwarf.alt;
	bool is_packaged = image && open_packaged(image, split), is_there = is_packaged;
	if (!is_there && (image = split_find_file(file, skeleton))) {
		dwarf_sections(image, true, split->dwarf.section);
		is_there = true;
	}
	if (is_there) {
		dwarf_index(&split->dwarf, skeleton);
		split->unit = matching_unit(&split->dwarf, skeleton->split_id);
		if (!split->unit && !is_packaged)
			find_code_section(image, split);
		if (image->foreign) /* results from it are then not cached */
			file->identity = hash_u64(file->identity ^ image_identity(image));
	}
	return split;
}

const struct unit *split_find(struct debugfile *file, const struct unit *skeleton)
{
	struct split_file *split = NULL;

	pthread_mutex_lock(&file->lock);
	for (size_t i = 0; i < file->splits.n && !split; i++)
		if (file->splits.at[i]->skeleton == skeleton)
			split = file->splits.at[i];
	if (!split) {
		split = open_split(file, skeleton);
		vec_push(&file->splits, split);
	}
	pthread_mutex_unlock(&file->lock);
	return split->unit;
}
