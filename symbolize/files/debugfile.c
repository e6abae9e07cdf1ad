/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/files/debugfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/compress.h"
#include "base/text.h"
#include "symbolize/dwarf/aranges.h"
#include "symbolize/files/debuginfod.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"
#define MAX_CHECKED (4ull << 30) /* the checksum of larger files takes many seconds */
#define MAX_DIGITS (2 * BUILD_ID_MAX + 1)

__attribute__((format(printf, 3, 4))) static void say(const struct debug_search *search, bool is_warning,
						      const char *format, ...)
{
	char *text;
	va_list args;

	if (!search->note)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		search->note(search->context, is_warning, text);
	free(text);
}

/* ---- one candidate ------------------------------------------------------------------------- */

/* What a separate file must match to be accepted. */
struct wanted {
	struct debugfile *file;
	const struct build_id *build_id; /* len 0 = unknown: the checksum decides */
	bool is_sup;                     /* the id in its .debug_sup must be equal */
	uint32_t crc;
	bool has_crc;
	const char *what; /* "debug file", "dwz file" */
};

static void debugfile_say_large(const struct wanted *wanted, const char *path, uint64_t size)
{
	say(wanted->file->search, true, "%s '%s' is too large (%llu GB) and was skipped", wanted->what, path,
	    (unsigned long long)size >> 30);
}

static void read_id(struct reader *r, uint64_t len, struct build_id *ret)
{
	struct bytes id = read_bytes(r, len);

	ret->len = (uint8_t)(id.len < BUILD_ID_MAX ? id.len : BUILD_ID_MAX);
	if (ret->len)
		memcpy(ret->bytes, id.at, ret->len);
}

/*
 * .debug_sup of DWARF 5, which both the referring file and the supplementary file have: whether this is the
 * latter, the path of the latter, and an id that is the same in both. "" if there is none.
 */
static const char *read_sup(struct image *image, bool is_supplementary, struct build_id *ret)
{
	struct reader r = reader_of(image_named_bytes(image, ".debug_sup"));

	if (read_u16(&r) != 5 || read_u8(&r) != is_supplementary)
		return "";
	const char *path = read_cstr(&r);
	read_id(&r, read_uleb(&r), ret);
	return r.failed ? "" : path;
}

static bool is_the_one(const struct wanted *wanted, struct image *candidate, const char *path)
{
	const struct debug_search *search = wanted->file->search;
	struct build_id id = candidate->build_id;

	if (wanted->is_sup) {
		id.len = 0;
		read_sup(candidate, true, &id);
	}
	if (wanted->build_id->len && (id.len || wanted->is_sup)) {
		if (build_id_equal(wanted->build_id, &id))
			return true;
		say(search, true, "%s '%s' does not belong to '%s': its %s differs", wanted->what, path,
		    wanted->file->image->path, wanted->is_sup ? "id" : "build-id");
		return false;
	}
	if (wanted->has_crc && candidate->file.len > MAX_CHECKED) {
		debugfile_say_large(wanted, path, candidate->file.len);
		return false;
	}
	if (wanted->has_crc && compress_crc32(candidate->file) == wanted->crc)
		return true;
	if (wanted->has_crc)
		say(search, true, "%s '%s' does not belong to '%s': its checksum differs", wanted->what, path,
		    wanted->file->image->path);
	return false;
}

/* NULL unless path is a regular file, an ELF file, and the one that is wanted. */
static struct image *try_file(const struct wanted *wanted, const char *path)
{
	struct debugfile *file = wanted->file;
	struct stat st;
	image_id id;

	/* Paths come from foreign files: never open a device. */
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		say(file->search, false, "no '%s'", path);
		return NULL;
	}
	int error = images_open_mapped(file->images, path, &id, NULL);
	if (error == -EFBIG)
		debugfile_say_large(wanted, path, (uint64_t)st.st_size);
	else if (error < 0)
		say(file->search, false, "'%s' cannot be read", path);
	if (error < 0)
		return NULL;
	struct image *image = images_get(file->images, id);
	if (!is_the_one(wanted, image, path))
		return NULL;
	say(file->search, false, "found '%s'", path);
	return image;
}

__attribute__((format(printf, 2, 3))) static struct image *try_printf(const struct wanted *wanted,
								      const char *format, ...)
{
	char *path;
	va_list args;

	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = NULL;
	va_end(args);
	struct image *image = path ? try_file(wanted, path) : NULL;
	free(path);
	return image;
}

/* ---- places -------------------------------------------------------------------------------- */

static struct image *try_build_id(const struct wanted *wanted, const char *directory)
{
	char digits[MAX_DIGITS];

	if (wanted->build_id->len < 2)
		return NULL;
	build_id_format(wanted->build_id, digits);
	return try_printf(wanted, "%s/.build-id/%.2s/%s.debug", directory, digits, digits + 2);
}

