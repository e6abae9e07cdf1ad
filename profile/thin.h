/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thin: profiles with fewer call paths and the same sums (unwinder/cct_thin.h). The quality tally tells how
 * many samples are affected.
 */
#pragma once

#include "profile/profile.h"

/* Of a profile whose values are in the tree: the same, without the paths of fewer samples than least. ret
 * shares everything but the tree with it: free it with cct_done(&ret.cct). */
struct profile profile_thinned(const struct profile *profile, uint64_t least);
/* Thins out the tree, if it takes more memory, until it takes half of that. */
void profile_limit_tree(struct profile *profile, size_t max_bytes);
