/* SPDX-License-Identifier: Apache-2.0 */
/* Where functions are probed, in files of either architecture. */
#include "recording/chosen.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/bpf/trace_layout.h"
#include "recording/returns.h"
#include "tests/test.h"

#define FOLDER CPPROF_SOURCE_DIR "/tests/data/recipes/"

struct search {
	struct images *images;
	struct chosen chosen;
	struct image *image;
};

static struct search look_for(const char *file, char *pattern)
{
	struct search s = { .images = images_new() };
	struct diag diag = { 0 };
	image_id id;

	CHECK(images_open(s.images, file, &id, &diag) >= 0);
	s.image = images_get(s.images, id);
	chosen_init(&s.chosen, &pattern, 1);
	chosen_look(&s.chosen, s.images, id, TRACE_FUNCTIONS_MAX);
	return s;
}

static void search_done(struct search *s)
{
	chosen_done(&s->chosen);
	images_free(s->images);
}

/* In these files the offset of code equals its address. */
static uint8_t byte_at(const struct search *s, uint64_t offset)
{
	struct bytes code = image_bytes(s->image, offset);

	return code.len ? code.at[0] : 0;
}

TEST(chosen_x86_a_probe_is_placed_after_endbr64_if_the_kernel_emulates_what_follows)
{
	struct search s = look_for(FOLDER "x86_64_gcc_hardened", "fill");
	const struct chosen_function *f = &s.chosen.functions.at[0];

	CHECK_EQ(s.chosen.functions.n, 1);
	CHECK_EQ(f->vaddr, 0x1160);
	CHECK_EQ(f->entry, 0x1164);
	CHECK_EQ(f->skip, 4);
	CHECK(f->is_start && f->exits.n > 0);
	for (size_t i = 0; i < f->exits.n; i++)
		CHECK_EQ(byte_at(&s, f->exits.at[i]), 0xc3);
	CHECK_EQ(f->n_stepped, 1); /* the return is single-stepped */
	CHECK(f->is_exit_stepped);
	search_done(&s);
}

TEST(chosen_x86_a_probe_stays_at_endbr64_if_nothing_is_gained)
{
	struct search s = look_for(FOLDER "x86_64_gcc_hardened", "add");
	const struct chosen_function *f = &s.chosen.functions.at[0];

	CHECK_EQ(s.chosen.functions.n, 1);
	CHECK_EQ(f->entry, 0x1040);
	CHECK_EQ(f->skip, 0);
	CHECK_EQ(f->n_stepped, 2);
	search_done(&s);
}

TEST(chosen_x86_a_push_is_emulated)
{
	struct search s = look_for(FOLDER "x86_64_gcc_O2", "fill");
	const struct chosen_function *f = &s.chosen.functions.at[0];

	CHECK_EQ(s.chosen.functions.n, 1);
	CHECK_EQ(f->entry, f->vaddr);
	CHECK_EQ(f->n_stepped, 1);
	search_done(&s);
}

TEST(chosen_arm_returns_are_emulated)
{
	struct search s = look_for(FOLDER "aarch64_gcc_O2", "fill");
	const struct chosen_function *f = &s.chosen.functions.at[0];

	CHECK_EQ(s.chosen.functions.n, 1);
	CHECK(f->exits.n > 0 && !f->is_exit_stepped);
	search_done(&s);
}

