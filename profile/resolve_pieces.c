/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_pieces.h"

#include <malloc.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/resolve_apart.h"

/* Of the files that are looked up at a time, together; a larger one is alone. */
#define PIECE_BYTES (2u << 20)
#define PIECE_IMAGES 64

struct piece_place {
	image_id image;
	uint64_t vaddr; /* of the instruction: inside the call for return addresses */
};

/* What is looked up at a time. */
struct piece {
	struct profile *names; /* NULL: nothing yet */
	uint64_t bytes;
	size_t n_images;
};

struct pieces {
	const struct profile *profile;
	struct images *images;
	const struct resolve_options *options;
	const struct resolve_pieces *caller;
	struct piece piece;
};

static int pieces_compare(const void *a, const void *b)
{
	const struct piece_place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Sorted, and each once. */
static struct piece_place *pieces_places(const struct profile *profile, size_t *ret_n)
{
	const struct cct *cct = &profile->cct;
	struct piece_place *places = alloc_zero(cct->nodes.n + 1, sizeof(*places));
	size_t n = 0, n_kept = 0;

	for (size_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++) {
		const struct cct_node *node = &cct->nodes.at[i];
		bool is_wanted =
			node->image < profile->images.n && profile->images.at[node->image].kind != IMAGE_JIT;
		if (is_wanted)
			places[n++] = (struct piece_place){ node->image,
							    node->vaddr - (node->flags & CCT_IS_RETURN) };
	}
	qsort(places, n, sizeof(*places), pieces_compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || pieces_compare(&places[i - 1], &places[i]) != 0)
			places[n_kept++] = places[i];
	*ret_n = n_kept;
	return places;
}

/* Images have their numbers, but only those that are asked about a name; users are those of all processes. */
static struct profile *pieces_new(const struct profile *profile)
{
	struct profile *names = profile_new();

	for (size_t i = 0; i < profile->images.n; i++) {
		struct profile_image image = profile->images.at[i];
		image.path = image.debug = 0;
		vec_push(&names->images, image);
	}
	for (size_t i = 0; i < profile->processes.n; i++)
		vec_push(&names->processes,
			 ((struct profile_process){ .user = profile->processes.at[i].user,
						    .group = profile->processes.at[i].group }));
	return names;
}

static void pieces_flush(struct pieces *pieces)
{
	struct profile *names = pieces->piece.names;
	struct diag diag = { 0 };

	if (!names)
		return;
	if (resolve_apart(names, pieces->images, pieces->options, &diag) == 0)
		pieces->caller->take(pieces->caller->context, names);
	profile_free(names);
	pieces->piece = (struct piece){ 0 };
	images_rest(pieces->images);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static void pieces_add(struct pieces *pieces, image_id id, const uint64_t *vaddrs, size_t n)
{
	const struct profile *profile = pieces->profile;
	const struct image *image = images_peek(pieces->images, id);
	struct piece *piece = &pieces->piece;

	if (piece->bytes + image->file.len > PIECE_BYTES || piece->n_images == PIECE_IMAGES)
		pieces_flush(pieces);
	if (!piece->names)
		piece->names = pieces_new(profile);
	piece->names->images.at[id].path = intern_add(
		&piece->names->strings, intern_text(&profile->strings, profile->images.at[id].path));
	for (size_t i = 0; i < n; i++)
		cct_child(&piece->names->cct, CCT_ROOT, id, vaddrs[i], 0);
	piece->bytes += image->file.len;
	piece->n_images++;
}

/* The places of one image. */
static void pieces_ask(struct pieces *pieces, const struct piece_place *places, size_t n)
{
	const struct resolve_pieces *caller = pieces->caller;
	image_id id = places[0].image;
	VEC(uint64_t) vaddrs = { 0 };

	for (size_t i = 0; i < n; i++)
		vec_push(&vaddrs, places[i].vaddr);
	if (caller->lacking)
		vaddrs.n = caller->lacking(caller->context, pieces->profile, id, vaddrs.at, vaddrs.n);
	if (vaddrs.n)
		pieces_add(pieces, id, vaddrs.at, vaddrs.n);
	vec_done(&vaddrs);
}

/* Files of others come last: they may be made to take all the time there is. */
void resolve_in_pieces(struct profile *profile, struct images *images, const struct resolve_options *options,
		       const struct resolve_pieces *caller)
{
	struct pieces pieces = { profile, images, options, caller, { 0 } };
	size_t n, end;
	CLEANUP(freep) struct piece_place *places = pieces_places(profile, &n);

	cct_done(&profile->cct);
	cct_init(&profile->cct);
	vec_done(&profile->timeline);
	for (int of_others = 0; of_others < 2; of_others++) {
		for (size_t first = 0; first < n; first = end) {
			const struct image *image = images_peek(images, places[first].image);
			for (end = first; end < n && places[end].image == places[first].image;)
				end++;
			if (image && (image->foreign != 0) == of_others)
				pieces_ask(&pieces, &places[first], end - first);
		}
		pieces_flush(&pieces);
	}
}
