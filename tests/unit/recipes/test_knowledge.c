/* SPDX-License-Identifier: Apache-2.0 */
/* Results about an image are stored: this program is the image. */
#include "recipes/knowledge.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary/functions/function.h"
#include "binary/isa/isa.h"
#include "recipes/kept.h"
#include "tests/test.h"

#define N_PLACES 400

struct scene {
	char directory[64];
	struct store *store;
	struct images *images;
	struct image *image;
	image_id id;
	struct frames *frames;
	uint64_t places[N_PLACES]; /* addresses in functions of the image */
	size_t n_places;
};

static void scene_make_of(struct scene *s, const char *path)
{
	image_id id;
	struct fde fde;

	*s = (struct scene){ .directory = "/tmp/cpprof-knowledge-XXXXXX", .images = images_new() };
	CHECK(mkdtemp(s->directory));
	s->store = store_open(s->directory, 0);
	CHECK(s->store);
	CHECK_EQ(images_open(s->images, path, &id, NULL), 0);
	s->id = id;
	s->image = images_get(s->images, id);
	s->frames = frames_read(s->image);
	size_t n = frames_count(s->frames), step = n / N_PLACES + 1;
	for (size_t i = 0; i < n && s->n_places < N_PLACES; i += step)
		if (frames_get(s->frames, i, &fde) == 0)
			s->places[s->n_places++] = (fde.start + fde.size / 2) & ~UINT64_C(3);
	CHECK(s->n_places > 20);
}

static void scene_make(struct scene *s)
{
	scene_make_of(s, "/proc/self/exe");
}

/* Counts the entries about recipes, or removes them. */
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

static size_t forget_every; /* 0 = never */

/* All results for addresses [first, end), as text. Returns how many functions had to be analysed for
 * them. */
static uint64_t ask(const struct scene *s, struct store *store, size_t first, size_t end, bool saves,
		    char *text, size_t size)
{
	const struct isa *isa = isa_for_machine(s->image->elf_machine);
	struct knowledge *knowledge = knowledge_new(s->images, isa, UNWIND_AUTO, store);
	size_t len = 0;

	for (size_t i = first; i < end; i++) {
		uint64_t vaddr = s->places[i];
		struct answer answers[2];
		if (forget_every && i % forget_every == 0)
			knowledge_forget(knowledge, i % 2 == 0);
		for (unsigned alone = 0; alone < 2; alone++) {
			answers[alone] = knowledge_ask(
				knowledge, alone ? ASK_RECIPE_ALONE : ASK_RECIPE_BESIDE, s->id, vaddr, 0);
			if (answers[alone].recipe != RECIPE_NONE)
				len += recipe_format(knowledge_recipes(knowledge), answers[alone].recipe, isa,
						     text + len, size - len);
		}
		len += (size_t)snprintf(text + len, size - len, " %llx %llx",
					(unsigned long long)answers[0].number,
					(unsigned long long)answers[1].number);
		for (enum question q = ASK_KEPT; q < ASK_PLACE; q++)
			len += (size_t)snprintf(text + len, size - len, " %llx",
						(unsigned long long)knowledge_ask(knowledge, q, s->id,
										  answers[0].number, vaddr)
							.number);
		struct place place;
		knowledge_place(knowledge, s->id, vaddr, false, &place);
		len += (size_t)snprintf(text + len, size - len, " %llx %d %d\n",
					(unsigned long long)place.function,
					place.recipes.recipe[0] != RECIPE_NONE, place.is_root);
		CHECK(len < size);
	}
	if (saves)
		knowledge_save(knowledge);
	uint64_t n = knowledge_analysed(knowledge);
	knowledge_free(knowledge);
	return n;
}

#define TEXT_MAX (256u << 10)

TEST(knowledge_is_the_same_with_and_without_a_store)
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

TEST(knowledge_is_the_same_after_memory_was_dropped)
{
	static char plain[TEXT_MAX], text[TEXT_MAX];
	struct scene s;

	scene_make(&s);
	uint64_t n = ask(&s, NULL, 0, s.n_places, true, plain, sizeof(plain));
	forget_every = 7;
	CHECK_EQ(ask(&s, NULL, 0, s.n_places, true, text, sizeof(text)), n); /* no store: nothing dropped */
	CHECK_STR(text, plain);
	CHECK(ask(&s, s.store, 0, s.n_places, true, text, sizeof(text)) < n); /* the last are in the store */
	CHECK_STR(text, plain);
	forget_every = 0;
	CHECK_EQ(ask(&s, s.store, 0, s.n_places, false, text, sizeof(text)), 0); /* all were stored */
	CHECK_STR(text, plain);
	scene_done(&s);
}

