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

#define ZSTD_LEVEL 3
#define PACK_WORTH 256 /* smaller sections are not worth a frame of their own */

static void write_entry(struct writer *w, const struct container_entry *entry)
{
	write_u32(w, entry->number);
	write_u32(w, entry->flags);
	write_u64(w, entry->offset);
	write_u64(w, entry->size);
	write_u64(w, entry->unpacked_size);
	write_u32(w, entry->checksum);
	write_u32(w, 0);
}

/* Appends the contents, packed where that is smaller, and says how in the entry. */
static void append_section(struct writer *body, struct bytes contents, struct container_entry *entry)
{
	struct buffer packed = { 0 };
	struct bytes stored = contents;

	if (contents.len >= PACK_WORTH && compress_zstd(contents, ZSTD_LEVEL, &packed) == 0 &&
	    packed.len < contents.len && contents.len <= container_unpacked_max(packed.len)) {
		stored = (struct bytes){ packed.at, packed.len };
		entry->flags |= SECTION_ZSTD;
	}
	entry->offset = body->len;
	entry->size = stored.len;
	entry->unpacked_size = contents.len;
	entry->checksum = crc32c(0, stored);
	write_bytes(body, stored);
	free(packed.at);
}

uint32_t container_checksum(struct bytes header)
{
	return crc32c(crc32c(0, bytes_slice(header, 0, CONTAINER_CHECKSUM_AT)),
		      bytes_from(header, CONTAINER_CHECKSUM_AT + 4));
}

static void write_header(struct writer *w, struct container_entry *entries, size_t n, uint64_t body_size)
{
	uint64_t header_size = CONTAINER_HEADER + n * CONTAINER_ENTRY;

	write_bytes(w, (struct bytes){ (const uint8_t *)CONTAINER_MAGIC, sizeof(CONTAINER_MAGIC) });
	write_u16(w, CONTAINER_MAJOR);
	write_u16(w, CONTAINER_MINOR);
	write_u32(w, (uint32_t)n);
	write_u64(w, header_size + body_size);
	write_u32(w, 0);
	write_u32(w, 0);
	for (size_t i = 0; i < n; i++) {
		entries[i].offset += header_size;
		write_entry(w, &entries[i]);
	}
	uint32_t checksum = container_checksum(writer_bytes(w));
	memcpy(w->at + CONTAINER_CHECKSUM_AT, &checksum, sizeof(checksum));
}

void profile_pack(const struct profile *profile, struct writer *ret)
{
	size_t n_types;
	const struct section_type *types = section_types(&n_types);
	VEC(struct container_entry) entries = { 0 };
	struct writer body = { 0 }, contents = { 0 };

	for (size_t i = 0; i < n_types; i++) {
		struct container_entry entry = { .number = types[i].number,
						 .flags = types[i].is_required ? SECTION_NEEDED : 0 };
		writer_clear(&contents);
		section_encode(&types[i], profile, &contents);
		if (contents.len == 0)
			continue;
		append_section(&body, writer_bytes(&contents), &entry);
		vec_push(&entries, entry);
	}
	write_header(ret, entries.at, entries.n, body.len);
	write_bytes(ret, writer_bytes(&body));
	writer_done(&contents);
	writer_done(&body);
	vec_done(&entries);
}

static int write_all(int fd, struct bytes bytes)
{
	while (bytes.len > 0) {
		ssize_t done = write(fd, bytes.at, bytes.len);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		bytes = bytes_from(bytes, (uint64_t)done);
	}
	return 0;
}

static void unlink_text(char **path)
{
	if (*path)
		unlink(*path);
	free(*path);
}

/* A reader sees the old file or the new one, never half of one. */
static int replace_file(const char *path, struct bytes bytes)
{
	CLEANUP(unlink_text) char *beside = alloc_printf("%s.XXXXXX", path);
	CLEANUP(close_fd) int fd = mkostemp(beside, O_CLOEXEC);

	if (fd < 0) {
		int error = -errno;
		free(TAKE(beside));
		return error;
	}
	int error = write_all(fd, bytes);
	if (error < 0)
		return error;
	if (close(TAKE_FD(fd)) < 0 || rename(beside, path) < 0)
		return -errno;
	free(TAKE(beside));
	return 0;
}

/* Pipes and devices are written to as they are. */
static int write_through(const char *path, struct bytes bytes)
{
	CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : write_all(fd, bytes);
}

int profile_write(const struct profile *profile, const char *path, struct diag *diag)
{
	struct writer file = { 0 };
	struct stat st;
	int error;

	profile_pack(profile, &file);
	if (strcmp(path, "-") == 0)
		error = write_all(STDOUT_FILENO, writer_bytes(&file));
	else if (strncmp(path, "/dev/", 5) == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) /* /dev/stdout may be a file */
		error = write_through(path, writer_bytes(&file));
	else
		error = replace_file(path, writer_bytes(&file));
	writer_done(&file);
	return error < 0 ? diag_set(diag, error, "cannot write profile '%s'", path) : 0;
}

int profile_rotate(const char *path, struct diag *diag)
{
	struct stat st;

	if (strcmp(path, "-") == 0 || lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;

	CLEANUP(freep) char *old = alloc_printf("%s.old", path);
	if (rename(path, old) < 0)
		return diag_set(diag, -errno, "cannot keep the last profile as '%s'", old);
	return 0;
}
