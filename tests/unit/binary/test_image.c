/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/elf/image.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compress.h"
#include "binary/elf/image_private.h"
#include "binary/elf/symbols.h"
#include "tests/elf_maker.h"
#include "tests/test.h"

/* The test program itself serves as the ELF file. */
static struct image *self(struct images *images, image_id *ret)
{
	CHECK_EQ(images_open(images, "/proc/self/exe", ret, NULL), 0);
	return images_get(images, *ret);
}

/* A copy of the test program in memory, to damage. */
static struct bytes self_bytes(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	CHECK_EQ(fstat(fd, &st), 0);
	uint8_t *at = malloc((size_t)st.st_size);
	CHECK_EQ(read(fd, at, (size_t)st.st_size), st.st_size);
	close(fd);
	return (struct bytes){ at, (size_t)st.st_size };
}

TEST(image_is_opened_once)
{
	struct images *images = images_new();
	image_id first, second;

	self(images, &first);
	self(images, &second);
	CHECK_EQ(first, second);
	CHECK_EQ(images_count(images), 1);
	images_free(images);
}

TEST(image_knows_its_code_and_sections)
{
	struct images *images = images_new();
	image_id id;
	struct image *image = self(images, &id);
	const struct section *text = image_section(image, ".text");

	CHECK(text != NULL);
	CHECK(image_is_code(image, text->vaddr));
	CHECK(!image_is_code(image, image_section(image, ".data")->vaddr));
	CHECK(image_code(image, text->vaddr).at == image->file.at + text->offset);
	CHECK_EQ(image_vaddr_of_offset(image, text->offset), text->vaddr);
	CHECK_EQ(image_bytes(image, UINT64_MAX - 4).len, 0);
	CHECK_EQ(image_code_end(image, text->vaddr), text->vaddr + text->size);
	CHECK_EQ(image_code_end(image, UINT64_MAX - 4), UINT64_MAX - 4);
	images_free(images);
}

/* A library that exports a variable. */
TEST(symbols_find_exported_variables)
{
	static const char *const names[] = { "no_such_variable", "signgam", "sin" };
	uint64_t vaddrs[3] = { 1, 1, 1 };
	Dl_info info;
	void *library = dlopen("libm.so.6", RTLD_NOW), *variable = library ? dlsym(library, "signgam") : NULL;

	if (!variable || !dladdr(variable, &info))
		SKIP("no libm.so.6");
	struct images *images = images_new();
	image_id id;
	CHECK_EQ(images_open(images, info.dli_fname, &id, NULL), 0);
	symbols_find_exports(images_get(images, id), names, 3, vaddrs);
	CHECK_EQ(vaddrs[0], 0);
	CHECK_EQ(vaddrs[1], (uint64_t)((const char *)variable - (const char *)info.dli_fbase));
	CHECK_EQ(vaddrs[2], 0); /* a function, not a variable */
	images_free(images);
	dlclose(library);
}

TEST(symbols_find_a_function_by_any_of_its_addresses)
{
	struct images *images = images_new();
	image_id id;
	struct image *image = self(images, &id);
	struct symbols *symbols = symbols_read(image);
	bool found = false;

	for (size_t i = 0; i < symbols->n; i++)
		if (strcmp(symbols->at[i].name, "symbols_find") == 0) {
			const struct symbol *s = &symbols->at[i];
			CHECK_STR(symbols_find(symbols, s->vaddr)->name, "symbols_find");
			CHECK_STR(symbols_find(symbols, s->vaddr + s->size - 1)->name, "symbols_find");
			found = true;
		}
	CHECK(found);
	CHECK(symbols_find(symbols, 1) == NULL);
	symbols_free(symbols);
	images_free(images);
}

