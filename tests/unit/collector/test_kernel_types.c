/* SPDX-License-Identifier: Apache-2.0 */
/* Only in builds with libbpf. */
#include "collector/bpf/kernel_types.h"

#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "base/writer.h"
#include "tests/test.h"

/* Strings by offset; the empty one is the name of anonymous types. */
static const char strings[] = "\0task\0plain\0inner\0deep\0.data..percpu\0";
enum { NO_NAME = 0, TASK = 1, PLAIN = 6, INNER = 12, DEEP = 18, SECTION = 23 };

static void put_type(struct writer *w, uint32_t name, uint32_t kind, uint32_t n, uint32_t size)
{
	write_u32(w, name);
	write_u32(w, kind << 24 | n);
	write_u32(w, size);
}

static void put_member(struct writer *w, uint32_t name, uint32_t type, uint32_t bytes)
{
	write_u32(w, name);
	write_u32(w, type);
	write_u32(w, bytes * 8);
}

static void put_variable(struct writer *w, uint32_t type, uint32_t offset)
{
	write_u32(w, type);
	write_u32(w, offset);
	write_u32(w, 8);
}

/* struct task { long plain; union { struct { long; long deep; }; long inner; }; }; and a variable.
 * circle: it has itself. */
static struct writer make_btf(bool is_circle)
{
	struct writer types = { 0 }, w = { 0 };

	put_type(&types, NO_NAME, BTF_KIND_INT, 0, 8); /* type 1 */
	write_u32(&types, 64);
	put_type(&types, TASK, BTF_KIND_STRUCT, 2, 24); /* type 2 */
	put_member(&types, PLAIN, 1, 8);
	put_member(&types, NO_NAME, 3, 16);
	put_type(&types, NO_NAME, BTF_KIND_UNION, 2, 16); /* type 3 */
	put_member(&types, NO_NAME, is_circle ? 2 : 4, 0);
	put_member(&types, INNER, 1, 0);
	put_type(&types, NO_NAME, BTF_KIND_STRUCT, 2, 16); /* type 4 */
	put_member(&types, NO_NAME, 1, 0);
	put_member(&types, DEEP, is_circle ? 1000 : 1, 8);
	put_type(&types, INNER, BTF_KIND_VAR, 0, 1); /* type 5 */
	write_u32(&types, BTF_VAR_GLOBAL_ALLOCATED);
	put_type(&types, SECTION, BTF_KIND_DATASEC, 2, 40); /* type 6 */
	put_variable(&types, is_circle ? 0 : 1, 0);
	put_variable(&types, 5, 32);
	write_u16(&w, BTF_MAGIC);
	write_u8(&w, 1);
	write_u8(&w, 0);
	write_u32(&w, sizeof(struct btf_header));
	write_u32(&w, 0);
	write_u32(&w, (uint32_t)types.len);
	write_u32(&w, (uint32_t)types.len);
	write_u32(&w, sizeof(strings));
	write_bytes(&w, writer_bytes(&types));
	write_bytes(&w, (struct bytes){ (const uint8_t *)strings, sizeof(strings) });
	writer_done(&types);
	return w;
}

TEST(kernel_types_members_of_unnamed_members_are_found)
{
	struct kernel_member members[] = { { .structure = "task", .name = "plain" },
					   { .structure = "task", .name = "deep" },
					   { .structure = "task", .name = "inner" } };
	struct writer w = make_btf(false);

	CHECK(kernel_types_search(writer_bytes(&w), members, 3));
	CHECK_EQ(members[0].offset, 8);
	CHECK_EQ(members[1].offset, 24);
	CHECK_EQ(members[2].offset, 16);
	writer_done(&w);
}

TEST(kernel_types_variables_of_a_section_are_found)
{
	struct kernel_member members[] = { { .structure = KERNEL_PER_CPU, .name = "inner" },
					   { .structure = KERNEL_PER_CPU, .name = "plain" } };
	struct writer w = make_btf(false);

	CHECK(!kernel_types_search(writer_bytes(&w), members, 2));
	CHECK(members[0].is_found && !members[1].is_found);
	CHECK_EQ(members[0].offset, 32);
	writer_done(&w);
}

TEST(kernel_types_missing_members_are_not_found)
{
	struct kernel_member members[] = { { .structure = "task", .name = "plain" },
					   { .structure = "task", .name = "other" },
					   { .structure = "other", .name = "plain" } };
	struct writer w = make_btf(false);

	CHECK(!kernel_types_search(writer_bytes(&w), members, 3));
	CHECK(members[0].is_found && !members[1].is_found && !members[2].is_found);
	writer_done(&w);
}

/* Truncated anywhere, or recursive: parsing ends, and does not read beyond the end. */
TEST(kernel_types_survives_invalid_btf)
{
	for (int is_circle = 0; is_circle < 2; is_circle++) {
		struct writer w = make_btf(is_circle);
		for (size_t len = 0; len <= w.len; len++) {
			struct kernel_member members[] = { { .structure = "task", .name = "nowhere" },
							   { .structure = KERNEL_PER_CPU,
							     .name = "nowhere" } };
			uint8_t *copy = malloc(len + 1);
			memcpy(copy, w.at, len);
			CHECK(!kernel_types_search((struct bytes){ copy, len }, members, 2));
			free(copy);
		}
		writer_done(&w);
	}
}
