/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

static const char *name_at(const struct profile *p, image_id image, uint64_t vaddr)
{
	const struct function_map *map = profile_function(p, image, vaddr);

	return map ? intern_text(&p->strings, map->name) : "";
}

/* A profile of this very program: its own functions, an address of nothing, the kernel. */
TEST(resolve_names_what_it_can_and_says_where_the_rest_is)
{
	OWNED struct profile *p = profile_new();
	struct images *images = images_new();
	struct diag diag = { 0 };
	image_id self;

	CHECK_EQ(images_open(images, "/proc/self/exe", &self, &diag), 0);
	image_id gone = images_add_pseudo(images, IMAGE_UNKNOWN, "/opt/gone.so", NULL);
	image_id kernel = images_add_pseudo(images, IMAGE_KERNEL, "[kernel]", NULL);
	for (size_t i = 0; i < images_count(images); i++)
		vec_push(&p->images, ((struct profile_image){ .path = intern_add(&p->strings, images_get(images, (image_id)i)->path),
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
	CHECK_EQ(resolve(p, images, NULL, &diag), 0); /* once more changes nothing */
	CHECK_EQ(p->functions.n, n);
	images_free(images);
}