/* The debug link's name next to the image, and under a directory with the image's path; under a directory, a
 * path is absolute. */
static struct image *try_link(const struct wanted *wanted, const char *directory, const char *link)
{
	const char *path = wanted->file->image->path;
	CLEANUP(freep) char *absolute = directory[0] && path[0] != '/' ? realpath(path, NULL) : NULL;

	path = absolute ? absolute : path;
	const char *slash = strrchr(path, '/');
	return try_printf(wanted, "%s%.*s%s", directory, slash ? (int)(slash + 1 - path) : 0, path, link);
}

typedef struct image *(*try_place)(const struct wanted *wanted, const char *directory, const char *link);

/* Every debug directory in turn, with and without the prefixes for the target's root. */
static struct image *try_directories(const struct wanted *wanted, try_place try, const char *link)
{
	const struct debug_search *search = wanted->file->search;
	const char *const prefixes[] = { search->symfs, search->target_root };
	struct image *image = try(wanted, SYSTEM_DEBUG_DIR, link);

	for (size_t i = 0; !image && i < search->n_directories; i++)
		image = try(wanted, search->directories[i], link);
	for (size_t i = 0; !image && i < ARRAY_LEN(prefixes); i++) {
		CLEANUP(freep) char *directory = NULL;
		if (!prefixes[i])
			continue;
		directory = alloc_printf("%s" SYSTEM_DEBUG_DIR, prefixes[i]);
		image = try(wanted, directory, link);
	}
	return image;
}

static struct image *try_build_id_place(const struct wanted *wanted, const char *directory, const char *link)
{
	(void)link;
	return try_build_id(wanted, directory);
}

/* .gnu_debuglink: a file name, padded to four bytes, and the checksum of that file. */
static const char *read_link(struct image *image, uint32_t *ret_crc)
{
	struct reader r = reader_of(image_named_bytes(image, ".gnu_debuglink"));
	const char *link = read_cstr(&r);

	reader_skip(&r, (4 - reader_offset(&r) % 4) % 4);
	*ret_crc = read_u32(&r);
	return r.failed || strchr(link, '/') ? "" : link;
}

static struct image *find_by_link(struct wanted *wanted, const char *link)
{
	const struct debug_search *search = wanted->file->search;
	CLEANUP(freep) char *hidden = alloc_printf(".debug/%s", link);
	struct image *image = NULL;

	image = try_link(wanted, "", link);
	if (!image)
		image = try_link(wanted, "", hidden);
	if (!image)
		image = try_directories(wanted, try_link, link);
	if (!image && search->symfs)
		image = try_link(wanted, search->symfs, link);
	if (!image && search->target_root)
		image = try_link(wanted, search->target_root, link);
	return image;
}

struct fetch {
	const struct debug_search *search;
	const char *image;
};

static void show_fetch(void *context, uint64_t done, uint64_t total)
{
	const struct fetch *fetch = context;

	fetch->search->fetching(fetch->search->context, fetch->image, done, total);
}

static void say_not_asked(const struct wanted *wanted, int error)
{
	static atomic_flag is_said = ATOMIC_FLAG_INIT;
	const struct debug_search *search = wanted->file->search;
	const char *path = wanted->file->image->path;

	if (error == -ENOENT)
		say(search, false, "debuginfod does not have '%s'", path);
	else if (error != -ENOPKG)
		say(search, true, "debuginfod failed for '%s': %s", path, strerror(-error));
	else if (!atomic_flag_test_and_set(&is_said)) /* only once, not for each file */
		say(search, true,
		    "DEBUGINFOD_URLS is set, but debuginfod-find is not installed: try installing the "
		    "package "
		    "debuginfod (elfutils-debuginfod-client on Fedora)");
}

static struct image *ask_debuginfod(const struct wanted *wanted)
{
	const struct debug_search *search = wanted->file->search;
	char *path;

	if (!search->asks_debuginfod || !wanted->build_id->len || !debuginfod_is_wanted())
		return NULL;
	say(search, false, "asking debuginfod for '%s'", wanted->file->image->path);
	struct fetch fetch = { search, wanted->file->image->path };
	int error = search->fetch ? search->fetch(search->fetch_context, wanted->build_id, fetch.image, &path)
				  : debuginfod_find(wanted->build_id, search->fetching ? show_fetch : NULL,
						    &fetch, &path);
	if (error < 0) {
		say_not_asked(wanted, error);
		return NULL;
	}
	struct image *image = try_file(wanted, path);
	free(path);
	return image;
}

static bool has_dwarf(const struct image *image)
{
	return image_section(image, ".debug_info") || image_section(image, ".zdebug_info") ||
	       image_section(image, ".debug_line");
}

