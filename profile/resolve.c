/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/resolve_code.h"
#include "profile/resolve_process.h"
#include "profile/resolve_structure.h"
#include "structure/structure_store.h"
#include "unwinder/cct_fold.h"

/* A place whose function is needed. */
struct place {
	image_id image;
	uint64_t vaddr; /* of the instruction: inside the call for return addresses */
};

static struct place place_of(const struct cct_node *node)
{
	return (struct place){ node->image, node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0) };
}

static int resolve_compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* All places of the tree in order, except those without an image and in images that keep their maps. */
static struct place *places_of(const struct profile *profile, const bool *is_kept, size_t *ret_n)
{
	const struct cct *cct = &profile->cct;
	struct place *places = alloc_zero(cct->nodes.n, sizeof(*places));
	size_t n = 0;

	for (size_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++) {
		image_id image = cct->nodes.at[i].image;
		if (image != IMAGE_NONE && (image >= profile->images.n || !is_kept[image]))
			places[n++] = place_of(&cct->nodes.at[i]);
	}
	qsort(places, n, sizeof(*places), resolve_compare_places);
	*ret_n = n;
	return places;
}

/* ---- queries to symbolize/ ---------------------------------------------------------------------- */

struct requests {
	const struct resolve_options *options;
	VEC(struct symbolizer_request) list;
	VEC(struct structured_image) images; /* parallel to the requests */
	uint64_t *vaddrs;                    /* of all of them */
	const struct profile *profile;
	struct images *bare; /* for RESOLVE_BARE; otherwise NULL */
};

/* A JIT compiler maps the dump it writes, so that profilers find it: an image that is not an ELF file. */
static const char *jitdump_of(const struct images *images, pid_t pid)
{
	char name[64];

	snprintf(name, sizeof(name), "jit-%d.dump", (int)pid);
	for (size_t i = 0; pid && i < images_count(images); i++) {
		const struct image *image = images_peek(images, (image_id)i);
		if (image->kind == IMAGE_UNKNOWN && strcmp(image_name(image), name) == 0)
			return image->path;
	}
	return NULL;
}

static struct functions *resolve_give_functions(void *structurer)
{
	return structurer_functions(structurer);
}

/* Symbols and loops both need the functions of an image: they are computed once for both. */
static void add_request(const struct images *images, image_id id, struct image *image, const uint64_t *vaddrs,
			struct requests *ret)
{
	struct structurer *structurer = image->file.len ? structurer_new(image) : NULL;
	struct functions *known = structurer && ret->options->functions
					  ? ret->options->functions(ret->options->context, id)
					  : NULL;

	if (known)
		structurer_lend(structurer, known);
	vec_push(&ret->list,
		 (struct symbolizer_request){ .id = id,
					      .image = image,
					      .process = resolve_process(ret->profile, image->pid),
					      .jitdump = jitdump_of(images, image->pid),
					      .functions = structurer ? resolve_give_functions : NULL,
					      .context = structurer,
					      .vaddrs = vaddrs,
					      .n = 1 });
	vec_push(&ret->images, (struct structured_image){ .id = id, .structurer = structurer });
}

/* Replaces a file that is not to be read. */
static struct image *resolve_stand_in(const struct image *image, struct images *bare)
{
	return images_get(bare, images_add_pseudo(bare, IMAGE_UNKNOWN, image->path, NULL));
}

static void make_requests(const struct images *images, const struct place *places, size_t n,
			  struct requests *ret)
{
	size_t used = 0;

	ret->vaddrs = alloc_zero(n, sizeof(*ret->vaddrs));
	for (size_t i = 0; i < n; i++) {
		struct symbolizer_request *last = ret->list.n ? &ret->list.at[ret->list.n - 1] : NULL;
		struct image *image = images_get(images, places[i].image);
		bool is_next = last && last->id == places[i].image;
		if (!image || (is_next && ret->vaddrs[used - 1] == places[i].vaddr))
			continue;
		ret->vaddrs[used++] = places[i].vaddr;
		if (ret->bare)
			image = resolve_stand_in(image, ret->bare);
		if (is_next)
			last->n++;
		else
			add_request(images, places[i].image, image, &ret->vaddrs[used - 1], ret);
	}
}

