/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "tests/unit/collector/open_build.h"

static void put_mmap2(struct file_build *f, const char *path, uint64_t offset, const struct build_id *id,
		      uint64_t inode)
{
	record_start(&b, PERF_RECORD_MMAP2,
		     PERF_RECORD_MISC_USER | (id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
	put32(&b, 10), put32(&b, 10), put64(&b, 0x7f0000000000), put64(&b, 0x100000), put64(&b, offset);
	if (id) {
		put8(&b, id->len), put8(&b, 0), put16(&b, 0);
		put(&b, id->bytes, BUILD_ID_MAX);
	} else {
		put32(&b, 8), put32(&b, 1), put64(&b, inode), put64(&b, 0);
	}
	put32(&b, PROT_READ | PROT_EXEC), put32(&b, MAP_PRIVATE);
	put_text(&b, path);
	put32(&b, 10), put32(&b, 10), put64(&b, 1);
	file_record(f, &b);
}

/* This test program itself: a file whose build-id and segments are known. */
static const struct image *own_image(void)
{
	static struct images *own;
	image_id id;

	if (!own)
		own = images_new();
	CHECK_EQ(images_open(own, "/proc/self/exe", &id, &diag), 0);
	return images_get(own, id);
}

static struct file_build recording_of_own(void)
{
	return recording_on(own_image()->elf_machine == EM_X86_64 ? "x86_64" : "aarch64");
}

static const struct segment *code_segment(const struct image *image)
{
	for (size_t i = 0; i < image->n_segments; i++)
		if (image->segments[i].type == PT_LOAD && image->segments[i].flags & PF_X)
			return &image->segments[i];
	return NULL;
}

TEST(mapping_gets_its_image_and_bias_if_the_build_id_is_the_recorded_one)
{
	struct file_build f = recording_of_own();
	char path[4096] = { 0 };
	const struct segment *code = code_segment(own_image());
	uint64_t offset = code->offset & ~0xfffull;

	if (own_image()->build_id.len == 0)
		SKIP("the linker wrote no build-id");
	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	put_mmap2(&f, path, offset, &own_image()->build_id, 0);
	CHECK_EQ(open_fd(file_built(&f), NULL), 0);
	CHECK_EQ(next(), 1);
	CHECK(event.kind == EVENT_MAPPING);
	const struct image *image = images_get(images, event.mapping.image);
	CHECK(image->kind == IMAGE_ELF);
	CHECK_EQ(event.mapping.bias, 0x7f0000000000 - (code->vaddr - (code->offset - offset)));
	check_end();
	CHECK_EQ(source->info.notes.n, 0);
	done();
}

TEST(mapping_of_another_build_is_unknown_and_noted_once)
{
	struct file_build f = recording_of_own();
	struct build_id other = { 20, { 1, 2, 3 } };
	char path[4096] = { 0 };

	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	for (int i = 0; i < 3; i++)
		put_mmap2(&f, path, 0x1000, &other, 0);
	put_mmap2(&f, "/nonexistent/lib.so", 0x1000, &other, 0);
	CHECK_EQ(open_fd(file_built(&f), NULL), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(next(), 1);
		const struct image *image = images_get(images, event.mapping.image);
		CHECK(image->kind == IMAGE_UNKNOWN);
		CHECK(build_id_equal(&image->build_id, &other));
		CHECK_EQ(event.mapping.bias, 0x7f0000000000 - 0x1000);
	}
	CHECK_EQ(next(), 1);
	check_end();
	CHECK_EQ(source->info.notes.n, 1);
	CHECK(has_note("some binaries on this machine are not the recorded ones: 1 differ, 1 are missing"));
	CHECK(has_note(path));
	done();
}

TEST(code_in_a_memfd_is_not_reported_as_a_missing_binary)
{
	struct file_build f = recording_of_own();

	put_mmap2(&f, "/memfd:jit (deleted)", 0, NULL, 5);
	CHECK_EQ(open_fd(file_built(&f), NULL), 0);
	CHECK_EQ(next(), 1);
	CHECK(images_get(images, event.mapping.image)->kind == IMAGE_JIT);
	check_end();
	CHECK_EQ(source->info.notes.n, 0);
	done();
}

TEST(mapping_is_looked_for_under_symfs)
{
	struct file_build f = recording_of_own();
	char directory[] = "/tmp/cpprof-symfs-XXXXXX", own[4096] = { 0 };

	CHECK(mkdtemp(directory) != NULL);
	CHECK(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0); /* cp may run in an emulator */
	CLEANUP(freep) char *target = alloc_printf("%s/prog", directory);
	CLEANUP(freep) char *link = alloc_printf("%s/link", directory);
	CLEANUP(freep) char *command = alloc_printf("cp '%s' %s", own, target);
	CHECK_EQ(system(command), 0);
	CHECK_EQ(symlink("/prog", link), 0); /* absolute, but under symfs */
	put_mmap2(&f, "/link", 0, NULL, 0);
	int status = open_fd(file_built(&f), directory);
	if (status == 0)
		status = next();
	unlink(target);
	unlink(link);
	rmdir(directory);
	CHECK_EQ(status, 1);
	CHECK(images_get(images, event.mapping.image)->kind == IMAGE_ELF);
	check_end();
	CHECK(has_note("has no build-ids for 1 of its binaries"));
	done();
}

TEST(binary_for_another_machine_is_not_taken)
{
	struct file_build f = recording_on(own_image()->elf_machine == EM_X86_64 ? "aarch64" : "x86_64");
	char path[4096] = { 0 };

	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	put_mmap2(&f, path, 0, NULL, 0);
	CHECK_EQ(open_fd(file_built(&f), NULL), 0);
	CHECK_EQ(next(), 1);
	CHECK(images_get(images, event.mapping.image)->kind == IMAGE_UNKNOWN);
	check_end();
	CHECK(has_note("1 differ"));
	done();
}

TEST(build_ids_come_from_the_table_where_records_have_none)
{
	struct file_build f = recording_of_own();
	struct writer *w = &f.feature[2];
	char path[4096] = { 0 };

	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	size_t text = (strlen(path) + 8) & ~(size_t)7;
	write_u32(w, 0), write_u16(w, PERF_RECORD_MISC_USER), write_u16(w, (uint16_t)(36 + text)),
		write_u32(w, UINT32_MAX);
	memset(write_space(w, 20), 0x55, 20);
	write_u32(w, 0);
	memcpy(write_space(w, text), path, strlen(path));
	put_mmap2(&f, path, 0, NULL, own_image()->inode);
	CHECK_EQ(open_fd(file_built(&f), NULL), 0);
	CHECK_EQ(next(), 1);
	const struct image *image = images_get(images, event.mapping.image);
	CHECK(image->kind == IMAGE_UNKNOWN); /* our build-id is not 5555... */
	CHECK_EQ(image->build_id.len, 20);
	CHECK_EQ(image->build_id.bytes[0], 0x55);
	done();
}

TEST(vdso_is_unknown_unless_its_build_id_is_ours)
{
	struct file_build f = recording_of_own();
	struct build_id other = { 20, { 1, 2, 3 } };

	put_mmap2(&f, "[vdso]", 0, &other, 0);
	put_mmap2(&f, "[vdso]", 0, NULL, 0);
	CHECK_EQ(open_fd(file_built(&f), NULL), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(next(), 1);
		CHECK(images_get(images, event.mapping.image)->kind == IMAGE_UNKNOWN);
	}
	check_end();
	done();
}
