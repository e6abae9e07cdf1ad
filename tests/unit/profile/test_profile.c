/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/container.h"
#include "profile/merge.h"
#include "profile/section.h"
#include "tests/support/profiles.h"
#include "tests/support/reseal.h"
#include "tests/test.h"

#define WRITER CLEANUP(writer_done)

TEST(profile_round_trips)
{
	OWNED struct profile *before = sample_profile(), *after = NULL;
	WRITER struct writer file = { 0 };
	struct diag diag = { 0 };

	profile_pack(before, &file);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
	CHECK_STR(profile_difference(before, after), "none");
}

TEST(profile_round_trips_with_zstd)
{
	OWNED struct profile *before = random_profile(7, 3000), *after = NULL;
	WRITER struct writer file = { 0 };
	struct diag diag = { 0 };

	profile_pack(before, &file);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
	CHECK_STR(profile_difference(before, after), "none");
	CHECK(file.len < before->cct.nodes.n * 16);
}

static bool has_section(struct bytes file, uint32_t number)
{
	struct reader r = reader_of(bytes_from(file, 12));
	uint32_t n = read_u32(&r);

	for (uint32_t i = 0; i < n; i++) {
		struct reader entry = reader_of(bytes_from(file, CONTAINER_HEADER + i * CONTAINER_ENTRY));
		if (read_u32(&entry) == number)
			return true;
	}
	return false;
}

/* In the order that a merge produces. */
static struct profile *ordered_profile(uint32_t seed, size_t n)
{
	struct merger *merger = merger_new(&(struct merge_options){ 0 });
	OWNED struct profile *one = random_profile(seed, n);
	struct diag diag = { 0 };

	CHECK_EQ(merger_add(merger, one, "one", &diag), 0);
	struct profile *all = merger_finish(merger);
	profile_unpack(all);
	return all;
}

TEST(dense_profile_round_trips)
{
	for (uint32_t seed = 1; seed < 20; seed++) {
		OWNED struct profile *before = ordered_profile(seed, seed * 100), *after = NULL;
		WRITER struct writer file = { 0 };
		struct diag diag = { 0 };

		if (seed % 2)
			before->is_dense = true; /* as earlier versions wrote it */
		else
			profile_make_dense(before);
		profile_pack(before, &file);
		CHECK_EQ(has_section(writer_bytes(&file), SECTION_TREE), seed % 2);
		CHECK_EQ(has_section(writer_bytes(&file), SECTION_PATHS), !(seed % 2));
		CHECK(!has_section(writer_bytes(&file), SECTION_NODES));
		CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
		CHECK_STR(profile_difference(before, after), "none");
	}
}

/* Section 23, as versions 1.4 and 1.5 wrote it. */
static void check_contexts(const struct profile *before)
{
	OWNED struct profile *after = profile_new();
	WRITER struct writer section = { 0 };
	struct diag diag = { 0 };

	CHECK(contexts_make(before, &section));
	for (size_t i = 0; i < before->images.n; i++)
		vec_push(&after->images, before->images.at[i]);
	struct decoder decoder = { .bytes = writer_bytes(&section), .diag = &diag };
	CHECK_EQ(contexts_decode(&decoder, after), 0);
	CHECK_EQ(after->cct.nodes.n, before->cct.nodes.n);
	for (size_t i = CCT_INCOMPLETE + 1; i < before->cct.nodes.n; i++) {
		const struct cct_node *a = &before->cct.nodes.at[i], *b = &after->cct.nodes.at[i];
		CHECK_EQ(a->parent, b->parent);
		CHECK_EQ(a->image, b->image);
		CHECK_EQ(a->vaddr, b->vaddr);
		CHECK_EQ(a->flags, b->flags);
	}
}

TEST(dense_nodes_of_an_earlier_version_are_read)
{
	for (uint32_t seed = 1; seed < 8; seed++) {
		OWNED struct profile *before = ordered_profile(seed, seed * 100);
		check_contexts(before);
	}
}

