/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/process/mapping.h"
#include "collector/process/target.h"
#include "tests/elf_maker.h"

/* As laid out by lld: the first page of the code in the file is the last of the data. */
static const struct segment lld_segments[] = {
	{ PT_PHDR, PF_R, 0x40, 0x40, 0x100, 0x100 },
	{ PT_LOAD, PF_R, 0, 0, 0x1234, 0x1234 },
	{ PT_LOAD, PF_R | PF_X, 0x11240, 0x1240, 0x5000, 0x5000 },
	{ PT_LOAD, PF_R | PF_W, 0x27240, 0x6240, 0x100, 0x900 },
};
static const struct image lld_image = { .segments = lld_segments, .n_segments = 4 };

TEST(mapping_bias_of_code_that_shares_a_page_with_data)
{
	uint64_t bias;

	CHECK(mapping_bias(&lld_image, 0x7f0000011000, 0x1000, true, &bias));
	CHECK_EQ(bias, 0x7f0000000000);
	CHECK(mapping_bias(&lld_image, 0x7f0000000000, 0, false, &bias));
	CHECK_EQ(bias, 0x7f0000000000);
	CHECK(mapping_bias(&lld_image, 0x7f0000013000, 0x3000, true, &bias)); /* split by mprotect */
	CHECK_EQ(bias, 0x7f0000000000);
}

TEST(mapping_bias_of_a_program_at_its_own_address_is_zero)
{
	const struct segment segments[] = { { PT_LOAD, PF_R | PF_X, 0x400000, 0, 0x1000, 0x1000 } };
	const struct image image = { .segments = segments, .n_segments = 1 };
	uint64_t bias;

	CHECK(mapping_bias(&image, 0x400000, 0, true, &bias));
	CHECK_EQ(bias, 0);
}

TEST(mapping_bias_refuses_offsets_outside_all_segments)
{
	uint64_t bias;

	CHECK(!mapping_bias(&lld_image, 0x7f0000011000, 0x100000, true, &bias));
}

/* The mapping of this test's own code. */
static void find_self(void *context, const struct target_map *map)
{
	struct target_map *self = context;
	uint64_t here = (uint64_t)(uintptr_t)find_self;

	if (here >= map->start && here < map->end) {
		*self = *map;
		self->path = strdup(map->path);
	}
}

static struct mapping mapping_of(const struct target_map *map)
{
	return (struct mapping){ .start = map->start,
				 .len = map->end - map->start,
				 .file_offset = map->offset,
				 .is_executable = true,
				 .path = map->path };
}

TEST(mapper_opens_the_running_program)
{
	struct images *images = images_new();
	struct mapper *mapper = mapper_new(images);
	struct target_map map = { 0 };

	CHECK_EQ(target_maps(getpid(), find_self, &map), 0);
	struct mapping mapping = mapping_of(&map);
	struct mapping_file file = { .inode = map.inode };
	mapper_resolve(mapper, getpid(), &file, &mapping);

	const struct image *image = images_get(images, mapping.image);
	CHECK_EQ(image->kind, IMAGE_ELF);
	struct bytes code = image_code(image, (uint64_t)(uintptr_t)find_self - mapping.bias);
	CHECK(code.len > 16);
	CHECK(memcmp(code.at, (const void *)(uintptr_t)find_self, 16) == 0);
	free((char *)map.path);
	mapper_free(mapper);
	images_free(images);
}

TEST(mapper_places_each_part_of_a_file_however_often_it_is_mapped)
{
	struct images *images = images_new();
	struct mapper *mapper = mapper_new(images);
	struct target_map map = { 0 };

	CHECK_EQ(target_maps(getpid(), find_self, &map), 0);
	const struct mapping code = mapping_of(&map);
	struct mapping_file file = { .inode = map.inode };
	for (uint64_t i = 0; i < 12; i++) {
		struct mapping mapping = code;
		uint64_t bias = 0;
		mapping.start += i << 20;
		mapping.is_executable = i % 4 != 1;
		mapping.file_offset = i % 4 == 0   ? code.file_offset
				      : i % 4 == 1 ? 0
				      : i % 4 == 2 ? code.file_offset + 0x1000
						   : 1ull << 40;
		bool is_known = mapper_resolve(mapper, getpid(), &file, &mapping);
		const struct image *image = images_get(images, mapping.image);
		CHECK_EQ(is_known, i % 4 != 3); /* beyond the file: no part of it */
		CHECK_EQ(image->kind, is_known ? IMAGE_ELF : IMAGE_UNKNOWN);
		if (!is_known)
			continue;
		CHECK(mapping_bias(image, mapping.start, mapping.file_offset, mapping.is_executable, &bias));
		CHECK_EQ(mapping.bias, bias);
	}
	free((char *)map.path);
	mapper_free(mapper);
	images_free(images);
}

TEST(mapper_never_uses_another_file_with_the_same_name)
{
	struct images *images = images_new();
	struct mapper *mapper = mapper_new(images);
	struct target_map map = { 0 };

	CHECK_EQ(target_maps(getpid(), find_self, &map), 0);
	struct mapping mapping = mapping_of(&map);
	struct mapping_file file = { .inode = map.inode + 1 };
	mapping.start += 0x1000; /* has no entry in map_files */
	mapper_resolve(mapper, getpid(), &file, &mapping);
	CHECK_EQ(images_get(images, mapping.image)->kind, IMAGE_UNKNOWN);

	file = (struct mapping_file){ .build_id = { 20, { 1, 2, 3 } } };
	mapper_resolve(mapper, getpid(), &file, &mapping);
	CHECK_EQ(images_get(images, mapping.image)->kind, IMAGE_UNKNOWN);
	CHECK_EQ(mapping.bias, mapping.start - mapping.file_offset);
	free((char *)map.path);
	mapper_free(mapper);
	images_free(images);
}