/* Any libc will do: it exports malloc, and the dynamic tags must be enough to find it. */
TEST(dynamic_symbols_are_found_without_section_headers)
{
	struct images *images = images_new();
	struct image *self_image;
	image_id id;
	char line[512], *path = NULL;
	FILE *maps = fopen("/proc/self/maps", "re");

	while (!path && fgets(line, sizeof(line), maps))
		if (strstr(line, "libc.so") || strstr(line, "libc-"))
			path = strchr(line, '/');
	fclose(maps);
	if (!path)
		SKIP("this program is not linked to a shared libc");
	path[strcspn(path, "\n")] = '\0';
	CHECK_EQ(images_open(images, path, &id, NULL), 0);
	self_image = images_get(images, id);

	struct bytes file = self_image->file;
	uint8_t *copy = malloc(file.len);
	memcpy(copy, file.at, file.len);
	Elf64_Ehdr *header = (Elf64_Ehdr *)copy;
	header->e_shoff = 0;
	header->e_shnum = header->e_shstrndx = 0;
	CHECK_EQ(images_open_memory(images, (struct bytes){ copy, file.len }, "no sections", &id, NULL), 0);
	struct image *image = images_get(images, id);
	CHECK_EQ(image->n_sections, 0);
	struct symbols *symbols = symbols_read(image);
	bool found = false;
	for (size_t i = 0; i < symbols->n; i++)
		found |= strcmp(symbols->at[i].name, "malloc") == 0;
	CHECK(found);
	symbols_free(symbols);
	images_free(images);
	free(copy);
}

TEST(other_files_than_elf_are_refused_with_a_reason)
{
	struct images *images = images_new();
	struct diag diag;
	image_id id;

	CHECK_EQ(images_open(images, "/etc/passwd", &id, &diag), -ENOEXEC);
	CHECK_STR(diag.why, "it is not an ELF file");
	CHECK_EQ(images_open(images, "/dev/null", &id, &diag), -ENOEXEC);
	CHECK_STR(diag.why, "it is not a regular file");
	CHECK_EQ(images_open(images, "/nonexistent", &id, &diag), -ENOENT);
	CHECK_EQ(images_count(images), 0);
	images_free(images);
}

TEST(damaged_headers_never_crash)
{
	struct bytes file = self_bytes();
	uint8_t *at = (uint8_t *)(uintptr_t)file.at;

	srandom(1);
	for (int round = 0; round < 200; round++) {
		struct images *images = images_new();
		uint8_t saved[64];
		image_id id;
		memcpy(saved, at, sizeof(saved));
		for (int i = 0; i < 4; i++)
			at[4 + random() % 60] = (uint8_t)random();
		if (images_open_memory(images, file, "damaged", &id, NULL) == 0) {
			struct image *image = images_get(images, id);
			for (size_t i = 0; i < image->n_sections; i++)
				image_section_bytes(image, &image->sections[i]);
			symbols_free(symbols_read(image));
		}
		memcpy(at, saved, sizeof(saved));
		images_free(images);
	}
	free(at);
}

TEST(code_at_the_last_addresses_is_ignored)
{
	struct bytes file = self_bytes();
	uint8_t *at = (uint8_t *)(uintptr_t)file.at;
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)at;
	Elf64_Phdr *segments = (Elf64_Phdr *)(at + header->e_phoff);
	struct images *images = images_new();
	image_id id;

	for (size_t i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD)
			segments[i].p_vaddr = UINT64_MAX - 0xff;
	CHECK_EQ(images_open_memory(images, file, "high", &id, NULL), 0);
	CHECK_EQ(image_code(images_get(images, id), UINT64_MAX - 0xff).len, 0);
	for (size_t i = 0; i < header->e_phnum; i++)
		CHECK(segments[i].p_type != PT_LOAD || image_segment_of(&segments[i]).mem_size == 0);
	images_free(images);
	free(at);
}

static void check_alike(const struct image *a, const struct image *b)
{
	CHECK_EQ(a->elf_machine, b->elf_machine);
	CHECK_EQ(a->elf_type, b->elf_type);
	CHECK_EQ(a->entry, b->entry);
	CHECK(build_id_equal(&a->build_id, &b->build_id));
	CHECK_EQ(a->n_segments, b->n_segments);
	for (size_t i = 0; i < a->n_segments; i++) {
		CHECK_EQ(a->segments[i].type, b->segments[i].type);
		CHECK_EQ(a->segments[i].flags, b->segments[i].flags);
		CHECK_EQ(a->segments[i].vaddr, b->segments[i].vaddr);
		CHECK_EQ(a->segments[i].offset, b->segments[i].offset);
		CHECK_EQ(a->segments[i].file_size, b->segments[i].file_size);
		CHECK_EQ(a->segments[i].mem_size, b->segments[i].mem_size);
	}
}