TEST(dense_addresses_may_be_anywhere)
{
	static const uint64_t vaddrs[] = { 0, 1, 2, 0x400000, 1ull << 62, 1ull << 63, UINT64_MAX };
	OWNED struct profile *before = profile_new(), *after = NULL;
	WRITER struct writer file = { 0 };
	struct diag diag = { 0 };

	vec_push(&before->images, ((struct profile_image){ .kind = IMAGE_UNKNOWN }));
	for (size_t i = 0; i < ARRAY_LEN(vaddrs); i++) {
		uint32_t node = cct_child(&before->cct, CCT_ROOT, 0, vaddrs[i], CCT_IS_RETURN);
		for (size_t k = i; k < ARRAY_LEN(vaddrs); k += 2)
			cct_child(&before->cct, node, k % 2 ? IMAGE_NONE : 0, vaddrs[k], CCT_IS_KERNEL);
	}
	cct_child(&before->cct, CCT_INCOMPLETE, IMAGE_NONE, UINT64_MAX, 3);
	check_contexts(before);
	profile_make_dense(before);
	profile_pack(before, &file);
	CHECK(has_section(writer_bytes(&file), SECTION_PATHS));
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
	CHECK_STR(profile_difference(before, after), "none");
}

TEST(dense_profile_that_is_not_sorted_is_written_like_any_other)
{
	OWNED struct profile *before = random_profile(7, 300), *after = NULL;
	WRITER struct writer file = { 0 };
	struct diag diag = { 0 };

	profile_make_dense(before);
	profile_pack(before, &file);
	CHECK(has_section(writer_bytes(&file), SECTION_NODES));
	CHECK(!has_section(writer_bytes(&file), SECTION_TREE));
	CHECK(!has_section(writer_bytes(&file), SECTION_PATHS));
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
	CHECK_STR(profile_difference(before, after), "none");
}

/* A file without the column has 0 there. */
TEST(the_pid_of_jit_code_round_trips_and_is_parsed_from_names_in_older_files)
{
	static const struct {
		const char *path;
		int32_t written;
		uint32_t kind;
		int32_t read;
	} cases[] = {
		{ "[jit of process 7]", 4321, IMAGE_JIT, 4321 },
		{ "[jit of process 4321]", 0, IMAGE_JIT, 4321 },
		{ "[jit 42]", 0, IMAGE_JIT, 42 },
		{ "[jit]", 0, IMAGE_JIT, 0 },
		{ "[jit 99999999999999999999]", 0, IMAGE_JIT, 0 },
		{ "/lib/libc.so.6", 0, IMAGE_ELF, 0 },
	};
	OWNED struct profile *before = profile_new(), *after = NULL;
	WRITER struct writer file = { 0 };
	struct diag diag = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		vec_push(&before->images,
			 ((struct profile_image){ .path = intern_add(&before->strings, cases[i].path),
						  .kind = cases[i].kind,
						  .pid = cases[i].written }));
	profile_pack(before, &file);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
	CHECK_EQ(after->images.n, ARRAY_LEN(cases));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_EQ(after->images.at[i].pid, cases[i].read);
}

TEST(nodes_can_be_added_to_a_profile_that_was_read)
{
	OWNED struct profile *before = sample_profile(), *after = NULL;
	WRITER struct writer file = { 0 };
	struct diag diag = { 0 };

	profile_pack(before, &file);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
	size_t n = after->cct.nodes.n;
	for (uint32_t i = 2; i < n; i++) {
		struct cct_node node = after->cct.nodes.at[i];
		CHECK_EQ(cct_child(&after->cct, node.parent, node.image, node.vaddr, node.flags), i);
	}
	CHECK_EQ(cct_child(&after->cct, CCT_ROOT, 0, 0x9999, 0), n);
}

