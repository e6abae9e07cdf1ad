/* SPDX-License-Identifier: Apache-2.0 */
/* What is found out of an image is kept: this program is the image. */
#include "recipes/findings.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "binary/functions/function.h"
#include "binary/isa/isa.h"
#include "tests/test.h"

#define N_PLACES 400

struct scene {
	char directory[64];
	struct store *store;
	struct images *images;
	struct image *image;
	struct frames *frames;
	uint64_t places[N_PLACES]; /* in functions of the image */
	size_t n_places;
};

static void scene_make(struct scene *s)
{
	image_id id;
	struct fde fde;

	*s = (struct scene){ .directory = "/tmp/cpprof-findings-XXXXXX", .images = images_new() };
	CHECK(mkdtemp(s->directory));
	s->store = store_open(s->directory, 0);
	CHECK(s->store);
	CHECK_EQ(images_open(s->images, "/proc/self/exe", &id, NULL), 0);
	s->image = images_get(s->images, id);
	s->frames = frames_read(s->image);
	size_t n = frames_count(s->frames), step = n / N_PLACES + 1;
	for (size_t i = 0; i < n && s->n_places < N_PLACES; i += step)
		if (frames_get(s->frames, i, &fde) == 0)
			s->places[s->n_places++] = (fde.start + fde.size / 2) & ~UINT64_C(3);
	CHECK(s->n_places > 20);
}

/* Entries about recipes; or all are removed. */
static unsigned count_files(const struct scene *s, bool removes)
{
	DIR *directory = opendir(s->directory);
	unsigned n = 0;

	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		char path[512];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", s->directory, entry->d_name);
		n += strncmp(entry->d_name, "recipes-", 8) == 0;
		if (removes)
			unlink(path);
	}
	closedir(directory);
	return n;
}

static void scene_done(struct scene *s)
{
	frames_free(s->frames);
	images_free(s->images);
	store_close(s->store);
	count_files(s, true);
	rmdir(s->directory);
}

/* All that is answered about places [first, end), as text. Returns how many functions had to be analysed for
 * it. */
static uint64_t ask(const struct scene *s, struct store *store, size_t first, size_t end, bool saves,
		    char *text, size_t size)
{
	struct recipes recipes;
	size_t len = 0;

	recipes_init(&recipes);
	struct findings *findings = findings_new(s->image, &recipes, store);
	for (size_t i = first; i < end; i++) {
		uint64_t vaddr = s->places[i], functions[2] = { 1, 1 };
		for (unsigned alone = 0; alone < 2; alone++) {
			uint32_t recipe = findings_recipe(findings, vaddr, alone, &functions[alone]);
			if (recipe != RECIPE_NONE)
				len += recipe_format(&recipes, recipe, isa_for_machine(s->image->elf_machine),
						     text + len, size - len);
		}
		len += (size_t)snprintf(text + len, size - len, " %llx %llx %llx %llx %d\n",
					(unsigned long long)functions[0], (unsigned long long)functions[1],
					(unsigned long long)findings_kept(findings, functions[0]),
					(unsigned long long)findings_name(findings, functions[0]),
					(int)findings_leads_only_to(findings, functions[0], vaddr));
		CHECK(len < size);
	}
	if (saves)
		findings_save(findings);
	uint64_t n = findings_analysed(findings);
	findings_free(findings);
	recipes_done(&recipes);
	return n;
}

#define TEXT_MAX (256u << 10)

TEST(findings_are_the_same_with_and_without_a_store)
{
	static char plain[TEXT_MAX], first[TEXT_MAX], again[TEXT_MAX];
	struct scene s;

	scene_make(&s);
	uint64_t n = ask(&s, NULL, 0, s.n_places, true, plain, sizeof(plain));
	CHECK(n > 10);
	CHECK_EQ(ask(&s, s.store, 0, s.n_places, true, first, sizeof(first)), n);
	CHECK_STR(first, plain);
	CHECK_EQ(ask(&s, s.store, 0, s.n_places, true, again, sizeof(again)), 0);
	CHECK_STR(again, plain);
	CHECK_EQ(count_files(&s, false), 1);
	scene_done(&s);
}

TEST(findings_join_those_that_are_kept)
{
	static char plain[TEXT_MAX], text[TEXT_MAX];
	struct scene s;

	scene_make(&s);
	size_t half = s.n_places / 2;
	uint64_t n = ask(&s, NULL, 0, s.n_places, false, plain, sizeof(plain));
	CHECK(ask(&s, s.store, half, s.n_places, true, text, sizeof(text)) > 0);
	uint64_t n_more = ask(&s, s.store, 0, s.n_places, true, text, sizeof(text));
	CHECK(n_more > 0 && n_more < n);
	CHECK_STR(text, plain);
	CHECK_EQ(ask(&s, s.store, 0, s.n_places, false, text, sizeof(text)), 0);
	CHECK_STR(text, plain);
	scene_done(&s);
}

TEST(findings_are_kept_when_they_are_saved_and_not_before)
{
	static char text[TEXT_MAX];
	struct scene s;

	scene_make(&s);
	ask(&s, s.store, 0, 5, false, text, sizeof(text));
	CHECK_EQ(count_files(&s, false), 0);
	scene_done(&s);
}