/* Opens one image after the other, whatever is asked for. */
static image_id next_image(void *context, pid_t pid, const struct mapping_file *file,
			   const struct mapping *mapping, const char *path)
{
	image_id **next = context;

	(void)pid, (void)file, (void)mapping, (void)path;
	return *(*next)++;
}

/* An ELF file of this mode; others can write it: it is foreign. */
static image_id open_elf(struct images *images, const char *path, const char *code, mode_t mode)
{
	struct elf_part part = { ".text", 0x1000, PF_X | PF_R, { (const uint8_t *)code, 4 }, 0 };
	struct writer elf = { 0 };
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	image_id id;

	elf_make(&elf, EM_X86_64, 0, ELF_WITHOUT_SECTIONS, &part, 1);
	CHECK_EQ(write(fd, elf.at, elf.len), elf.len);
	CHECK_EQ(fchmod(fd, mode), 0);
	CHECK_EQ(images_open_fd(images, fd, path, &id, NULL), 0);
	CHECK_EQ(images_peek(images, id)->foreign != 0, (mode & S_IWOTH) != 0);
	writer_done(&elf);
	close(fd);
	unlink(path);
	return id;
}

/* In its own mount namespace, a user can put a file with false symbols at the path of any library and give it
 * the same build-id. */
TEST(mapper_does_not_use_a_foreign_file_for_other_processes)
{
	static const struct mapper_ops ops = { next_image, NULL };
	struct images *images = images_new();
	char folder[] = "/tmp/cpprof_test_XXXXXX", path[64];
	struct mapping mapping = {
		.start = 0x1000, .len = 0x1000, .is_executable = true, .path = "/lib/a.so"
	};
	struct mapping_file file = { .build_id = { 20, { 1, 2, 3 } } };

	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/a", folder);
	image_id real = open_elf(images, path, "code", 0600), fake = open_elf(images, path, "evil", 0606);
	image_id opened[] = { fake, real, IMAGE_NONE }, *next = opened;
	struct mapper *mapper = mapper_new_with(images, &ops, &next);
	mapper_resolve(mapper, 1, &file, &mapping);
	CHECK_EQ(mapping.image, fake);
	mapper_resolve(mapper, 2, &file, &mapping);
	CHECK_EQ(mapping.image, real);
	mapper_resolve(mapper, 3, &file, &mapping); /* not opened again */
	CHECK_EQ(mapping.image, real);
	CHECK(next == opened + 2);
	rmdir(folder);
	mapper_free(mapper);
	images_free(images);
}

TEST(mapper_does_not_hang_on_a_fifo)
{
	struct images *images = images_new();
	struct mapper *mapper = mapper_new(images);
	char path[] = "/tmp/cpprof_fifo_XXXXXX";
	struct stat st;

	CHECK(mkdtemp(path) != NULL);
	CHECK_EQ(rmdir(path), 0);
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK_EQ(stat(path, &st), 0);
	struct mapping mapping = { .start = 0x1000, .len = 0x1000, .is_executable = true, .path = path };
	struct mapping_file file = { .inode = st.st_ino };
	mapper_resolve(mapper, getpid(), &file, &mapping);
	CHECK_EQ(images_get(images, mapping.image)->kind, IMAGE_UNKNOWN);
	unlink(path);
	mapper_free(mapper);
	images_free(images);
}

TEST(mapper_distinguishes_jit_code_and_kernel_pages_from_files)
{
	struct images *images = images_new();
	struct mapper *mapper = mapper_new(images);
	struct mapping_file file = { 0 };
	struct mapping mapping = { .start = 0x5000, .len = 0x1000, .is_executable = true, .path = "//anon" };

	mapper_resolve(mapper, getpid(), &file, &mapping);
	CHECK_EQ(images_get(images, mapping.image)->kind, IMAGE_JIT);
	CHECK_EQ(images_get(images, mapping.image)->pid, getpid());
	CHECK_EQ(mapping.bias, 0);
	mapping.path = "[uprobes]";
	mapper_resolve(mapper, getpid(), &file, &mapping);
	CHECK_EQ(images_get(images, mapping.image)->kind, IMAGE_UNKNOWN);
	mapping.path = "[uprobes-trampoline]";
	mapper_resolve(mapper, getpid(), &file, &mapping);
	CHECK_EQ(images_get(images, mapping.image)->kind, IMAGE_UNKNOWN);
	/* As the kernel truncates it in events. */
	image_id trampoline = mapping.image;
	mapping.path = "[uprobes-trampo";
	mapper_resolve(mapper, getpid(), &file, &mapping);
	CHECK_EQ(mapping.image, trampoline);
	mapping.is_executable = false;
	mapping.path = "[heap]";
	mapper_resolve(mapper, getpid(), &file, &mapping);
	CHECK_EQ(mapping.image, IMAGE_NONE);
	mapper_free(mapper);
	images_free(images);
}

TEST(mapper_reads_the_vdso_from_memory)
{
	if (!getauxval(AT_SYSINFO_EHDR))
		SKIP("this process has no vdso");
	struct images *images = images_new();
	struct mapper *mapper = mapper_new(images);
	struct mapping_file file = { 0 };
	struct mapping mapping = { .start = 0x5000, .len = 0x2000, .is_executable = true, .path = "[vdso]" };

	mapper_resolve(mapper, -2, &file, &mapping); /* no such process: our own vdso is used */
	CHECK_EQ(images_get(images, mapping.image)->kind, IMAGE_VDSO);
	mapper_free(mapper);
	images_free(images);
}