/* A copy of a file with another instruction at an offset; the caller frees its name and removes the file. */
static char *patch_file(const char *file, uint64_t offset, uint32_t code)
{
	char *copy = alloc_text("chosen-XXXXXX");
	uint8_t bytes[4096];
	ssize_t n;
	int from = open(file, O_RDONLY | O_CLOEXEC), to = mkstemp(copy);

	CHECK(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		CHECK_EQ(write(to, bytes, (size_t)n), n);
	CHECK_EQ(pwrite(to, &code, sizeof(code), (off_t)offset), sizeof(code));
	close(from);
	close(to);
	return copy;
}

/* No kernel can probe a return that authenticates its address. */
TEST(chosen_arm_a_function_with_a_signed_return_has_no_exits_in_its_code)
{
	static const uint32_t signed_ones[] = { 0xd65f0bff /* retaa */, 0xd65f0fff /* retab */ };
	struct search s = look_for(FOLDER "aarch64_gcc_O2", "fill");

	CHECK(s.chosen.functions.n == 1 && s.chosen.functions.at[0].exits.n > 0);
	for (size_t i = 0; i < ARRAY_LEN(signed_ones); i++) {
		char *copy = patch_file(FOLDER "aarch64_gcc_O2", s.chosen.functions.at[0].exits.at[0],
					signed_ones[i]);
		struct search patched = look_for(copy, "fill");
		const struct chosen_function *f = &patched.chosen.functions.at[0];
		CHECK_EQ(patched.chosen.functions.n, 1);
		CHECK(f->is_start);
		CHECK_EQ(f->exits.n, 0);
		CHECK(returns_are_taken(CALL_EXITS_AUTO, f->exits.n, EM_AARCH64, true));
		search_done(&patched);
		unlink(copy);
		free(copy);
	}
	search_done(&s);
}

/* On x86-64 a probed return instruction costs ten times as much as a probed return address. */
TEST(trace_ends_of_calls_by_architecture)
{
	struct search x86 = look_for(FOLDER "x86_64_gcc_O2", "fill");
	struct search arm = look_for(FOLDER "aarch64_gcc_O2", "fill");
	const struct chosen_function *of_x86 = &x86.chosen.functions.at[0],
				     *of_arm = &arm.chosen.functions.at[0], unsure = { 0 };

	CHECK(of_x86->exits.n > 0 && of_arm->exits.n > 0);
	CHECK(returns_are_taken(CALL_EXITS_AUTO, of_x86->exits.n, EM_X86_64, true));
	CHECK(!returns_are_taken(CALL_EXITS_AUTO, of_x86->exits.n, EM_X86_64, false));
	CHECK(!returns_are_taken(CALL_EXITS_AUTO, of_arm->exits.n, EM_AARCH64, true));
	CHECK(returns_are_taken(CALL_EXITS_AUTO, unsure.exits.n, EM_AARCH64, true));
	CHECK(!returns_are_taken(CALL_EXITS_AUTO, unsure.exits.n, EM_AARCH64, false));
	for (int may_return = 0; may_return < 2; may_return++) {
		CHECK(!returns_are_taken(CALL_EXITS_CODE, of_x86->exits.n, EM_X86_64, may_return));
		CHECK(returns_are_taken(CALL_EXITS_RETURN, of_arm->exits.n, EM_AARCH64, may_return));
	}
	search_done(&x86);
	search_done(&arm);
}

TEST(chosen_a_function_of_one_instruction_has_its_exit_at_its_entry)
{
	struct search s = look_for(FOLDER "aarch64_gcc_O2", "mcount");
	const struct chosen_function *f = &s.chosen.functions.at[0];

	CHECK_EQ(s.chosen.functions.n, 1);
	CHECK_EQ(f->exits.n, 1);
	CHECK_EQ(f->exits.at[0], f->entry);
	search_done(&s);
}

/* "run" has one jump, to a function that returns at one place. */
TEST(chosen_the_result_of_a_tail_call_is_known_where_its_target_returns)
{
	struct search s = look_for(FOLDER "aarch64_gcc_O2", "run");
	const struct chosen_function *f = &s.chosen.functions.at[0];

	CHECK_EQ(s.chosen.functions.n, 1);
	CHECK_EQ(f->n_jumps, 1);
	CHECK(f->exits.n >= f->n_jumps);
	CHECK_EQ(f->exits.at[f->exits.n - 1], 0x7f8);
	CHECK_EQ(f->ends.n, f->exits.n);
	for (size_t i = 0; i + 1 < f->exits.n; i++)
		CHECK_EQ(f->ends.at[i], f->exits.at[i]);
	CHECK_EQ(f->ends.at[f->ends.n - 1], 0x320);
	search_done(&s);
}

TEST(chosen_an_address_inside_an_instruction_is_not_a_function)
{
	static char *const patterns[] = { "x86_64_gcc_hardened+0x1165", "x86_64_gcc_hardened+0x116d",
					  "x86_64_gcc_hardened+0x1164" };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		struct search s = look_for(FOLDER "x86_64_gcc_hardened", patterns[i]);
		CHECK_EQ(s.chosen.functions.n, 1);
		CHECK(!s.chosen.functions.at[0].is_start);
		CHECK_EQ(s.chosen.functions.at[0].exits.n, 0);
		search_done(&s);
	}
}