/* Compares the whole file in memory with the file of which only the head is read at first. */
static bool check_head(struct bytes file, const char *path)
{
	struct images *images = images_new(), *others = images_new();
	image_id id, other;
	bool is_brief = false;

	if (images_open(images, path, &id, NULL) == 0 &&
	    images_open_memory(others, file, "whole", &other, NULL) == 0) {
		const struct image *whole = images_get(others, other);
		check_alike(images_peek(images, id), whole);
		is_brief = images_peek(images, id)->n_sections == 0;
		const struct image *image = images_get(images, id);
		CHECK_EQ(image->n_sections, whole->n_sections);
		for (size_t i = 0; i < image->n_sections; i++)
			CHECK_STR(image->sections[i].name, whole->sections[i].name);
	}
	images_free(images);
	images_free(others);
	return is_brief;
}

TEST(reading_only_the_headers_gives_the_same_as_reading_the_file)
{
	char path[] = "/tmp/cpprof_test_XXXXXX";
	int fd = mkstemp(path);
	struct bytes file = self_bytes();
	uint8_t *at = (uint8_t *)(uintptr_t)file.at, saved[1024];
	bool has_build_id = build_id_own().len;
	unsigned n_brief = 0;

	CHECK_EQ(write(fd, file.at, file.len), file.len);
	CHECK_EQ(check_head(file, path), has_build_id);
	memcpy(saved, at, sizeof(saved));
	srandom(3);
	for (int round = 0; round < 300; round++) {
		memcpy(at, saved, sizeof(saved));
		for (int i = 0; i < 3; i++)
			at[4 + (size_t)random() % (sizeof(saved) - 4)] = (uint8_t)random();
		CHECK_EQ(pwrite(fd, at, sizeof(saved), 0), sizeof(saved));
		n_brief += check_head(file, path);
	}
	CHECK(!has_build_id || n_brief > 10);
	close(fd);
	unlink(path);
	free(at);
}

TEST(a_compressed_section_is_unpacked_as_far_as_requested)
{
	static uint8_t plain[300000];
	struct images *images = images_new();
	struct writer good = { 0 }, vast = { 0 };

	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)(i * i >> 7);
	elf_pack(&good, (struct bytes){ plain, sizeof(plain) }, sizeof(plain));
	elf_pack(&vast, (struct bytes){ plain, 100 }, 1ull << 31);
	struct elf_part parts[] = { { ".zdebug_info", 0, 0, writer_bytes(&good), 0 },
				    { ".zdebug_str", 0, 0, writer_bytes(&vast), 0 } };
	struct image *image =
		elf_image(images, "packed", EM_AARCH64, 0, ELF_WITH_SECTIONS, parts, ARRAY_LEN(parts), NULL);
	const struct section *section = image_section(image, ".zdebug_info");
	struct bytes start = image_section_start(image, section, 1000);

	CHECK_EQ(image_section_size(image, section), sizeof(plain));
	CHECK(start.len >= 1000 && start.len < sizeof(plain));
	CHECK(memcmp(start.at, plain, start.len) == 0);
	struct bytes all = image_section_bytes(image, section);
	CHECK(all.at == start.at);
	CHECK_EQ(all.len, sizeof(plain));
	CHECK(memcmp(all.at, plain, all.len) == 0);
	CHECK_EQ(image_section_start(image, section, 5).len, sizeof(plain));
	CHECK_EQ(image_named_bytes(image, ".zdebug_str").len, 0); /* too large for a stream of that length */
	writer_done(&good);
	writer_done(&vast);
	images_free(images);
}

static int n_released;

static void count_release(struct bytes bytes)
{
	n_released += bytes.len == 5;
}

