/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve.h"

#include <stdio.h>
#include <stdlib.h>

#include "profile/resolve_structure.h"
#include "structure/structure_store.h"
#include "tests/store_maker.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

static const char *name_at(const struct profile *p, image_id image, uint64_t vaddr)
{
	const struct function_map *map = profile_function(p, image, vaddr);

	return map ? intern_text(&p->strings, map->name) : "";
}

/* A profile of this program: its own functions, an unmapped address, the kernel. */
TEST(resolve_names_unknown_addresses_by_image_and_offset)
{
	OWNED struct profile *p = profile_new();
	struct images *images = images_new();
	struct diag diag = { 0 };
	image_id self;

	CHECK_EQ(images_open(images, "/proc/self/exe", &self, &diag), 0);
	image_id gone = images_add_pseudo(images, IMAGE_UNKNOWN, "/opt/gone.so", NULL);
	image_id kernel = images_add_pseudo(images, IMAGE_KERNEL, "[kernel]", NULL);
	for (size_t i = 0; i < images_count(images); i++)
		vec_push(&p->images,
			 ((struct profile_image){
				 .path = intern_add(&p->strings, images_get(images, (image_id)i)->path),
				 .kind = images_get(images, (image_id)i)->kind }));

	uint64_t entry = images_get(images, self)->entry;
	uint32_t start = cct_child(&p->cct, CCT_ROOT, self, entry + 4, CCT_IS_RETURN);
	uint32_t lost = cct_child(&p->cct, start, gone, 0x1234, 0);
	uint32_t deep = cct_child(&p->cct, start, kernel, 0x1000, CCT_IS_KERNEL);
	cct_add_value(&p->cct, start, 0, 0, 1);
	cct_add_value(&p->cct, lost, 0, 0, 2);
	cct_add_value(&p->cct, deep, 0, 0, 4);
	cct_add_value(&p->cct, cct_child(&p->cct, start, IMAGE_NONE, 0x10, 0), 0, 0, 8);

	CHECK_EQ(resolve(p, images, NULL, &diag), 0);
	CHECK_STR(name_at(p, self, entry), "_start");
	CHECK_STR(name_at(p, gone, 0x1234), "gone.so+0x1234");
	CHECK_STR(name_at(p, kernel, 0x1000), "[kernel]");
	CHECK_EQ(p->quality.unsymbolized, 14);
	CHECK_EQ(p->quality.without_lines, 15);
	CHECK_EQ(p->run.is_resolved, 1);

	size_t n = p->functions.n;
	CHECK_EQ(resolve(p, images, NULL, &diag), 0); /* a second time changes nothing */
	CHECK_EQ(p->functions.n, n);
	images_free(images);
}

/* One function of this program, and its entry in the store. */
struct stored_case {
	char directory[64];
	struct store *store;
	struct images *images;
	struct profile *profile;
	struct structured_image image;
	uint64_t vaddr;
};

static void stored_start(struct stored_case *c)
{
	struct diag diag = { 0 };

	*c = (struct stored_case){ .directory = STORE_PATH,
				   .images = images_new(),
				   .profile = profile_new() };
	c->store = store_make(c->directory);
	CHECK_EQ(images_open(c->images, "/proc/self/exe", &c->image.id, &diag), 0);
	struct image *self = images_get(c->images, c->image.id);
	c->vaddr = self->entry;
	c->image.structurer = structurer_new(self);
	c->image.store = c->store;
	c->image.key = (struct store_key){ "sampled", 1, { 1, 2 } };
	vec_push(&c->profile->images, ((struct profile_image){ .kind = IMAGE_ELF }));
	vec_push(&c->profile->functions,
		 ((struct function_map){ .image = c->image.id,
					 .vaddr = c->vaddr,
					 .size = 16,
					 .parent_vaddr = c->vaddr,
					 .name = intern_add(&c->profile->strings, "_start") }));
}

static void stored_finish(struct stored_case *c)
{
	store_remove(c->store, c->directory);
	profile_free(c->profile);
	images_free(c->images);
}

/* A structure that no analysis would find. */
static void stored_put(struct stored_case *c, uint64_t wrong)
{
	struct structure s = { .function = c->vaddr };
	struct intern strings;
	struct structure_packer *packer = structure_packer_new();
	struct writer packed = { 0 };
	struct structure_source source = { c->profile->functions.at, c->profile->functions.n,
					   &c->profile->strings };

	intern_init(&strings);
	vec_push(&s.scopes, (struct static_scope){ .kind = SCOPE_FUNCTION, .vaddr = c->vaddr });
	vec_push(&s.scopes, (struct static_scope){ .kind = SCOPE_INLINE,
						   .name = intern_add(&strings, "from the store") });
	s.basis = structurer_basis(c->image.structurer, &s, &source) + wrong;
	structure_pack(packer, &s, &strings);
	structure_packer_finish(packer, &packed);
	store_put(c->store, &c->image.key, writer_bytes(&packed));
	structure_packer_free(packer);
	writer_done(&packed);
	structure_done(&s);
	intern_done(&strings);
}

TEST(resolve_structures_reuses_stored_structures_of_the_same_maps)
{
	struct stored_case c;

	stored_start(&c);
	stored_put(&c, 0);
	resolve_structures(c.profile, &c.image, 1, 1);
	CHECK_EQ(c.profile->structures.n, 1);
	CHECK_EQ(c.profile->structures.at[0].image, c.image.id);
	CHECK_STR(intern_text(&c.profile->strings, c.profile->structures.at[0].scopes.at[1].name),
		  "from the store");
	stored_finish(&c);
}

TEST(resolve_structures_replaces_stored_structures_of_other_maps)
{
	struct stored_case c;

	stored_start(&c);
	stored_put(&c, 1);
	resolve_structures(c.profile, &c.image, 1, 1);
	CHECK_EQ(c.profile->structures.n, 0); /* _start has no loop */
	struct bytes bytes = store_get(c.store, &c.image.key);
	struct structure_entry *entry = structure_entry_open(bytes);
	struct structure s = { 0 };
	CHECK(entry != NULL);
	CHECK_EQ(structure_entry_count(entry), 1);
	structure_entry_get(entry, 0, &s);
	CHECK_EQ(s.scopes.n, 1);
	structure_done(&s);
	structure_entry_close(entry);
	store_release(bytes);
	stored_finish(&c);
}
