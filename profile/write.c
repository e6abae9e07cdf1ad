/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/cleanup.h"
#include "base/compress.h"
#include "base/fresh_file.h"
#include "base/pool.h"
#include "profile/container.h"
#include "profile/section.h"

#define ZSTD_LEVEL 3
#define ZSTD_LEVEL_CHECKPOINT 1 /* replaced after half a minute */
#define ZSTD_LEVEL_CODE (-1)    /* machine code compresses badly: 14 % more bytes, in a third of the time */
#define ZSTD_LEVEL_KEPT                                                                                 \
	16             /* for files that are kept for weeks; from this level on, zstd finds the columns \
			*/
#define PACK_WORTH 256 /* smaller sections are not worth compressing */

static void container_write_entry(struct writer *w, const struct container_entry *entry)
{
	write_u32(w, entry->number);
	write_u32(w, entry->flags);
	write_u64(w, entry->offset);
	write_u64(w, entry->size);
	write_u64(w, entry->unpacked_size);
	write_u32(w, entry->checksum);
	write_u32(w, 0);
}

/* A section to be written. */
struct packed_section {
	struct container_entry entry;
	struct buffer bytes; /* as they will be in the file; empty if the section is */
};

/* What all of them share. */
struct pack_job {
	const struct profile *profile;
	const struct section_type *types;
	struct packed_section *sections;
	size_t n;
	bool is_plain; /* nothing is compressed */
};

/* Sections are independent of each other; the largest, which come last, are started first. Compressed if that
 * is smaller, as recorded in the entry. */
static void pack_section(void *context, unsigned worker, size_t index)
{
	const struct pack_job *job = context;
	size_t number = job->n - 1 - index;
	const struct section_type *type = &job->types[number];
	struct packed_section *section = &job->sections[number];
	struct container_entry *entry = &section->entry;
	struct writer contents = { 0 };
	struct buffer packed = { 0 };

	(void)worker;
	*entry = (struct container_entry){ .number = type->number,
					   .flags = type->is_required ? SECTION_NEEDED : 0 };
	section_encode(type, job->profile, &contents);
	entry->unpacked_size = contents.len;
	bool is_kept = type->number == SECTION_TREE || type->number == SECTION_SAMPLES;
	bool is_packed = type->number == SECTION_PATHS;
	int usual = job->profile->run.is_checkpoint ? ZSTD_LEVEL_CHECKPOINT : ZSTD_LEVEL;
	int level = type->number == SECTION_CODES ? ZSTD_LEVEL_CODE : is_kept ? ZSTD_LEVEL_KEPT : usual;
	if (!job->is_plain && !is_packed && contents.len >= PACK_WORTH &&
	    compress_zstd(writer_bytes(&contents), level, &packed) == 0 && packed.len < contents.len &&
	    contents.len <= container_unpacked_max(packed.len)) {
		entry->flags |= SECTION_ZSTD;
		section->bytes = packed;
		writer_done(&contents);
	} else {
		free(packed.at);
		section->bytes = (struct buffer){ contents.at, contents.len };
	}
	entry->size = section->bytes.len;
	entry->checksum = crc32c(0, (struct bytes){ section->bytes.at, section->bytes.len });
}

uint32_t container_checksum(struct bytes header)
{
	return crc32c(crc32c(0, bytes_slice(header, 0, CONTAINER_CHECKSUM_AT)),
		      bytes_from(header, CONTAINER_CHECKSUM_AT + 4));
}

static void container_write_header(struct writer *w, struct container_entry *entries, size_t n,
				   uint64_t body_size)
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
		container_write_entry(w, &entries[i]);
	}
	uint32_t checksum = container_checksum(writer_bytes(w));
	memcpy(w->at + CONTAINER_CHECKSUM_AT, &checksum, sizeof(checksum));
}

static void container_pack(const struct profile *profile, bool is_plain, struct writer *ret)
{
	size_t n_types;
	struct pack_job job = { .profile = profile, .types = section_types(&n_types), .is_plain = is_plain };
	VEC(struct container_entry) entries = { 0 };
	uint64_t body_size = 0;

	job.sections = alloc_zero(n_types, sizeof(*job.sections));
	job.n = n_types;
	/* A checkpoint is written while the target runs and needs the CPUs. */
	pool_run(pool_threads(profile->run.is_checkpoint ? 1 : 0), n_types, pack_section, &job);
	for (size_t i = 0; i < n_types; i++) {
		struct packed_section *section = &job.sections[i];
		section->entry.offset = body_size;
		body_size += section->bytes.len;
		if (section->bytes.len)
			vec_push(&entries, section->entry);
	}
	container_write_header(ret, entries.at, entries.n, body_size);
	for (size_t i = 0; i < n_types; i++) {
		write_bytes(ret, (struct bytes){ job.sections[i].bytes.at, job.sections[i].bytes.len });
		free(job.sections[i].bytes.at);
	}
	free(job.sections);
	vec_done(&entries);
}

void profile_pack(const struct profile *profile, struct writer *ret)
{
	container_pack(profile, false, ret);
}

void profile_pack_fast(const struct profile *profile, struct writer *ret)
{
	container_pack(profile, true, ret);
}

static int container_write_all(int fd, struct bytes bytes)
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

static int container_write_file(const char *path, struct bytes bytes, mode_t mode)
{
	CLEANUP(fresh_file_done) struct fresh_file file;
	int error = fresh_file_open(&file, path, mode);

	if (!error)
		error = container_write_all(file.fd, bytes);
	return error ? error : fresh_file_keep(&file);
}

int profile_write_packed(struct bytes file, const char *path, mode_t mode, struct diag *diag)
{
	bool is_output = strcmp(path, "-") == 0;
	int error =
		is_output ? container_write_all(STDOUT_FILENO, file) : container_write_file(path, file, mode);

	return error < 0 ? diag_set(diag, error, "cannot write profile '%s'",
				    is_output ? "standard output" : path)
			 : 0;
}

int profile_write_mode(const struct profile *profile, const char *path, mode_t mode, struct diag *diag)
{
	struct writer file = { 0 };

	profile_pack(profile, &file);
	int error = profile_write_packed(writer_bytes(&file), path, mode, diag);
	writer_done(&file);
	return error;
}

int profile_write(const struct profile *profile, const char *path, struct diag *diag)
{
	return profile_write_mode(profile, path, FRESH_PRIVATE, diag);
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