static struct image *find_separate(struct debugfile *file)
{
	struct wanted wanted = { .file = file, .build_id = &file->image->build_id, .what = "debug file" };
	const char *link = read_link(file->image, &wanted.crc);
	struct image *image = try_directories(&wanted, try_build_id_place, NULL);

	if (!image && link[0]) {
		wanted.has_crc = true;
		image = find_by_link(&wanted, link);
	}
	return image ? image : ask_debuginfod(&wanted);
}

/* ---- the supplementary file ------------------------------------------------------------------ */

/* .gnu_debugaltlink (dwz) or .debug_sup (DWARF 5): a path and an id. */
static const char *read_alt_link(struct image *debug, struct build_id *ret, bool *ret_is_sup)
{
	struct reader r = reader_of(image_named_bytes(debug, ".gnu_debugaltlink"));

	*ret_is_sup = reader_left(&r) == 0;
	if (*ret_is_sup)
		return read_sup(debug, false, ret);
	const char *path = read_cstr(&r);
	read_id(&r, reader_left(&r), ret);
	return r.failed ? "" : path;
}

static struct image *find_alt(struct debugfile *file)
{
	const struct debug_search *search = file->search;
	struct build_id build_id = { 0 };
	struct wanted wanted = { .file = file, .build_id = &build_id, .what = "dwz file" };
	const char *link = read_alt_link(file->debug, &build_id, &wanted.is_sup);
	const char *path = file->debug->path, *slash = strrchr(path, '/');
	struct image *image;

	if (!link[0])
		return NULL;
	if (link[0] == '/')
		image = try_file(&wanted, link);
	else
		image = try_printf(&wanted, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, link);
	if (!image && search->symfs)
		image = try_printf(&wanted, "%s/%s", search->symfs, link);
	if (!image && search->target_root)
		image = try_printf(&wanted, "%s/%s", search->target_root, link);
	if (!image)
		image = try_directories(&wanted, try_build_id_place, NULL);
	if (!image)
		say(search, true,
		    "'%s' refers to '%s', which is missing: some inlined functions will have no name", path,
		    link);
	return image;
}

/* ---- all of it ----------------------------------------------------------------------------- */

void debugfile_open(struct debugfile *file, struct image *image, const struct debug_search *search,
		    atomic_uint *ids)
{
	*file = (struct debugfile){ .image = image, .images = images_new(), .search = search, .ids = ids };
	pthread_mutex_init(&file->lock, NULL);
	file->identity = image_identity(image);
	file->dwarf.id = atomic_fetch_add(ids, 1);
	file->alt.id = atomic_fetch_add(ids, 1);
	say(search, false, "debug information of '%s':", image->path);
	file->debug = has_dwarf(image) ? image : find_separate(file);
	if (!file->debug) {
		file->how = alloc_text("no debug information");
		return;
	}
	if (file->debug != image)
		file->identity = hash_u64(file->identity ^ image_identity(file->debug));
	file->how = alloc_text(file->debug == image ? "in the image" : file->debug->path);

	file->alt_image = find_alt(file);
	if (file->alt_image)
		file->identity = hash_u64(file->identity ^ image_identity(file->alt_image));
}

uint64_t debugfile_reach(struct debugfile *file, const uint64_t *vaddrs, size_t n)
{
	const struct section *info = file->debug ? dwarf_section(file->debug, DWARF_INFO, false) : NULL;

	if (!info || image_section_size(file->debug, info) == info->size)
		return UINT64_MAX; /* it is not compressed */
	return aranges_reach(file->debug, file->image, vaddrs, n);
}

void debugfile_load(struct debugfile *file, uint64_t info_end)
{
	if (file->alt_image) {
		dwarf_sections(file->alt_image, false, file->alt.section);
		file->dwarf.alt = &file->alt;
		dwarf_index(&file->alt, NULL);
	}
	if (file->debug && info_end != UINT64_MAX)
		dwarf_sections_up_to(file->debug, info_end, &file->dwarf, &file->rest);
	else if (file->debug)
		dwarf_sections(file->debug, false, file->dwarf.section);
	dwarf_index(&file->dwarf, NULL);
}

void debugfile_unload(struct debugfile *file)
{
	dwarf_rest_done(&file->rest);
	dwarf_done(&file->dwarf);
	dwarf_done(&file->alt);
	file->dwarf = (struct dwarf){ .id = file->dwarf.id };
	file->alt = (struct dwarf){ .id = file->alt.id };
}

void debugfile_done(struct debugfile *file)
{
	for (size_t i = 0; i < file->splits.n; i++) {
		dwarf_done(&file->splits.at[i]->dwarf);
		free(file->splits.at[i]);
	}
	vec_done(&file->splits);
	dwarf_rest_done(&file->rest);
	dwarf_done(&file->dwarf);
	dwarf_done(&file->alt);
	images_free(file->images);
	free(file->how);
	pthread_mutex_destroy(&file->lock);
}