TEST(a_section_lent_unpacked_is_not_unpacked_again)
{
	struct images *images = images_new();
	struct writer packed = { 0 };
	struct bytes plain = { (const uint8_t *)"plain", 5 }, other = { (const uint8_t *)"other", 5 };

	elf_pack(&packed, plain, plain.len);
	struct elf_part parts[] = { { ".zdebug_info", 0, 0, writer_bytes(&packed), 0 },
				    { ".zdebug_str", 0, 0, writer_bytes(&packed), 0 } };
	struct image *image =
		elf_image(images, "packed", EM_AARCH64, 0, ELF_WITH_SECTIONS, parts, ARRAY_LEN(parts), NULL);
	const struct section *info = image_section(image, ".zdebug_info"),
			     *str = image_section(image, ".zdebug_str");

	CHECK(image_section_lend(image, info, other, count_release));
	CHECK(image_section_bytes(image, info).at == other.at);
	CHECK(!image_section_lend(image, info, plain, count_release));
	CHECK(memcmp(image_section_bytes(image, str).at, "plain", 5) == 0);
	CHECK(!image_section_lend(image, str, other, count_release)); /* already in use */
	n_released = 0;
	images_free(images);
	CHECK_EQ(n_released, 1);
	writer_done(&packed);
}

TEST(a_file_truncated_while_mapped_reads_as_zeroes)
{
	char path[] = "/tmp/cpprof_test_XXXXXX";
	int fd = mkstemp(path);
	struct bytes file = self_bytes();
	struct images *images = images_new();
	image_id id;

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, file.at, file.len), file.len);
	CHECK_EQ(ftruncate(fd, 40 << 20), 0); /* large enough to be mapped instead of read */
	CHECK_EQ(images_open(images, path, &id, NULL), 0);
	struct image *image = images_get(images, id);
	CHECK_EQ(ftruncate(fd, 4096), 0);
	CHECK_EQ(image->file.at[20 << 20], 0);
	CHECK(image->is_changed);
	images_free(images);
	close(fd);
	unlink(path);
	free((void *)(uintptr_t)file.at);
}

/* The identity of a file of this size that starts with an ELF file without a build-id. */
static uint64_t identity_of_size(const char *path, off_t size)
{
	struct images *images = images_new();
	image_id id;

	CHECK_EQ(truncate(path, size), 0);
	CHECK_EQ(images_open(images, path, &id, NULL), 0);
	CHECK_EQ(images_get(images, id)->build_id.len, 0);
	uint64_t identity = image_identity(images_get(images, id));
	images_free(images);
	return identity;
}

TEST(holes_of_huge_files_are_not_read)
{
	char path[] = "/tmp/cpprof_test_XXXXXX";
	struct elf_part part = { ".text", 0x1000, PF_X | PF_R, { (const uint8_t *)"code", 4 }, 0 };
	struct writer elf = { 0 };
	struct images *images = images_new();
	int fd = mkstemp(path);
	struct diag diag;
	image_id id;

	elf_make(&elf, EM_X86_64, 0, ELF_WITHOUT_SECTIONS, &part, 1);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, elf.at, elf.len), elf.len);
	writer_done(&elf);
	CHECK_EQ(identity_of_size(path, 1 << 20), identity_of_size(path, 1 << 20));
	/* Comparing all bytes would take a second or more: it never counts as the same file. */
	CHECK(identity_of_size(path, 3ll << 30) != identity_of_size(path, 3ll << 30));
	CHECK_EQ(ftruncate(fd, 9ll << 30), 0);
	CHECK_EQ(images_open(images, path, &id, &diag), -EFBIG);
	CHECK_STR(diag.why, "it is larger than 8 GB");
	images_free(images);
	close(fd);
	unlink(path);
}