TEST(an_empty_profile_round_trips)
{
	OWNED struct profile *before = profile_new(), *after = NULL;
	WRITER struct writer file = { 0 };
	struct diag diag = { 0 };

	profile_pack(before, &file);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
	CHECK_STR(profile_difference(before, after), "none");
}

TEST(every_flipped_byte_is_detected)
{
	OWNED struct profile *before = sample_profile();
	WRITER struct writer file = { 0 };

	profile_pack(before, &file);
	for (size_t i = 0; i < file.len; i++) {
		struct profile *after = NULL;
		struct diag diag = { 0 };
		file.at[i] ^= 0x55;
		CHECK(profile_parse(writer_bytes(&file), "x", &after, &diag) < 0);
		CHECK(after == NULL);
		CHECK(diag.why[0]);
		file.at[i] ^= 0x55;
	}
}

TEST(every_truncated_file_is_refused)
{
	OWNED struct profile *before = sample_profile();
	WRITER struct writer file = { 0 };

	profile_pack(before, &file);
	for (size_t len = 0; len < file.len; len++) {
		/* A copy of exactly that size, so that a sanitizer detects any read beyond it. */
		CLEANUP(freep) uint8_t *copy = malloc(len + !len);
		struct profile *after = NULL;
		struct diag diag = { 0 };
		memcpy(copy, file.at, len);
		CHECK(profile_parse((struct bytes){ copy, len }, "x", &after, &diag) < 0);
		CHECK(after == NULL);
	}
}

/* The invariants of a profile, whatever the bytes were. */
static void check_promises(const struct profile *p)
{
	for (size_t i = 1; i < p->cct.nodes.n; i++)
		CHECK(p->cct.nodes.at[i].parent < i);
	for (size_t i = 0; i < p->cct.nodes.n; i++)
		CHECK(p->cct.nodes.at[i].image == IMAGE_NONE || p->cct.nodes.at[i].image < p->images.n);
	for (size_t i = 0; i < p->cct.values.n; i++) {
		CHECK(p->cct.values.at[i].node < p->cct.nodes.n);
		CHECK(p->cct.values.at[i].thread < p->threads.n);
		CHECK(p->cct.values.at[i].metric < p->metrics.n);
	}
	for (size_t i = 0; i < p->threads.n; i++)
		CHECK(p->threads.at[i].process < p->processes.n);
	for (size_t i = 0; i < p->timeline.n; i++)
		CHECK(p->timeline.at[i].thread < p->threads.n);
	for (size_t i = 0; i < p->functions.n; i++)
		CHECK(p->functions.at[i].image < p->images.n);
	for (size_t i = 0; i < p->structures.n; i++)
		CHECK(p->structures.at[i].image < p->images.n);
	for (size_t i = 0; i < p->codes.n; i++)
		CHECK((uint64_t)p->codes.at[i].offset + p->codes.at[i].len <= p->code_bytes.n);
}

static void check_damage(const struct profile *before, void (*pack)(const struct profile *, struct writer *))
{
	WRITER struct writer file = { 0 };
	size_t n_read = 0, n_refused = 0;

	pack(before, &file);
	for (size_t i = CONTAINER_HEADER; i < file.len; i++) {
		for (int bit = 0; bit < 8; bit++) {
			CLEANUP(freep) uint8_t *copy = malloc(file.len);
			OWNED struct profile *after = NULL;
			struct diag diag = { 0 };
			memcpy(copy, file.at, file.len);
			copy[i] ^= (uint8_t)(1 << bit);
			profile_reseal(copy, file.len);
			if (profile_parse((struct bytes){ copy, file.len }, "x", &after, &diag) < 0) {
				n_refused++;
				CHECK(diag.why[0]);
				continue;
			}
			n_read++;
			check_promises(after);
		}
	}
	CHECK(n_read > 0);
	CHECK(n_refused > 0);
}

TEST(damage_with_valid_checksums_is_refused_or_harmless)
{
	OWNED struct profile *before = sample_profile();

	check_damage(before, profile_pack);
}