static void check_joins(const char *path)
{
	static char plain[TEXT_MAX], text[TEXT_MAX];
	struct scene s;

	scene_make_of(&s, path);
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

TEST(knowledge_adds_to_the_stored_entry)
{
	check_joins("/proc/self/exe");
}

/* For an image with thousands of functions their list is stored, too, with a few of their names. */
TEST(knowledge_adds_to_the_stored_entry_of_a_large_image)
{
	Dl_info libc;

	CHECK(dladdr((void *)(uintptr_t)getenv, &libc) != 0);
	check_joins(libc.dli_fname);
}

TEST(knowledge_is_stored_only_when_it_is_saved)
{
	static char text[TEXT_MAX];
	struct scene s;

	scene_make(&s);
	ask(&s, s.store, 0, 5, false, text, sizeof(text));
	CHECK_EQ(count_files(&s, false), 0);
	scene_done(&s);
}

TEST(knowledge_of_a_changed_file_is_not_stored)
{
	static char text[TEXT_MAX];
	struct scene s;

	scene_make(&s);
	s.image->is_changed = true;
	CHECK(ask(&s, s.store, 0, 5, true, text, sizeof(text)) > 0);
	CHECK_EQ(count_files(&s, false), 0);
	scene_done(&s);
}

/* The recipe at an address, as text. */
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

TEST(analysis_gives_the_same_results_with_a_stored_index)
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
	CHECK_EQ(analysis_index(analysis[1]).len, 0); /* the given index was used, none was made */
	for (unsigned i = 0; i < 2; i++) {
		analysis_free(analysis[i]);
		recipes_done(&recipes[i]);
	}
	functions_free(functions);
	symbols_free(symbols);
	writer_done(&index);
	scene_done(&s);
}

TEST(places_are_stored_except_those_with_expressions)
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
			       .leaves_stack = true,
			       .has_goroutine = true,
			       .loses_regs = true,
			       .has_wants = true,
			       .wants = 12 };
	struct place got = { 0 };
	struct kept kept;
	struct scene s;

	scene_make(&s);
	other.n_rules = 1;
	recipes_init(&recipes);
	uint32_t a = recipes_add(&recipes, &plain, NULL), b = recipes_add(&recipes, &other, &rule);
	kept_init(&kept, s.image, &recipes, s.store);
	CHECK(!kept_place(&kept, 0x108, true, &got));
	place.recipes = (struct recipe_pair){ { a, RECIPE_NONE } };
	kept_add_place(&kept, 0x108, true, &place);
	place.recipes = (struct recipe_pair){ { a, b } };
	kept_add_place(&kept, 0x118, true, &place);
	CHECK(kept_place(&kept, 0x118, true, &got)); /* already found in memory */
	CHECK(got.recipes.recipe[0] == a && got.recipes.recipe[1] == b && got.wants == 12);
	kept_save(&kept, NULL);
	CHECK(kept_place(&kept, 0x118, true, &got));
	kept_done(&kept);

	kept_init(&kept, s.image, &recipes, s.store);
	CHECK(!kept_place(&kept, 0x118, true, &got));
	CHECK(!kept_place(&kept, 0x108, false, &got));
	CHECK(kept_place(&kept, 0x108, true, &got));
	CHECK(got.function == 0x100 && got.call == CALL_DIRECT && got.call_target == 0x200 &&
	      got.wants == 12);
	CHECK(got.is_root && got.ends_thread && got.leaves_stack && got.has_goroutine && got.loses_regs &&
	      got.has_code && got.has_wants && !got.is_between && !got.is_trampoline);
	CHECK(got.recipes.recipe[0] == a && got.recipes.recipe[1] == RECIPE_NONE);
	kept_done(&kept);
	recipes_done(&recipes);
	scene_done(&s);
}

TEST(facts_are_found_in_memory_and_later_in_the_store)
{
	const struct answer yes = { .number = true, .recipe = RECIPE_NONE }, no = { .recipe = RECIPE_NONE };
	struct recipes recipes;
	struct answer answer;
	struct kept kept;
	struct scene s;

	scene_make(&s);
	recipes_init(&recipes);
	for (unsigned run = 0; run < 2; run++) {
		kept_init(&kept, s.image, &recipes, s.store);
		CHECK_EQ(kept_fact(&kept, ASK_HOLDS, 1, 2, &answer), run == 1);
		kept_add_fact(&kept, ASK_HOLDS, 1, 2, &no);
		kept_add_fact(&kept, ASK_MAY_LEAVE, 1, 2, &yes);
		kept_add_fact(&kept, ASK_MAY_LEAVE, 1, 2, &no); /* the first answer is kept */
		CHECK(kept_fact(&kept, ASK_HOLDS, 1, 2, &answer) && !answer.number);
		CHECK(kept_fact(&kept, ASK_MAY_LEAVE, 1, 2, &answer) && answer.number == 1);
		CHECK(!kept_fact(&kept, ASK_MAY_LEAVE, 1, 3, &answer));
		kept_save(&kept, NULL);
		CHECK_EQ(count_files(&s, false), 1);
		kept_done(&kept);
	}
	recipes_done(&recipes);
	scene_done(&s);
}

