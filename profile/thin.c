/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/thin.h"

#include "base/hash.h"
#include "unwinder/cct_fold.h"
#include "unwinder/cct_thin.h"

static struct cct thin_tree(const struct cct *cct, uint64_t least, uint64_t seed,
			    struct profile_quality *quality)
{
	struct cct thinned;
	uint64_t n = quality->thinned_samples + cct_thin(cct, least, seed, &thinned);

	quality->thinned_samples = n < quality->samples ? n : quality->samples;
	if (quality->thinned_below < least)
		quality->thinned_below = least;
	return thinned;
}

struct profile profile_thinned(const struct profile *profile, uint64_t least)
{
	struct profile thinned = *profile;

	/* Another one in each epoch, so that it is not always the same path that represents its neighbours.
	 */
	uint64_t seed = hash_u64(profile->run.start_unix_ns);
	thinned.cct = thin_tree(&profile->cct, least, seed, &thinned.quality);
	return thinned;
}

void profile_limit_tree(struct profile *profile, size_t max_bytes)
{
	struct cct *cct = &profile->cct;

	if (cct_bytes(cct) <= max_bytes)
		return;
	for (uint64_t least = 2; cct_bytes(cct) > max_bytes / 2 && least / 2 <= profile->quality.samples;
	     least *= 2) {
		struct cct thinned = thin_tree(cct, least, profile->quality.samples, &profile->quality);
		cct_done(cct);
		*cct = thinned;
	}
}