/* Sentences are stored once, however often symbols are looked up. */
void resolve_note(struct profile *profile, const char *sentence)
{
	uint32_t note = intern_add(&profile->strings, sentence);

	for (size_t i = 0; i < profile->notes.n; i++)
		if (profile->notes.at[i] == note)
			return;
	vec_push(&profile->notes, note);
}

static void resolve_note_libdwarf(struct profile *profile, const char *image, uint64_t n)
{
	CLEANUP(freep)
	char *note = alloc_printf("'%s' has debug information that cpprof cannot read: %llu of its functions "
				  "were named by libdwarf",
				  image, (unsigned long long)n);

	resolve_note(profile, note);
}

static void resolve_note_too_much(struct profile *profile, const struct image *image)
{
	CLEANUP(freep)
	char *note = alloc_printf("%s: its symbols and debug information need too much memory for a file of "
				  "its size; some of them were skipped",
				  image->path);

	resolve_note(profile, note);
}

static void resolve_ask(struct profile *profile, const struct symbolizer_options *options,
			struct requests *requests)
{
	function_maps maps = { 0 };

	symbolize(options, requests->list.at, requests->list.n, &profile->strings, &maps);
	for (size_t i = 0; i < maps.n; i++)
		vec_push(&profile->functions, maps.at[i]);
	if (requests->options->part < RESOLVE_IMAGE)
		profile->quality.damaged_units = 0;
	for (size_t i = 0; i < requests->list.n; i++) {
		struct symbolizer_request *request = &requests->list.at[i];
		if (request->id < profile->images.n)
			profile->images.at[request->id].debug = intern_add(&profile->strings, request->how);
		profile->quality.damaged_units += request->n_damaged;
		if (request->n_by_libdwarf)
			resolve_note_libdwarf(profile, image_name(request->image), request->n_by_libdwarf);
		if (request->is_too_much)
			resolve_note_too_much(profile, request->image);
		free(request->how);
	}
	vec_done(&maps);
}

/* ---- queries to structure/ ---------------------------------------------------------------------- */

/* Rewritten paths, contents of a file before it changed, and memory of a process are of no use to another
 * run. */
static bool resolve_is_storable(const struct symbolizer_options *options, const struct image *image)
{
	return options->store && options->n_source_maps == 0 && image->kind == IMAGE_ELF &&
	       !image->is_changed;
}

static void ask_structures(struct profile *profile, const struct symbolizer_options *options,
			   struct requests *requests)
{
	struct structure_options plain = { 0 };

	for (size_t i = 0; i < requests->list.n; i++) {
		const struct symbolizer_request *request = &requests->list.at[i];
		struct structured_image *image = &requests->images.at[i];
		image->store = resolve_is_storable(options, request->image) ? options->store : NULL;
		image->key = structure_store_key(request->identity, !options->keeps_mangled, &plain);
		image->key.kind = "sampled"; /* of some functions, which may differ from those found by a
						survey of all */
	}
	resolve_structures(profile, requests->images.at, requests->images.n, options->n_threads);
}

static void requests_done(struct requests *requests)
{
	for (size_t i = 0; i < requests->images.n; i++)
		structurer_free(requests->images.at[i].structurer);
	vec_done(&requests->list);
	vec_done(&requests->images);
	free(requests->vaddrs);
	if (requests->bare)
		images_free(requests->bare);
}

/* ---- all of it ------------------------------------------------------------------------------ */