/* An address in the program itself, whose functions have unwind entries. */
TEST(code_with_an_unwind_entry_is_only_analysed_after_many_samples)
{
	struct scene s;

	scene_make(&s);
	const struct isa *isa = isa_for_machine(s.image->elf_machine);
	struct knowledge *knowledge = knowledge_new(s.images, isa, UNWIND_AUTO, s.store);
	struct place place;
	unsigned n_early = 0;

	knowledge_set_patience(knowledge, 3);
	for (size_t i = 0; i < s.n_places; i++) {
		knowledge_place(knowledge, s.id, s.places[i], false, &place);
		n_early += place.is_early;
	}
	CHECK(n_early > s.n_places / 4);
	knowledge_save(knowledge);
	knowledge_free(knowledge);

	/* Stored results are not early ones, and early ones are not stored. */
	knowledge = knowledge_new(s.images, isa, UNWIND_AUTO, s.store);
	uint64_t vaddr = s.places[s.n_places / 2];
	knowledge_set_patience(knowledge, 3);
	for (unsigned i = 0; i < 3; i++) {
		knowledge_place(knowledge, s.id, vaddr, false, &place);
		CHECK_EQ(place.is_early, i < 2);
		CHECK(place.recipes.recipe[0] != RECIPE_NONE);
	}
	CHECK(knowledge_analysed(knowledge) > 0);
	knowledge_place_now(knowledge, s.id, s.places[0], true, &place);
	CHECK(!place.is_early);
	knowledge_save(knowledge);
	knowledge_free(knowledge);
	knowledge = knowledge_new(s.images, isa, UNWIND_AUTO, s.store);
	knowledge_set_patience(knowledge, 3);
	knowledge_place(knowledge, s.id, vaddr, true, &place);
	CHECK(!place.is_early);
	CHECK_EQ(knowledge_analysed(knowledge), 0);
	knowledge_free(knowledge);
	scene_done(&s);
}

TEST(unwind_entries_are_trusted_at_calls_until_the_walk_needs_more)
{
	struct scene s;

	scene_make(&s);
	const struct isa *isa = isa_for_machine(s.image->elf_machine);
	struct knowledge *knowledge = knowledge_new(s.images, isa, UNWIND_AUTO, s.store);
	uint64_t vaddr = s.places[s.n_places / 2];
	struct place first, place;

	knowledge_set_patience(knowledge, 3);
	knowledge_place(knowledge, s.id, vaddr, true, &first);
	CHECK(first.is_early && first.recipes.recipe[0] != RECIPE_NONE);
	for (unsigned i = 0; i < 10; i++) {
		knowledge_place(knowledge, s.id, vaddr, true, &place);
		CHECK(place.is_early);
		CHECK_EQ(place.recipes.recipe[0], first.recipes.recipe[0]);
		CHECK_EQ(place.function, first.function);
		CHECK_EQ(place.call, first.call);
	}
	CHECK_EQ(knowledge_analysed(knowledge), 0);
	knowledge_save(knowledge);
	struct knowledge *other = knowledge_new(s.images, isa, UNWIND_AUTO, s.store); /* analyses at once */
	knowledge_place(other, s.id, vaddr, true, &place);
	CHECK(!place.is_early);
	CHECK(knowledge_analysed(other) > 0); /* the store has no result */
	knowledge_free(other);
	knowledge_place_now(knowledge, s.id, vaddr, true, &place);
	CHECK(!place.is_early);
	CHECK(knowledge_analysed(knowledge) > 0);
	knowledge_place(knowledge, s.id, vaddr, true, &place);
	CHECK(!place.is_early);
	knowledge_free(knowledge);
	scene_done(&s);
}

TEST(nothing_is_known_of_an_image_without_code)
{
	struct images *images = images_new();
	image_id id = images_add_pseudo(images, IMAGE_UNKNOWN, "[unknown]", NULL);
	struct knowledge *knowledge = knowledge_new(images, isa_for_machine(EM_X86_64), UNWIND_AUTO, NULL);

	CHECK(knowledge_ask(knowledge, ASK_MAY_LEAVE, id, 1, 0).number); /* unknown: must be assumed */
	CHECK(!knowledge_ask(knowledge, ASK_HOLDS, id, 1, 2).number);
	CHECK(!knowledge_ask(knowledge, ASK_KEPT, id, 1, 0).number);
	CHECK_EQ(knowledge_ask(knowledge, ASK_RECIPE_ALONE, id, 1, 0).recipe, RECIPE_NONE);
	struct place place = knowledge_ask(knowledge, ASK_PLACE, id, 1, true).place;
	CHECK(!place.has_code && place.function == VADDR_NONE && place.call == CALL_UNKNOWN);
	CHECK(place.recipes.recipe[0] == RECIPE_NONE && place.recipes.recipe[1] == RECIPE_NONE);
	knowledge_free(knowledge);
	images_free(images);
}