TEST(damage_of_a_dense_profile_is_refused_or_harmless)
{
	OWNED struct profile *before = ordered_profile(3, 40);

	before->is_dense = true; /* section 21 */
	check_damage(before, profile_pack_fast);
	profile_make_dense(before); /* section 25 */
	check_damage(before, profile_pack_fast);
}

/* Every value of the first bytes, which say how much there is of everything. */
TEST(sizes_that_a_dense_profile_does_not_have_are_refused)
{
	OWNED struct profile *before = ordered_profile(5, 60);
	WRITER struct writer section = { 0 };

	CHECK(paths_make(before, &section));
	for (size_t i = 0; i < 8; i++)
		for (unsigned byte = 0; byte < 256; byte++) {
			CLEANUP(freep) uint8_t *copy = malloc(section.len);
			OWNED struct profile *after = profile_new();
			struct diag diag = { 0 };
			memcpy(copy, section.at, section.len);
			copy[i] = (uint8_t)byte;
			for (size_t k = 0; k < before->images.n; k++)
				vec_push(&after->images, before->images.at[k]);
			struct decoder decoder = { .bytes = { copy, section.len }, .diag = &diag };
			int error = paths_decode(&decoder, after);
			CHECK(error == 0 || error == -EBADMSG);
			CHECK(error == 0 || byte != section.at[i]);
			CHECK(after->cct.nodes.n <= before->cct.nodes.n + 65536 + 64 * section.len);
		}
}

TEST(a_damaged_file_is_refused_with_section_offset_and_reason)
{
	OWNED struct profile *before = sample_profile();
	WRITER struct writer file = { 0 };
	struct profile *after = NULL;
	struct diag diag = { 0 };

	profile_pack(before, &file);
	file.at[file.len - 1] ^= 1;
	CHECK_EQ(profile_parse(writer_bytes(&file), "my.data", &after, &diag), -EBADMSG);
	CHECK_STR(diag.what, "profile 'my.data' is corrupt");
	CHECK(strncmp(diag.why, "section codes at offset ", 24) == 0);
	CHECK(strstr(diag.why, ": its checksum is wrong"));
}

TEST(a_later_major_version_is_refused_with_the_versions)
{
	OWNED struct profile *before = sample_profile();
	WRITER struct writer file = { 0 };
	struct profile *after = NULL;
	struct diag diag = { 0 };

	profile_pack(before, &file);
	file.at[8] = 2;
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), -EPROTONOSUPPORT);
	CHECK_STR(diag.why, "its format is version 2.8 and this cpprof reads 1.x");
}

TEST(unknown_sections_are_skipped_unless_they_are_needed)
{
	OWNED struct profile *before = sample_profile(), *after = NULL, *none = NULL;
	WRITER struct writer file = { 0 };
	struct diag diag = { 0 };
	const uint32_t unknown = 999, needed = SECTION_NEEDED;
	uint32_t n;

	/* The last entry is the code, which is optional. */
	profile_pack(before, &file);
	memcpy(&n, file.at + 12, 4);
	uint8_t *entry = file.at + CONTAINER_HEADER + (n - 1) * CONTAINER_ENTRY;
	memcpy(entry, &unknown, 4);
	profile_reseal(file.at, file.len);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
	CHECK_STR(profile_difference(before, after), "codes");

	memcpy(entry + 4, &needed, 4);
	profile_reseal(file.at, file.len);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &none, &diag), -EPROTONOSUPPORT);
}