TEST(findings_of_a_file_that_has_changed_are_not_kept)
{
	static char text[TEXT_MAX];
	struct scene s;

	scene_make(&s);
	s.image->is_changed = true;
	CHECK(ask(&s, s.store, 0, 5, true, text, sizeof(text)) > 0);
	CHECK_EQ(count_files(&s, false), 0);
	scene_done(&s);
}

/* What is known at a place, as text. */
static void describe(const struct scene *s, struct analysis *analysis, const struct recipes *recipes,
		     uint64_t vaddr, char text[256])
{
	uint64_t function = 1;
	uint32_t recipe = analysis_recipe(analysis, vaddr, true, &function);
	size_t len = (size_t)snprintf(text, 256, "%llx %llx ", (unsigned long long)function,
				      (unsigned long long)analysis_kept(analysis, function));

	if (recipe != RECIPE_NONE)
		recipe_format(recipes, recipe, isa_for_machine(s->image->elf_machine), text + len, 256 - len);
}

TEST(analysis_says_the_same_with_an_index_that_was_kept)
{
	struct symbols *symbols;
	struct functions *functions;
	struct recipes recipes[2];
	struct analysis *analysis[2];
	struct writer index = { 0 };
	struct scene s;

	scene_make(&s);
	symbols = symbols_read(s.image);
	functions = functions_new(s.image, symbols, s.frames, NULL);
	functions_pack(functions, &index);
	for (unsigned i = 0; i < 2; i++) {
		recipes_init(&recipes[i]);
		analysis[i] = analysis_new(s.image, s.frames, &recipes[i]);
	}
	analysis_use_index(analysis[1], writer_bytes(&index));
	for (size_t i = 0; i < s.n_places; i++) {
		char text[2][256];
		for (unsigned k = 0; k < 2; k++)
			describe(&s, analysis[k], &recipes[k], s.places[i], text[k]);
		CHECK_STR(text[1], text[0]);
	}
	CHECK_EQ(analysis_index(analysis[1]).len, 0); /* it was taken, not made */
	for (unsigned i = 0; i < 2; i++) {
		analysis_free(analysis[i]);
		recipes_done(&recipes[i]);
	}
	functions_free(functions);
	symbols_free(symbols);
	writer_done(&index);
	scene_done(&s);
}

TEST(findings_keep_places_but_for_those_with_expressions)
{
	struct recipe plain = { .cfa_kind = CFA_REG, .cfa_reg = 7, .cfa_offset = 16, .witness = WITNESS_CFI },
		      other = plain;
	const struct rule rule = { .reg = 1, .kind = RULE_AT_EXPR };
	struct recipes recipes;
	struct place place = { .function = 0x100,
			       .call = CALL_DIRECT,
			       .call_target = 0x200,
			       .has_code = true,
			       .is_root = true,
			       .ends_thread = true,
			       .has_wants = true,
			       .wants = 12 };
	struct place got = { 0 };
	struct scene s;

	scene_make(&s);
	other.n_rules = 1;
	recipes_init(&recipes);
	uint32_t a = recipes_add(&recipes, &plain, NULL), b = recipes_add(&recipes, &other, &rule);
	struct findings *findings = findings_new(s.image, &recipes, s.store);
	CHECK(!findings_place(findings, 0x108, true, &got));
	place.recipes = (struct recipe_pair){ { a, RECIPE_NONE } };
	findings_keep_place(findings, 0x108, true, &place);
	place.recipes = (struct recipe_pair){ { a, b } };
	findings_keep_place(findings, 0x118, true, &place);
	findings_save(findings);
	findings_free(findings);

	findings = findings_new(s.image, &recipes, s.store);
	CHECK(!findings_place(findings, 0x118, true, &got));
	CHECK(!findings_place(findings, 0x108, false, &got));
	CHECK(findings_place(findings, 0x108, true, &got));
	CHECK(got.function == 0x100 && got.call == CALL_DIRECT && got.call_target == 0x200 &&
	      got.wants == 12);
	CHECK(got.is_root && got.ends_thread && got.has_code && got.has_wants && !got.is_between &&
	      !got.is_trampoline);
	CHECK(got.recipes.recipe[0] == a && got.recipes.recipe[1] == RECIPE_NONE);
	findings_free(findings);
	recipes_done(&recipes);
	scene_done(&s);
}

TEST(findings_keep_what_others_have_found_out)
{
	struct recipes recipes;
	bool answer = true;
	struct scene s;

	scene_make(&s);
	recipes_init(&recipes);
	struct findings *findings = findings_new(s.image, &recipes, s.store);
	CHECK(!findings_find(findings, FINDING_HOLDS, 1, 2, &answer));
	CHECK(!findings_keep(findings, FINDING_HOLDS, 1, 2, false));
	CHECK(findings_keep(findings, FINDING_MAY_LEAVE, 1, 2, true));
	findings_save(findings);
	findings_free(findings);

	findings = findings_new(s.image, &recipes, s.store);
	CHECK(findings_find(findings, FINDING_HOLDS, 1, 2, &answer) && !answer);
	CHECK(findings_find(findings, FINDING_MAY_LEAVE, 1, 2, &answer) && answer);
	CHECK(!findings_find(findings, FINDING_MAY_LEAVE, 1, 3, &answer));
	CHECK_EQ(findings_analysed(findings), 0);
	findings_free(findings);
	recipes_done(&recipes);
	scene_done(&s);
}
