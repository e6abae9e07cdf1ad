/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_elf: a whole ELF file, as provided by a target: notes, symbols, relocations, stubs, unwind entries,
 * debug information, code. Names, lines, loops and unwind recipes are looked up at its symbols, its entry and
 * the ends of its segments.
 */
#include <stdlib.h>

#include "base/channel.h"
#include "base/file_open.h"
#include "binary/elf/symbols.h"
#include "profile/resolve.h"
#include "recipes/knowledge.h"
#include "recording/returns.h"

#define MAX_SIZE (1u << 20)
#define MAX_PLACES 48

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The fuzzer must not open files that the input names. */
static void elf_open_nothing(void)
{
	static struct channel nobody;

	channel_init(&nobody, -1);
	file_open_through(&nobody);
}

static void elf_add_place(struct profile *profile, image_id id, uint64_t vaddr)
{
	struct cct *cct = &profile->cct;

	if (cct->nodes.n < MAX_PLACES)
		cct_add_value(cct, cct_child(cct, CCT_ROOT, id, vaddr, vaddr & 1 ? CCT_IS_RETURN : 0), 0, 0,
			      1);
}

static void elf_choose_places(struct image *image, image_id id, struct profile *ret)
{
	struct symbols *symbols = symbols_read(image);

	elf_add_place(ret, id, image->entry);
	for (size_t i = 0; i < image->n_segments; i++) {
		elf_add_place(ret, id, image->segments[i].vaddr);
		elf_add_place(ret, id, image->segments[i].vaddr + image->segments[i].mem_size);
	}
	for (size_t i = 0; i < symbols->n; i++)
		elf_add_place(ret, id, symbols->at[i].vaddr + i % 16);
	symbols_free(symbols);
}

/* The queries of an unwind, made in the process that has the samples. */
static void elf_unwind(struct images *images, image_id id, const struct cct *cct)
{
	const struct isa *isa = isa_for_machine(images_get(images, id)->elf_machine);
	struct knowledge *knowledge = isa ? knowledge_new(images, isa, UNWIND_AUTO, NULL) : NULL;

	for (size_t i = CCT_INCOMPLETE + 1; knowledge && i < cct->nodes.n; i++) {
		struct place place;
		knowledge_place(knowledge, id, cct->nodes.at[i].vaddr, i & 1, &place);
		for (int question = 0; question < ASK_PLACE; question++)
			knowledge_ask(knowledge, (enum question)question, id, cct->nodes.at[i].vaddr,
				      cct->nodes.at[i / 2].vaddr);
	}
	if (knowledge)
		knowledge_free(knowledge);
}

static void elf_resolve(struct images *images, image_id id)
{
	struct image *image = images_get(images, id);
	struct profile *profile = profile_new();
	struct resolve_options options = { .symbolize = { .n_threads = 1 } };
	struct diag diag = { 0 };

	for (image_id i = 0; i <= id; i++)
		vec_push(&profile->images,
			 ((struct profile_image){ .path = intern_add(&profile->strings, image->path),
						  .kind = images_get(images, i)->kind }));
	elf_choose_places(image, id, profile);
	elf_unwind(images, id, &profile->cct);
	if (resolve(profile, images, &options, &diag) < 0)
		abort();
	for (size_t i = CCT_INCOMPLETE + 1; i < profile->cct.nodes.n; i++) {
		const struct cct_node *node = &profile->cct.nodes.at[i];
		uint64_t vaddr = node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0);
		if (image_is_code(image, vaddr) && !profile_function(profile, id, vaddr))
			abort(); /* all code has a name, even if synthetic */
	}
	profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct images *images = images_new();
	struct diag diag = { 0 };
	image_id id;

	elf_open_nothing();
	if (size <= MAX_SIZE &&
	    images_open_memory(images, (struct bytes){ data, size }, "fuzz", &id, &diag) == 0) {
		image_identity(images_get(images, id));
		returns_throw(images_get(images, id));
		elf_resolve(images, id);
	}
	images_free(images);
	return 0;
}
