/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

struct profile *profile_new(void)
{
	struct profile *profile = alloc_zero(1, sizeof(*profile));

	intern_init(&profile->strings);
	cct_init(&profile->cct);
	return profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->functions.n; i++)
		function_map_done(&profile->functions.at[i]);
	vec_done(&profile->functions);
	for (size_t i = 0; i < profile->structures.n; i++)
		structure_done(&profile->structures.at[i]);
	vec_done(&profile->structures);
	vec_done(&profile->codes);
	vec_done(&profile->code_bytes);
	vec_done(&profile->notes);
	vec_done(&profile->timeline);
	cct_done(&profile->cct);
	vec_done(&profile->given);
	vec_done(&profile->threads);
	vec_done(&profile->processes);
	vec_done(&profile->images);
	vec_done(&profile->metrics);
	vec_done(&profile->events);
	intern_done(&profile->strings);
	free(profile);
}

const struct function_map *profile_function(const struct profile *profile, image_id image, uint64_t vaddr)
{
	size_t low = 0, high = profile->functions.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct function_map *map = &profile->functions.at[middle];
		if (map->image < image || (map->image == image && map->vaddr <= vaddr))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;

	const struct function_map *map = &profile->functions.at[low - 1];
	return map->image == image && vaddr - map->vaddr < map->size ? map : NULL;
}

struct fuse_input profile_fuse_input(const struct profile *profile)
{
	return (struct fuse_input){ .cct = &profile->cct,
				    .functions = profile->functions.at,
				    .n_functions = profile->functions.n,
				    .structures = profile->structures.at,
				    .n_structures = profile->structures.n,
				    .n_metrics = (uint32_t)profile->metrics.n };
}

uint64_t profile_sum(const struct profile *profile, uint32_t metric)
{
	uint64_t sum = metric < profile->given.n ? profile->given.at[metric] : 0;

	for (size_t i = 0; i < profile->cct.values.n; i++)
		if (profile->cct.values.at[i].metric == metric)
			sum += profile->cct.values.at[i].value;
	return sum;
}

void profile_take_tree(struct profile *profile, const struct fuse_options *options, struct scope_tree *ret)
{
	/* Metric 0 is always there, also where a file has none. */
	if (profile->metrics.n == 0) {
		struct profile_metric samples = { intern_add(&profile->strings, "samples"), intern_add(&profile->strings, "count"), UINT32_MAX };
		vec_push(&profile->metrics, samples);
	}
	struct fuse_input input = profile_fuse_input(profile);
	for (uint32_t i = (uint32_t)profile->given.n; i < profile->metrics.n; i++) {
		uint64_t sum = profile_sum(profile, i);
		vec_push(&profile->given, sum);
	}
	fuse_consume(&input, options, &profile->cct, ret);
}

struct bytes profile_code_at(const struct profile *profile, image_id image, uint64_t vaddr)
{
	size_t low = 0, high = profile->codes.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct profile_code *code = &profile->codes.at[middle];
		if (code->image < image || (code->image == image && code->vaddr < vaddr))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == profile->codes.n || profile->codes.at[low].image != image || profile->codes.at[low].vaddr != vaddr)
		return (struct bytes){ 0 };
	return (struct bytes){ profile->code_bytes.at + profile->codes.at[low].offset, profile->codes.at[low].len };
}

const struct structure *profile_structure(const struct profile *profile, image_id image, uint64_t function)
{
	size_t low = 0, high = profile->structures.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct structure *structure = &profile->structures.at[middle];
		if (structure->image < image || (structure->image == image && structure->function < function))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == profile->structures.n || profile->structures.at[low].image != image || profile->structures.at[low].function != function)
		return NULL;
	return &profile->structures.at[low];
}
