/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/cleanup.h"
#include "base/compress.h"
#include "profile/container.h"
#include "profile/section.h"

static int container_refuse(struct diag *diag, const char *name, uint64_t offset, const char *why)
{
	diag_set(diag, -EBADMSG, "profile '%s' is corrupt", name);
	diag_why(diag, "at offset %llu: %s", (unsigned long long)offset, why);
	return -EBADMSG;
}

static const char standard_input[] = "standard input";

static bool starts_as_profile(struct bytes file)
{
	return file.len >= sizeof(CONTAINER_MAGIC) &&
	       memcmp(file.at, CONTAINER_MAGIC, sizeof(CONTAINER_MAGIC)) == 0;
}

/* JSON, a page or a picture, or gzip: most of what `cpprof export` writes. */
static bool starts_as_export(struct bytes file)
{
	static const char *const starts[] = { "{", "<!", "<?xml", "<svg", "\x1f\x8b", "# HELP cpprof_" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (file.len >= strlen(starts[i]) && memcmp(file.at, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* Files that users mistake for a profile, and what to do with them. */
static int refuse_stranger(struct bytes file, const char *name, struct diag *diag)
{
	diag_set(diag, -EBADMSG, "'%s' is not a cpprof profile", name);
	diag_why(diag, file.len ? "its first bytes are not those of a profile" : "it is empty");
	if (file.len >= 7 && memcmp(file.at, "PERFILE", 7) == 0) {
		diag_why(diag, "it is a perf.data recording");
		diag_hint(diag, "try: cpprof import %s", name == standard_input ? "-" : name);
	} else if (file.len >= 4 && memcmp(file.at, "\177ELF", 4) == 0) {
		diag_why(diag, "it is a program or a library");
		diag_hint(diag, "try: cpprof record -- COMMAND");
	} else if (starts_as_export(file)) {
		diag_why(diag, "this is an export; give the profile it came from");
	}
	return -EBADMSG;
}

static struct container_entry container_read_entry(struct reader *r)
{
	struct container_entry entry;

	entry.number = read_u32(r);
	entry.flags = read_u32(r);
	entry.offset = read_u64(r);
	entry.size = read_u64(r);
	entry.unpacked_size = read_u64(r);
	entry.checksum = read_u32(r);
	read_u32(r);
	return entry;
}

/* Returns the number of sections, or why this is not a profile that we can read. */
static int check_header(struct bytes file, const char *name, struct diag *diag)
{
	struct reader r = reader_of(file);

	if (!starts_as_profile(file))
		return refuse_stranger(file, name, diag);
	reader_skip(&r, sizeof(CONTAINER_MAGIC));

	uint16_t major = read_u16(&r), minor = read_u16(&r);
	if (!r.failed && major != CONTAINER_MAJOR) {
		diag_set(diag, -EPROTONOSUPPORT, "cannot read profile '%s'", name);
		diag_why(diag, "its format is version %u.%u and this cpprof reads %u.x", major, minor,
			 CONTAINER_MAJOR);
		return -EPROTONOSUPPORT;
	}

	uint32_t n = read_u32(&r);
	uint64_t size = read_u64(&r);
	read_u32(&r);
	uint32_t checksum = read_u32(&r);
	if (r.failed || n > CONTAINER_SECTIONS_MAX || reader_left(&r) < (uint64_t)n * CONTAINER_ENTRY)
		return container_refuse(diag, name, reader_offset(&r), "the table of sections is truncated");
	if (checksum !=
	    container_checksum(bytes_slice(file, 0, CONTAINER_HEADER + (uint64_t)n * CONTAINER_ENTRY)))
		return container_refuse(diag, name, CONTAINER_CHECKSUM_AT, "the header's checksum is wrong");
	if (size != file.len)
		return container_refuse(diag, name, file.len,
					size > file.len ? "the file is truncated" : "the file is too long");
	return (int)n;
}

/* The contents of a section; *unpacked owns them if they had to be decompressed. */
static int section_contents(struct bytes file, const struct container_entry *entry, struct decoder *decoder,
			    struct buffer *unpacked)
{
	struct bytes stored = bytes_slice(file, entry->offset, entry->size);

	if (stored.len != entry->size)
		return decoder_refuse(decoder, "it extends beyond the end of the file");
	if (crc32c(0, stored) != entry->checksum)
		return decoder_refuse(decoder, "its checksum is wrong");
	decoder->bytes = stored;
	if (!(entry->flags & SECTION_ZSTD))
		return 0;
	if (entry->unpacked_size > container_unpacked_max(entry->size))
		return decoder_refuse(decoder, "its decompressed size is impossible");
	if (decompress_zstd(stored, (size_t)entry->unpacked_size, unpacked) < 0 ||
	    unpacked->len != entry->unpacked_size)
		return decoder_refuse(decoder, "it cannot be decompressed");
	decoder->bytes = (struct bytes){ unpacked->at, unpacked->len };
	return 0;
}

static const struct section_type *type_of(uint32_t number)
{
	size_t n;
	const struct section_type *types = section_types(&n);

	for (size_t i = 0; i < n; i++)
		if (types[i].number == number)
			return &types[i];
	return NULL;
}

/* Each section at most once, and none that is required but unknown. */
static int check_entries(const struct container_entry *entries, size_t n, const char *name, struct diag *diag)
{
	for (size_t i = 0; i < n; i++) {
		if (!type_of(entries[i].number) && (entries[i].flags & SECTION_NEEDED)) {
			diag_set(diag, -EPROTONOSUPPORT, "cannot read profile '%s'", name);
			diag_why(diag, "section %u needs a newer cpprof", entries[i].number);
			return -EPROTONOSUPPORT;
		}
		for (size_t j = 0; j < i; j++)
			if (entries[i].number == entries[j].number)
				return container_refuse(diag, name, CONTAINER_HEADER + i * CONTAINER_ENTRY,
							"a section occurs twice");
	}
	return 0;
}

static const struct container_entry *container_entry_of(const struct container_entry *entries, size_t n,
							uint32_t number)
{
	for (size_t i = 0; i < n; i++)
		if (entries[i].number == number)
			return &entries[i];
	return NULL;
}

/* Nodes are there in one of four forms; values in one of two, or there are none. */
static bool container_has_instead(const struct container_entry *entries, size_t n,
				  const struct section_type *type)
{
	static const uint32_t nodes[] = { SECTION_NODES, SECTION_TREE, SECTION_CONTEXTS, SECTION_PATHS };
	bool is_of_nodes = false, is_there = false;

	for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
		is_of_nodes |= type->number == nodes[i];
		is_there |= container_entry_of(entries, n, nodes[i]) != NULL;
	}
	return type->number == SECTION_SAMPLES || type->number == SECTION_SAMPLES_BEFORE ||
	       (is_of_nodes && is_there);
}

/* In our order, not the file's: sections that are referred to come before those that refer to them. Stops
 * after the section `last`; 0 = none. */
static int decode_sections(struct bytes file, const struct container_entry *entries, size_t n, uint32_t last,
			   const char *name, struct profile *profile, struct diag *diag)
{
	struct decoder decoder = { .path = name, .diag = diag };
	size_t n_types;
	const struct section_type *types = section_types(&n_types);

	for (size_t i = 0; i < n_types && !(i > 0 && last && types[i - 1].number == last); i++) {
		const struct container_entry *entry = container_entry_of(entries, n, types[i].number);
		struct buffer unpacked = { 0 };
		decoder.section = types[i].name;
		decoder.offset = entry ? entry->offset : 0;
		if (!entry && types[i].is_required && !container_has_instead(entries, n, &types[i]))
			return decoder_refuse(&decoder, "it is missing");
		if (!entry)
			continue;
		int error = section_contents(file, entry, &decoder, &unpacked);
		if (error == 0)
			error = section_decode(&types[i], &decoder, profile);
		free(unpacked.at);
		if (error < 0)
			return error;
	}
	return 0;
}

/* Files of version 1.0 show the process of a JIT image only by the number in its name. */
static void find_jit_pids(struct profile *profile)
{
	for (size_t i = 0; i < profile->images.n; i++) {
		struct profile_image *image = &profile->images.at[i];
		if (image->kind != IMAGE_JIT || image->pid)
			continue;
		const char *digits = strpbrk(intern_text(&profile->strings, image->path), "0123456789");
		long pid = digits ? strtol(digits, NULL, 10) : 0;
		image->pid = pid <= INT32_MAX ? (int32_t)pid : 0;
	}
}

static int parse_until(struct bytes bytes, const char *name, uint32_t last, struct profile **ret,
		       struct diag *diag)
{
	int n = check_header(bytes, name, diag);

	if (n < 0)
		return n;

	CLEANUP(freep) struct container_entry *entries = alloc_zero((size_t)n + 1, sizeof(*entries));
	struct reader r = reader_of(bytes_from(bytes, CONTAINER_HEADER));
	for (int i = 0; i < n; i++)
		entries[i] = container_read_entry(&r);
	int error = check_entries(entries, (size_t)n, name, diag);
	if (error < 0)
		return error;

	CLEANUP(profile_freep) struct profile *profile = profile_new();
	error = decode_sections(bytes, entries, (size_t)n, last, name, profile, diag);
	if (error < 0)
		return error;
	find_jit_pids(profile);
	*ret = TAKE(profile);
	return 0;
}

int profile_parse(struct bytes bytes, const char *name, struct profile **ret, struct diag *diag)
{
	return parse_until(bytes, name, 0, ret, diag);
}

/* A stream of something else may be endless. */
static bool may_be_profile(struct bytes start)
{
	return start.len < sizeof(CONTAINER_MAGIC) || starts_as_profile(start);
}

#define READ_LEAST 65536
#define READ_MOST (64 << 20) /* at a time: the size that a file claims is not trusted beyond that */

/* A whole file at once, and one byte more, which finds its end. */
static size_t container_size(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < READ_LEAST)
		return READ_LEAST;
	return st.st_size < READ_MOST ? (size_t)st.st_size + 1 : READ_MOST;
}

static int container_read_all(int fd, struct writer *ret)
{
	size_t size = container_size(fd);

	while (may_be_profile(writer_bytes(ret))) {
		size_t left = ret->cap - ret->len, room = left ? left : ret->len ? READ_LEAST : size;
		size_t before = ret->len;
		ssize_t got = read(fd, write_space(ret, room), room);
		ret->len = before + (got > 0 ? (size_t)got : 0);
		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

static int read_until(const char *path, uint32_t last, struct profile **ret, struct diag *diag)
{
	bool is_stdin = strcmp(path, "-") == 0;
	const char *name = is_stdin ? standard_input : path;
	CLEANUP(close_fd) int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct writer file = { 0 };

	int error = fd < 0 ? -errno : 0;
	if (error < 0) {
		diag_set(diag, error, "cannot open profile '%s'", name);
		if (error == -ENOENT && strcmp(path, PROFILE_DEFAULT) == 0)
			diag_hint(diag, "try: cpprof record -- COMMAND");
		else if (error == -ENOENT)
			diag_hint(diag, "to record it: cpprof record -o %s -- COMMAND", name);
		return error;
	}
	error = container_read_all(fd, &file);
	if (error < 0)
		diag_set(diag, error, "cannot read profile '%s'", name);
	else
		error = parse_until(writer_bytes(&file), name, last, ret, diag);
	writer_done(&file);
	return error;
}

int profile_read(const char *path, struct profile **ret, struct diag *diag)
{
	return read_until(path, 0, ret, diag);
}

int profile_read_images(const char *path, struct profile **ret, struct diag *diag)
{
	return read_until(path, SECTION_IMAGES, ret, diag);
}