TEST(chosen_data_and_addresses_outside_the_file_are_not_code)
{
	static char *const patterns[] = { "x86_64_gcc_hardened+0x4028", "x86_64_gcc_hardened+0xfffffffff000",
					  "x86_64_gcc_hardened+0x", "x86_64_gcc_hardened+nonsense",
					  "shared" };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		struct search s = look_for(FOLDER "x86_64_gcc_hardened", patterns[i]);
		CHECK_EQ(s.chosen.functions.n, 0);
		search_done(&s);
	}
}

TEST(chosen_two_patterns_may_match_the_same_function)
{
	static char *const patterns[] = { "fill", "fil*", "fil" };
	struct search s = { .images = images_new() };
	struct diag diag = { 0 };
	image_id id;

	CHECK(images_open(s.images, FOLDER "aarch64_gcc_O2", &id, &diag) >= 0);
	chosen_init(&s.chosen, patterns, ARRAY_LEN(patterns));
	chosen_look(&s.chosen, s.images, id, TRACE_FUNCTIONS_MAX);
	CHECK_EQ(s.chosen.functions.n, 1);
	CHECK_EQ(s.chosen.functions.at[0].pattern, 0);
	CHECK_EQ(s.chosen.found.at[0].n, 1);
	CHECK_EQ(s.chosen.found.at[1].n, 1);
	CHECK_EQ(s.chosen.found.at[2].n, 0);
	CHECK_STR(s.chosen.found.at[2].nearest, "fill"); /* even if another pattern matches it */
	search_done(&s);
}

TEST(chosen_functions_beyond_the_limit_are_counted)
{
	struct search s = { .images = images_new() };
	struct diag diag = { 0 };
	char *pattern = "*";
	image_id id;

	CHECK(images_open(s.images, FOLDER "x86_64_gcc_O2", &id, &diag) >= 0);
	chosen_init(&s.chosen, &pattern, 1);
	chosen_look(&s.chosen, s.images, id, 3);
	CHECK_EQ(s.chosen.functions.n, 3);
	CHECK(s.chosen.n_more > 5);
	search_done(&s);
}

TEST(trace_ends_of_calls_are_probed_where_it_costs_least)
{
	uint64_t exits[] = { 0x1170 };
	struct chosen_function known = { .exits = { .at = exits, .n = 1 } }, unknown = { 0 };

	/* A probed return instruction is stepped over on x86-64. */
	CHECK(returns_are_taken(CALL_EXITS_AUTO, known.exits.n, EM_X86_64, true));
	CHECK(!returns_are_taken(CALL_EXITS_AUTO, known.exits.n, EM_AARCH64, true));
	/* Exceptions, Go, seccomp. */
	CHECK(!returns_are_taken(CALL_EXITS_AUTO, known.exits.n, EM_X86_64, false));
	CHECK(!returns_are_taken(CALL_EXITS_AUTO, unknown.exits.n, EM_X86_64, false));
	/* Its code does not reveal where it ends. */
	CHECK(returns_are_taken(CALL_EXITS_AUTO, unknown.exits.n, EM_AARCH64, true));
	/* As requested by the user. */
	CHECK(!returns_are_taken(CALL_EXITS_CODE, known.exits.n, EM_X86_64, true));
	CHECK(returns_are_taken(CALL_EXITS_RETURN, known.exits.n, EM_AARCH64, false));
}
