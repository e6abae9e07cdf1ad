/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that distinguishes rows which agree in all their properties, by what was measured there.
 *
 * Digests are sums of hashes of texts and numbers that mean the same everywhere. So they depend neither on
 * the order of values, nor on their numbering, nor on the process that adds them up.
 */
#include "base/cleanup.h"
#include "profile/merge_private.h"

static uint64_t digest_text(const struct profile *all, uint32_t string)
{
	const struct intern *strings = &all->strings;

	return hash_bytes(
		(struct bytes){ (const uint8_t *)strings->strings.at[string], strings->lengths.at[string] });
}

/* What identifies an image: not a path, which another profile may know better. */
static uint64_t digest_image(const struct profile *all, const struct profile_image *image)
{
	uint64_t hash = merge_mix(image->kind, image->elf_machine);

	if (image->kind == IMAGE_JIT)
		hash = merge_mix(hash, (uint32_t)image->pid);
	if (image->writer)
		hash = merge_mix(hash, image->writer);
	if (image->build_id.len == 0)
		return merge_mix(hash, digest_text(all, image->path));
	return merge_mix(hash, hash_bytes((struct bytes){ image->build_id.bytes, image->build_id.len }));
}

/* By node: a hash of its path. */
static uint64_t *digest_places(const struct profile *all)
{
	uint64_t *place = alloc_zero(all->cct.nodes.n, sizeof(*place));
	CLEANUP(freep) uint64_t *image = alloc_zero(all->images.n + 1, sizeof(*image));

	for (size_t i = 0; i < all->images.n; i++)
		image[i] = digest_image(all, &all->images.at[i]);
	for (size_t i = 1; i < all->cct.nodes.n; i++) {
		const struct cct_node *node = &all->cct.nodes.at[i];
		uint64_t where = node->image == IMAGE_NONE ? i == CCT_INCOMPLETE : image[node->image];
		place[i] =
			merge_mix(merge_mix(place[node->parent], where), merge_mix(node->vaddr, node->flags));
	}
	return place;
}

/* If several have the same name and unit, the first is the first, and so on. */
static uint64_t *digest_metrics(const struct profile *all)
{
	uint64_t *hash = alloc_zero(all->metrics.n + 1, sizeof(*hash));

	for (size_t i = 0; i < all->metrics.n; i++) {
		const struct profile_metric *metric = &all->metrics.at[i];
		uint64_t nth = 0;
		for (size_t j = 0; j < i; j++)
			nth += all->metrics.at[j].name == metric->name &&
			       all->metrics.at[j].unit == metric->unit;
		hash[i] = merge_mix(merge_mix(digest_text(all, metric->name), digest_text(all, metric->unit)),
				    nth);
	}
	return hash;
}

static void digest_value(struct merger *m, const struct cct_value *value, const uint64_t *place,
			 const uint64_t *metric)
{
	uint64_t which = value->metric >= CCT_ROUND ? value->metric : metric[value->metric];

	m->digests.thread.at[value->thread] += merge_mix(place[value->node], which) * value->value;
}

/* Values are packed, or else in the tree. */
static void digest_threads(struct merger *m, const uint64_t *place)
{
	CLEANUP(freep) uint64_t *metric = digest_metrics(m->all);
	packed_rows rows = { 0 };

	for (size_t i = 0; i < m->all->cct.values.n; i++)
		digest_value(m, &m->all->cct.values.at[i], place, metric);
	for (uint32_t i = 0; i < m->all->cct.nodes.n; i++) {
		packed_values_list(m->values, i, &rows);
		for (size_t j = 0; j < rows.n; j++)
			digest_value(m, &rows.at[j], place, metric);
	}
	vec_done(&rows);
}

static bool digest_is_jit(const struct profile *all, uint32_t node)
{
	image_id image = all->cct.nodes.at[node].image;

	return image != IMAGE_NONE && all->images.at[image].kind == IMAGE_JIT;
}

/* Code of a JIT compiler belongs to one process. */
static void digest_images(struct merger *m, const uint64_t *place)
{
	packed_rows rows = { 0 };

	for (size_t i = 0; i < m->all->cct.values.n; i++) {
		const struct cct_value *value = &m->all->cct.values.at[i];
		if (digest_is_jit(m->all, value->node))
			m->digests.image.at[m->all->cct.nodes.at[value->node].image] +=
				merge_mix(place[value->node], m->digests.thread.at[value->thread]) *
				value->value;
	}
	for (uint32_t i = 0; i < m->all->cct.nodes.n; i++) {
		if (!digest_is_jit(m->all, i))
			continue;
		uint64_t *digest = &m->digests.image.at[m->all->cct.nodes.at[i].image];
		*digest += hash_u64(place[i]);
		packed_values_list(m->values, i, &rows);
		for (size_t j = 0; j < rows.n; j++)
			*digest += merge_mix(place[i], m->digests.thread.at[rows.at[j].thread]) *
				   rows.at[j].value;
	}
	vec_done(&rows);
}

void merge_digest_grow(struct merger *m)
{
	while (m->digests.thread.n < m->all->threads.n)
		vec_push(&m->digests.thread, 0);
	while (m->digests.image.n < m->all->images.n)
		vec_push(&m->digests.image, 0);
}

void merge_digest(struct merger *m)
{
	if (m->digests.is_made)
		return;
	CLEANUP(freep) uint64_t *place = digest_places(m->all);

	merge_digest_grow(m);
	digest_threads(m, place);
	digest_images(m, place);
	m->digests.is_made = true;
}
