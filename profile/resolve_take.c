/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_take.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* By image, whether it was requested. */
static bool *take_list(const struct profile *profile, const struct images *images,
		       const struct resolve_options *asked)
{
	bool *is_asked = alloc_zero(profile->images.n, sizeof(*is_asked));

	for (image_id i = 0; i < profile->images.n; i++)
		is_asked[i] = resolve_is_asked(asked, images, i);
	return is_asked;
}

/* Merges two lists sorted by image: theirs for requested images, ours for the others. What remains becomes
 * theirs, to be freed with the rest. */
#define TAKE_MERGE(ours, theirs, is_asked, n_images)                                            \
	do {                                                                                    \
		__typeof__(ours) merged_ = { 0 }, rest_ = { 0 };                                \
		size_t i_ = 0, k_ = 0;                                                          \
		for (image_id id_ = 0; id_ < (n_images); id_++) {                               \
			for (; i_ < (ours).n && (ours).at[i_].image == id_; i_++)               \
				vec_push((is_asked)[id_] ? &rest_ : &merged_, (ours).at[i_]);   \
			for (; k_ < (theirs).n && (theirs).at[k_].image == id_; k_++)           \
				vec_push((is_asked)[id_] ? &merged_ : &rest_, (theirs).at[k_]); \
		}                                                                               \
		vec_done(&(ours));                                                              \
		vec_done(&(theirs));                                                            \
		(ours) = merged_;                                                               \
		(theirs) = rest_;                                                               \
	} while (0)

/* ---- in the child ------------------------------------------------------------------------------- */

void resolve_take_prepare(struct profile *profile, const struct images *images,
			  const struct resolve_options *asked)
{
	CLEANUP(freep) bool *is_asked = take_list(profile, images, asked);
	size_t n = 0;

	for (size_t i = 0; i < profile->functions.n; i++)
		if (is_asked[profile->functions.at[i].image])
			profile->functions.at[n++] = profile->functions.at[i];
	profile->functions.n = n;
	n = 0;
	for (size_t i = 0; i < profile->structures.n; i++)
		if (is_asked[profile->structures.at[i].image])
			profile->structures.at[n++] = profile->structures.at[i];
	profile->structures.n = n;
	profile->events.n = profile->metrics.n = profile->processes.n = profile->threads.n = 0;
	profile->cct.nodes.n = CCT_INCOMPLETE + 1;
	profile->cct.values.n = profile->timeline.n = profile->spread.n = profile->given.n = 0;
	profile->given_unplaced.n = 0;
	profile->codes.n = profile->code_bytes.n = 0;
	profile->n_ranks = 0;
	profile->packed = NULL;
}

/* ---- in the parent ------------------------------------------------------------------------------ */

/* Strings and notes that existed before are the same in both; new ones follow. */
static bool take_agrees(const struct profile *profile, const struct profile *names)
{
	const struct intern *ours = &profile->strings, *theirs = &names->strings;

	if (names->images.n != profile->images.n || theirs->strings.n < ours->strings.n ||
	    names->notes.n < profile->notes.n ||
	    names->quality.damaged_units < profile->quality.damaged_units)
		return false;
	for (size_t i = 0; i < ours->strings.n; i++)
		if (ours->lengths.at[i] != theirs->lengths.at[i] ||
		    memcmp(ours->strings.at[i], theirs->strings.at[i], ours->lengths.at[i]) != 0)
			return false;
	for (size_t i = 0; i < profile->notes.n; i++)
		if (profile->notes.at[i] != names->notes.at[i])
			return false;
	return true;
}

bool resolve_take(struct profile *profile, const struct images *images, const struct resolve_options *asked,
		  struct bytes message)
{
	CLEANUP(profile_freep) struct profile *names = NULL;

	if (profile_parse(message, "names", &names, NULL) < 0 || !take_agrees(profile, names))
		return false;
	CLEANUP(freep) bool *is_asked = take_list(profile, images, asked);
	struct intern strings = profile->strings;
	profile->strings = names->strings;
	names->strings = strings;
	TAKE_MERGE(profile->functions, names->functions, is_asked, profile->images.n);
	TAKE_MERGE(profile->structures, names->structures, is_asked, profile->images.n);
	for (size_t i = profile->notes.n; i < names->notes.n; i++)
		vec_push(&profile->notes, names->notes.at[i]);
	for (size_t i = 0; i < profile->images.n; i++)
		if (is_asked[i])
			profile->images.at[i].debug = names->images.at[i].debug;
	profile->quality.damaged_units = names->quality.damaged_units;
	return true;
}
