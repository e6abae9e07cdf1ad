/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_apart.h"

#include <stdlib.h>

#include "binary/elf/symbols.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

/* This program and the C library, each with a function that was sampled, a file that is gone, and the kernel.
 */
struct apart_case {
	struct profile *profile;
	struct images *images;
	image_id self, libc, gone, kernel;
	uint64_t in_self, in_libc;
};

static uint64_t address_in_libc(const struct apart_case *c)
{
	struct symbols *symbols = symbols_read(images_get(c->images, c->libc));
	uint64_t vaddr = 0;

	for (size_t i = 0; i < symbols->n && !vaddr; i++)
		if (strcmp(symbols->at[i].name, "qsort") == 0)
			vaddr = symbols->at[i].vaddr;
	symbols_free(symbols);
	return vaddr;
}

static void apart_end(struct apart_case *c)
{
	profile_free(c->profile);
	images_free(c->images);
}

/* False if it cannot be; nothing is left then. */
static bool apart_begin(struct apart_case *c)
{
	struct diag diag = { 0 };
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], path[256] = "";

	*c = (struct apart_case){ .profile = profile_new(), .images = images_new() };
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so.6"))
			sscanf(strchr(line, '/'), "%255s", path);
	if (maps)
		fclose(maps);
	CHECK_EQ(images_open(c->images, "/proc/self/exe", &c->self, &diag), 0);
	if (!path[0] || images_open(c->images, path, &c->libc, &diag) < 0) {
		apart_end(c);
		return false;
	}
	c->gone = images_add_pseudo(c->images, IMAGE_UNKNOWN, "/opt/gone.so", NULL);
	c->kernel = images_add_pseudo(c->images, IMAGE_KERNEL, "[kernel]", NULL);
	for (size_t i = 0; i < images_count(c->images); i++) {
		const struct image *image = images_get(c->images, (image_id)i);
		vec_push(&c->profile->images,
			 ((struct profile_image){ .path = intern_add(&c->profile->strings, image->path),
						  .kind = image->kind }));
	}
	c->in_self = images_get(c->images, c->self)->entry;
	c->in_libc = address_in_libc(c);
	struct cct *cct = &c->profile->cct;
	uint32_t start = cct_child(cct, CCT_ROOT, c->self, c->in_self + 4, CCT_IS_RETURN);
	cct_add_value(cct, cct_child(cct, start, c->libc, c->in_libc, 0), 0, 0, 1);
	cct_add_value(cct, cct_child(cct, start, c->gone, 0x1234, 0), 0, 0, 2);
	cct_add_value(cct, cct_child(cct, start, c->kernel, 0x1000, CCT_IS_KERNEL), 0, 0, 4);
	if (!c->in_libc)
		apart_end(c);
	return c->in_libc != 0;
}

static const char *apart_name(const struct apart_case *c, image_id image, uint64_t vaddr)
{
	const struct function_map *map = profile_function(c->profile, image, vaddr);

	return map ? intern_text(&c->profile->strings, map->name) : "";
}

TEST(a_fenced_child_finds_what_we_find)
{
	struct apart_case apart, here;
	struct resolve_options options = { 0 };
	struct diag diag = { 0 };

	if (!apart_begin(&apart) || !apart_begin(&here))
		SKIP("no C library of its own to look at");
	CHECK_EQ(resolve_apart(apart.profile, apart.images, &options, &diag), 0);
	CHECK_EQ(resolve(here.profile, here.images, &options, &diag), 0);
	CHECK_STR(apart_name(&apart, apart.self, apart.in_self), "_start");
	CHECK_STR(apart_name(&apart, apart.gone, 0x1234), "gone.so+0x1234");
	CHECK_STR(apart_name(&apart, apart.kernel, 0x1000), "[kernel]");
	CHECK_EQ(apart.profile->functions.n, here.profile->functions.n);
	for (size_t i = 0; i < here.profile->functions.n; i++) {
		const struct function_map *f = &apart.profile->functions.at[i],
					  *g = &here.profile->functions.at[i];
		CHECK_EQ(f->vaddr, g->vaddr);
		CHECK_EQ(f->lines.n, g->lines.n);
		CHECK_EQ(f->inlines.n, g->inlines.n);
		CHECK_STR(intern_text(&apart.profile->strings, f->name),
			  intern_text(&here.profile->strings, g->name));
	}
	CHECK_EQ(apart.profile->structures.n, here.profile->structures.n);
	CHECK_EQ(apart.profile->codes.n, here.profile->codes.n);
	CHECK_EQ(apart.profile->quality.unsymbolized, here.profile->quality.unsymbolized);
	CHECK_EQ(apart.profile->cct.values.n, here.profile->cct.values.n); /* the tree is as it was */
	CHECK_EQ(apart.profile->notes.n, 0);
	apart_end(&apart);
	apart_end(&here);
}

/* Asked for in the child alone: it dies of one image. */
static struct functions *functions_or_death(void *context, image_id image)
{
	if (image == *(const image_id *)context)
		abort();
	return NULL;
}

TEST(a_child_that_dies_costs_the_names_of_one_image)
{
	struct apart_case c;
	struct diag diag = { 0 };

	if (!apart_begin(&c))
		SKIP("no C library of its own to look at");
	struct resolve_options options = { .functions = functions_or_death, .context = &c.libc };
	CHECK_EQ(resolve_apart(c.profile, c.images, &options, &diag), 0);
	CHECK_STR(apart_name(&c, c.self, c.in_self), "_start");
	CHECK(strncmp(apart_name(&c, c.libc, c.in_libc), "libc.so.6+0x", 12) == 0);
	CHECK_EQ(c.profile->notes.n, 1);
	const char *note = intern_text(&c.profile->strings, c.profile->notes.at[0]);
	CHECK(strstr(note, "libc.so.6: ") && strstr(note, "did not survive it"));
	CHECK_EQ(c.profile->quality.unsymbolized, 7);
	apart_end(&c);
}