TEST(a_section_that_claims_to_unpack_without_bound_is_refused)
{
	OWNED struct profile *before = random_profile(3, 2000);
	WRITER struct writer file = { 0 };
	struct profile *after = NULL;
	struct diag diag = { 0 };
	const uint64_t huge = UINT64_C(1) << 40;

	profile_pack(before, &file);
	for (uint8_t *entry = file.at + CONTAINER_HEADER;; entry += CONTAINER_ENTRY) {
		uint32_t flags;
		memcpy(&flags, entry + 4, 4);
		if (flags & SECTION_ZSTD) {
			memcpy(entry + 24, &huge, 8);
			break;
		}
	}
	profile_reseal(file.at, file.len);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), -EBADMSG);
	CHECK(strstr(diag.why, "size is impossible"));
}

TEST(a_table_with_more_columns_than_we_know_is_read_and_one_with_fewer_too)
{
	struct pair {
		uint32_t a, b;
	};
	static const struct column columns[] = { COLUMN(struct pair, a, CODE_PLAIN),
						 COLUMN(struct pair, b, CODE_DELTA) };
	static const struct table one = { .columns = columns, .n_columns = 1, .stride = sizeof(struct pair) };
	static const struct table two = { .columns = columns, .n_columns = 2, .stride = sizeof(struct pair) };
	static const struct pair rows[] = { { 1, 2 }, { 300, 1 } };
	struct diag diag;
	WRITER struct writer narrow = { 0 }, wide = { 0 };
	CLEANUP(freep) void *from_wide = NULL;
	CLEANUP(freep) void *from_narrow = NULL;
	size_t n;

	table_encode(&two, rows, 2, &wide);
	struct decoder decoder = { .path = "x", .section = "s", .bytes = writer_bytes(&wide), .diag = &diag };
	CHECK_EQ(table_decode(&one, &decoder, &from_wide, &n), 0);
	CHECK_EQ(((struct pair *)from_wide)[1].a, 300);
	CHECK_EQ(((struct pair *)from_wide)[1].b, 0);

	table_encode(&one, rows, 2, &narrow);
	decoder.bytes = writer_bytes(&narrow);
	CHECK_EQ(table_decode(&two, &decoder, &from_narrow, &n), 0);
	CHECK_EQ(((struct pair *)from_narrow)[1].a, 300);
	CHECK_EQ(((struct pair *)from_narrow)[1].b, 0);
}

/* It would be a reference to row 0 of nothing. */
TEST(a_missing_column_of_references_is_refused_if_there_is_nothing_to_refer_to)
{
	struct pair {
		uint32_t a, b;
	};
	static const struct column columns[] = { COLUMN(struct pair, a, CODE_PLAIN),
						 COLUMN(struct pair, b, CODE_PLAIN, TO(THREAD)) };
	static const struct table one = { .columns = columns, .n_columns = 1, .stride = sizeof(struct pair) };
	static const struct table two = { .columns = columns, .n_columns = 2, .stride = sizeof(struct pair) };
	struct diag diag = { 0 };
	WRITER struct writer narrow = { 0 };
	void *rows = NULL;
	size_t n;

	table_encode(&one, &(struct pair){ 1, 2 }, 1, &narrow);
	struct decoder decoder = {
		.path = "x", .section = "s", .bytes = writer_bytes(&narrow), .diag = &diag
	};
	CHECK_EQ(table_decode(&two, &decoder, &rows, &n), -EBADMSG);
	decoder.limits[REF_THREAD] = 1;
	CHECK_EQ(table_decode(&two, &decoder, &rows, &n), 0);
	free(rows);
}

TEST(function_lookup_finds_the_map_that_covers_an_address)
{
	OWNED struct profile *p = sample_profile();

	CHECK(profile_function(p, 0, 0xfff) == NULL);
	CHECK(profile_function(p, 0, 0x1000) == &p->functions.at[0]);
	CHECK(profile_function(p, 0, 0x10ff) == &p->functions.at[0]);
	CHECK(profile_function(p, 0, 0x1100) == NULL);
	CHECK(profile_function(p, 0, 0x2000) == &p->functions.at[1]);
	CHECK(profile_function(p, 1, 0x510) == &p->functions.at[2]);
	CHECK(profile_function(p, 2, 0x510) == NULL);
}