void resolve_count(struct profile *profile)
{
	profile->quality.unsymbolized = profile->quality.without_lines = 0;
	for (size_t i = 0; i < profile->cct.values.n; i++) {
		const struct cct_value *value = &profile->cct.values.at[i];
		struct place place = place_of(&profile->cct.nodes.at[value->node]);
		if (value->metric != 0 ||
		    cct_is_other(&profile->cct, value->node)) /* those were folded, and are counted there */
			continue;
		const struct function_map *map = profile_function(profile, place.image, place.vaddr);
		const struct line_row *row =
			map ? function_map_line(map, (uint32_t)(place.vaddr - map->vaddr)) : NULL;
		if (!map || map->source == MAP_FROM_NOTHING)
			profile->quality.unsymbolized += value->value;
		if (!row || row->line == 0)
			profile->quality.without_lines += value->value;
	}
}

bool resolve_is_asked(const struct resolve_options *options, const struct images *images, image_id id)
{
	const struct image *image = images_peek(images, id);
	bool is_kernel = image && image->kind == IMAGE_KERNEL && !image->file.len;

	if (options->only && !options->only[id])
		return false;
	switch (options->part) {
	case RESOLVE_ALL:
		return true;
	case RESOLVE_KERNEL:
		return is_kernel;
	case RESOLVE_OURS:
		return !is_kernel && !options->alone[id];
	case RESOLVE_IMAGE:
	case RESOLVE_BARE:
		return id == options->image;
	}
	return false;
}

/*
 * Earlier names of an image are kept if its bytes are not available now (another machine, a process that has
 * ended), or if it is not looked up.
 */
static bool *kept_images(const struct profile *profile, const struct images *images,
			 const struct resolve_options *options)
{
	bool *is_kept = alloc_zero(profile->images.n, sizeof(*is_kept));

	for (image_id i = 0; i < profile->images.n; i++)
		is_kept[i] = !resolve_is_asked(options, images, i);
	for (size_t i = 0; i < profile->functions.n; i++) {
		const struct function_map *map = &profile->functions.at[i];
		const struct image *image = images_get(images, map->image);
		if (map->image < profile->images.n && map->source != MAP_FROM_NOTHING &&
		    !(image && image->file.len))
			is_kept[map->image] = true;
	}
	return is_kept;
}

/* Drops the maps that will be looked up again. */
static void resolve_forget(struct profile *profile, const bool *is_kept)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->functions.n; i++) {
		struct function_map *map = &profile->functions.at[i];
		if (map->image < profile->images.n && is_kept[map->image])
			profile->functions.at[n++] = *map;
		else
			function_map_done(map);
	}
	profile->functions.n = n;
}

static int resolve_compare_maps(const void *left, const void *right)
{
	const struct function_map *a = left, *b = right;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

void resolve_finish(struct profile *profile, struct images *images)
{
	resolve_code(profile, images);
	resolve_count(profile);
	profile->run.is_resolved = 1;
}

int resolve(struct profile *profile, struct images *images, const struct resolve_options *options,
	    struct diag *diag)
{
	const struct resolve_options *all = options ? options : &(struct resolve_options){ 0 };
	const struct symbolizer_options *symbols = &all->symbolize;
	struct requests requests = { .options = all,
				     .profile = profile,
				     .bare = all->part == RESOLVE_BARE ? images_new() : NULL };
	size_t n;
	CLEANUP(freep) bool *is_kept = kept_images(profile, images, all);
	CLEANUP(freep) struct place *places = places_of(profile, is_kept, &n);

	(void)diag;
	resolve_forget(profile, is_kept);
	make_requests(images, places, n, &requests);
	resolve_ask(profile, symbols, &requests);
	if (profile->functions.n)
		qsort(profile->functions.at, profile->functions.n, sizeof(*profile->functions.at),
		      resolve_compare_maps);
	ask_structures(profile, symbols, &requests);
	requests_done(&requests);
	if (all->part != RESOLVE_ALL) /* the caller that combines the parts does the rest */
		return 0;
	resolve_finish(profile, images);
	return 0;
}
