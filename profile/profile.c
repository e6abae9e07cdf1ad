/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include "base/cleanup.h"
#include "base/search.h"

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
	if (profile->packed)
		packed_values_done(profile->packed);
	free(profile->packed);
	writer_done(&profile->contexts);
	writer_done(&profile->samples);
	value_tables_free(profile->tables);
	vec_done(&profile->spread);
	vec_done(&profile->codes);
	vec_done(&profile->code_bytes);
	vec_done(&profile->notes);
	vec_done(&profile->timeline);
	cct_done(&profile->cct);
	vec_done(&profile->given);
	vec_done(&profile->given_unplaced);
	vec_done(&profile->threads);
	vec_done(&profile->processes);
	vec_done(&profile->images);
	vec_done(&profile->metrics);
	vec_done(&profile->events);
	intern_done(&profile->strings);
	free(profile);
}

void profile_unpack(struct profile *profile)
{
	packed_rows rows = { 0 };

	if (!profile->packed)
		return;
	for (uint32_t node = 0; node < profile->cct.nodes.n; node++) {
		packed_values_of(profile->packed, node, &rows);
		for (size_t i = 0; i < rows.n; i++)
			vec_push(&profile->cct.values, rows.at[i]);
	}
	vec_done(&rows);
	packed_values_done(profile->packed);
	free(profile->packed);
	profile->packed = NULL;
}

const struct function_map *profile_function(const struct profile *profile, image_id image, uint64_t vaddr)
{
	return function_maps_find(profile->functions.at, profile->functions.n, image, vaddr);
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

uint64_t profile_sum_unplaced(const struct profile *profile, uint32_t metric)
{
	uint64_t sum = metric < profile->given_unplaced.n ? profile->given_unplaced.at[metric] : 0;

	for (size_t i = 0; i < profile->cct.values.n; i++)
		if (profile->cct.values.at[i].metric == metric &&
		    profile->cct.values.at[i].node == CCT_INCOMPLETE)
			sum += profile->cct.values.at[i].value;
	return sum;
}

/* Moves the cost of threads in parallel regions if requested; fills notes in any case. */
static void profile_join(struct profile *profile, bool joins, struct join_notes *notes)
{
	CLEANUP(freep) uint32_t *process = alloc_zero(profile->threads.n + 1, sizeof(*process));
	struct join_input input = { .cct = &profile->cct,
				    .functions = profile->functions.at,
				    .n_functions = profile->functions.n,
				    .structures = profile->structures.at,
				    .n_structures = profile->structures.n,
				    .strings = &profile->strings,
				    .process = process,
				    .n_threads = profile->threads.n };
	struct cct joined;

	for (size_t i = 0; i < profile->threads.n; i++)
		process[i] = profile->threads.at[i].process;
	cct_init(&joined);
	if (join_regions(&input, joins, notes, &joined)) {
		struct cct old = profile->cct;
		profile->cct = joined;
		joined = old;
	}
	cct_done(&joined);
}

/* Two processes with the same pid have different code; one process has an image for each epoch. */
static bool profile_has_two_of(const struct profile *profile, int32_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->processes.n; i++)
		n += profile->processes.at[i].pid == pid;
	return n > 1;
}

static image_id *profile_shown_images(const struct profile *profile)
{
	image_id *shown_as = alloc_zero(profile->images.n + 1, sizeof(*shown_as));
	struct map first = { 0 };

	for (uint32_t i = 0; i < profile->images.n; i++) {
		const struct profile_image *image = &profile->images.at[i];
		uint64_t key = (uint64_t)image->path << 32 | (uint32_t)image->pid;
		uint32_t known = image->kind == IMAGE_JIT && image->pid ? map_find(&first, key) : MAP_NONE;
		shown_as[i] = known == MAP_NONE || profile_has_two_of(profile, image->pid) ? i : known;
		if (image->kind == IMAGE_JIT && known == MAP_NONE)
			map_put(&first, key, i);
	}
	map_done(&first);
	return shown_as;
}

static void profile_note_shortened(struct profile *profile, uint64_t n_frames)
{
	CLEANUP(freep)
	char *note =
		alloc_printf("inlined calls and loops are nested too deeply in too many call paths: %llu "
			     "frames are shown only with their function, the innermost inlined call and "
			     "the innermost loop in it; costs of those in between are too low",
			     (unsigned long long)n_frames);

	if (n_frames)
		vec_push(&profile->notes, intern_add(&profile->strings, note));
	profile->quality.shortened_frames = n_frames;
}

void profile_take_tree(struct profile *profile, const struct fuse_options *options, struct scope_tree *ret)
{
	/* Metric 0 always exists, even if a file has none. */
	if (profile->metrics.n == 0) {
		struct profile_metric samples = { intern_add(&profile->strings, "samples"),
						  intern_add(&profile->strings, "count"), UINT32_MAX };
		vec_push(&profile->metrics, samples);
	}
	for (uint32_t i = (uint32_t)profile->given.n; i < profile->metrics.n; i++) {
		uint64_t sum = profile_sum(profile, i);
		vec_push(&profile->given, sum);
		vec_push(&profile->given_unplaced, profile_sum_unplaced(profile, i));
	}
	struct join_notes notes;
	profile_join(profile, options->joins, &notes);
	struct fuse_input input = profile_fuse_input(profile);
	CLEANUP(freep) image_id *shown_as = profile_shown_images(profile);
	input.notes = &notes;
	input.shown_as = shown_as;
	fuse_consume(&input, options, &profile->cct, ret);
	profile_note_shortened(profile, ret->n_shortened);
	join_notes_done(&notes);
}

struct bytes profile_code_at(const struct profile *profile, image_id image, uint64_t vaddr)
{
	const struct profile_code *codes = profile->codes.at;
	size_t n = profile->codes.n;
	size_t at = search_first(
		i, n, codes[i].image > image || (codes[i].image == image && codes[i].vaddr >= vaddr));

	if (at == n || codes[at].image != image || codes[at].vaddr != vaddr)
		return (struct bytes){ 0 };
	return (struct bytes){ profile->code_bytes.at + codes[at].offset, codes[at].len };
}

const struct structure *profile_structure(const struct profile *profile, image_id image, uint64_t function)
{
	return structures_find(profile->structures.at, profile->structures.n, image, function);
}

bool profile_user(const struct profile *profile, struct user *ret)
{
	bool is_known = false;

	*ret = (struct user){ 0 };
	for (size_t i = 0; i < profile->processes.n; i++) {
		const struct profile_process *process = &profile->processes.at[i];
		struct user user = { process->user - 1, process->group };
		is_known |= process->user != 0;
		if (process->user <= 1)
			continue;
		bool is_other = ret->uid && (ret->uid != user.uid || ret->gid != user.gid);
		*ret = is_other ? (struct user){ USER_NOBODY, USER_NOBODY } : user;
		if (is_other)
			break;
	}
	return is_known;
}
