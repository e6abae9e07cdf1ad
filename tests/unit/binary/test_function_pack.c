/* SPDX-License-Identifier: Apache-2.0 */
/* The function index of this program, packed and unpacked again. */
#include "binary/functions/function.h"

#include "tests/test.h"

struct scene {
	struct images *images;
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
	struct functions *functions;
	struct writer packed;
};

static void scene_make(struct scene *s)
{
	image_id id;

	*s = (struct scene){ .images = images_new() };
	CHECK_EQ(images_open(s->images, "/proc/self/exe", &id, NULL), 0);
	s->image = images_get(s->images, id);
	s->symbols = symbols_read(s->image);
	s->frames = frames_read(s->image);
	s->functions = functions_new(s->image, s->symbols, s->frames, NULL);
	CHECK(s->functions && s->functions->n > 100);
	functions_pack(s->functions, &s->packed);
	CHECK(s->packed.len > 0);
}

static void scene_done(struct scene *s)
{
	writer_done(&s->packed);
	functions_free(s->functions);
	frames_free(s->frames);
	symbols_free(s->symbols);
	images_free(s->images);
}

TEST(functions_are_the_same_after_unpacking)
{
	struct scene s;
	size_t n_stubs = 0;

	scene_make(&s);
	struct functions *again = functions_unpack(s.image, s.frames, writer_bytes(&s.packed));
	CHECK(again);
	CHECK_EQ(again->n, s.functions->n);
	for (size_t i = 0; i < again->n; i++) {
		const struct function *a = &again->at[i], *b = &s.functions->at[i];
		CHECK_EQ(a->start, b->start);
		CHECK_EQ(a->end, b->end);
		CHECK(a->kind == b->kind && a->sources == b->sources && a->returns == b->returns);
		CHECK_EQ(functions_index(again, a->start + (a->end - a->start) / 2),
			 functions_index(s.functions, b->start + (b->end - b->start) / 2));
		if (b->kind != FUNCTION_STUB || !b->name)
			continue;
		CHECK_STR(a->name, b->name);
		n_stubs++;
	}
	CHECK(n_stubs > 0);
	functions_free(again);
	scene_done(&s);
}

TEST(packed_functions_keep_the_names_of_those_that_never_return)
{
	struct scene s;
	size_t n = 0;

	scene_make(&s);
	struct functions *again = functions_unpack(s.image, s.frames, writer_bytes(&s.packed));
	for (size_t i = 0; i < again->n; i++) {
		if (again->at[i].returns != RETURNS_NEVER)
			continue;
		CHECK_STR(again->at[i].name, s.functions->at[i].name);
		n++;
	}
	CHECK(n > 0); /* at least the stub of abort */
	functions_free(again);
	scene_done(&s);
}

TEST(functions_are_not_unpacked_from_truncated_data)
{
	struct scene s;

	scene_make(&s);
	for (size_t len = 0; len < s.packed.len; len += len < 64 ? 1 : s.packed.len / 50)
		CHECK(!functions_unpack(s.image, s.frames, (struct bytes){ s.packed.at, len }));
	scene_done(&s);
}

/* With any byte changed, the index is either rejected or can be queried. */
TEST(functions_unpacked_from_damaged_data_are_safe_or_refused)
{
	struct scene s;
	size_t n_refused = 0;

	scene_make(&s);
	for (size_t i = 0; i < 16 + 24 * 40; i++) {
		uint8_t old = s.packed.at[i];
		s.packed.at[i] = (uint8_t)(old ^ (1u << i % 8 | 0x80));
		struct functions *again = functions_unpack(s.image, s.frames, writer_bytes(&s.packed));
		s.packed.at[i] = old;
		n_refused += !again;
		for (size_t k = 0; again && k < again->n; k += 7) {
			CHECK(!again->at[k].name || strlen(again->at[k].name) < s.packed.len);
			functions_index(again, again->at[k].start);
			functions_next_start(again, again->at[k].end);
		}
		functions_free(again);
	}
	CHECK(n_refused > 100);
	scene_done(&s);
}