/* An ELF file without build-id, of this size and time. Returns its inode number. */
static ino_t write_elf(const char *path, const char *code, off_t size, const struct timespec *modified)
{
	struct elf_part part = { ".text", 0x1000, PF_X | PF_R, { (const uint8_t *)code, 4 }, 0 };
	struct writer elf = { 0 };
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct stat st;

	elf_make(&elf, EM_X86_64, 0, ELF_WITHOUT_SECTIONS, &part, 1);
	CHECK_EQ(pwrite(fd, elf.at, elf.len, 0), elf.len);
	CHECK_EQ(ftruncate(fd, size), 0);
	CHECK_EQ(futimens(fd, (struct timespec[]){ *modified, *modified }), 0);
	CHECK_EQ(fstat(fd, &st), 0);
	writer_done(&elf);
	close(fd);
	return st.st_ino;
}

/* The owner of a file chooses its size and time. What is remembered of it must not be taken for that of
 * another file: here inode * 31 + size are the same. */
TEST(a_file_cannot_pass_for_another_by_its_size_and_time)
{
	char folder[] = "/tmp/cpprof_test_XXXXXX", path[2][64];
	const struct timespec modified = { 1000000000, 0 };
	struct images *images = images_new();
	image_id ids[2];
	ino_t inodes[2];

	CHECK(mkdtemp(folder) != NULL);
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d", folder, i);
		inodes[i] = write_elf(path[i], "code", 1 << 20, &modified);
	}
	int lower = inodes[0] < inodes[1] ? 0 : 1;
	write_elf(path[lower], "evil", (1 << 20) + 31 * (off_t)(inodes[!lower] - inodes[lower]), &modified);
	CHECK_EQ(images_open(images, path[lower], &ids[0], NULL), 0);
	CHECK_EQ(images_open(images, path[!lower], &ids[1], NULL), 0);
	CHECK(ids[0] != ids[1]);
	CHECK_EQ(memcmp(image_code(images_get(images, ids[1]), 0x1000).at, "code", 4), 0);
	images_free(images);
	for (int i = 0; i < 2; i++)
		unlink(path[i]);
	rmdir(folder);
}

TEST(images_have_stable_addresses)
{
	struct images *images = images_new();
	struct image *seen[1000];
	char name[16];

	for (image_id i = 0; i < ARRAY_LEN(seen); i++) {
		snprintf(name, sizeof(name), "%u", i);
		CHECK_EQ(images_add_pseudo(images, IMAGE_UNKNOWN, name, NULL), i);
		seen[i] = images_get(images, i);
		CHECK(images_get(images, i + 1) == NULL);
	}
	CHECK_EQ(images_count(images), ARRAY_LEN(seen));
	for (image_id i = 0; i < ARRAY_LEN(seen); i++) {
		snprintf(name, sizeof(name), "%u", i);
		CHECK(images_get(images, i) == seen[i]);
		CHECK_STR(seen[i]->path, name);
	}
	CHECK(images_get(images, IMAGE_NONE) == NULL);
	images_free(images);
}

/* If each were searched among all others, this would take minutes. */
TEST(pseudo_images_may_be_many)
{
	struct images *images = images_new();
	struct build_id build_id = { 4, { 0 } };
	image_id n = 200000;
	char name[24];

	for (image_id round = 0; round < 2; round++)
		for (image_id i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "%u", i / 4);
			memcpy(build_id.bytes, &i, sizeof(i));
			image_id id = i % 4 == 0   ? images_add_pseudo(images, IMAGE_UNKNOWN, name, NULL)
				      : i % 4 == 1 ? images_add_pseudo(images, IMAGE_UNKNOWN, name, &build_id)
						   : images_add_jit(images, name, (pid_t)(i % 4));
			if (id != i)
				CHECK_EQ(id, i);
		}
	CHECK_EQ(images_count(images), n);
	images_free(images);
}

TEST(pseudo_images_are_distinguished_by_kind_and_name)
{
	struct images *images = images_new();
	image_id kernel = images_add_pseudo(images, IMAGE_KERNEL, "[kernel]", NULL);

	CHECK_EQ(images_add_pseudo(images, IMAGE_KERNEL, "[kernel]", NULL), kernel);
	CHECK(images_add_pseudo(images, IMAGE_UNKNOWN, "[kernel]", NULL) != kernel);
	CHECK_EQ(image_bytes(images_get(images, kernel), 0).len, 0);
	images_free(images);
}
