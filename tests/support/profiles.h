/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiles: profiles built by hand, for tests of code that reads profiles.
 */
#pragma once

#include "base/cleanup.h"
#include "profile/profile.h"

/* A profile with contents in every section: three images, a recursion, inlined calls, kernel and incomplete
 * stacks; 100 samples. */
struct profile *sample_profile(void);
/* The same as an epoch of ten minutes, from that many seconds after EPOCHS_START, which is on the hour. */
#define EPOCHS_START (1700000000ull / 3600 * 3600 * 1000000000ull)
struct profile *epoch_at(uint64_t second);
/* The same plus a recursion that many calls deep, with 100 samples at its end. */
struct profile *deep_profile(uint32_t depth);
/* n random nodes over 16 functions, three images, three threads; deterministic for a seed. */
struct profile *random_profile(uint32_t seed, size_t n_nodes);
/* "none", or the name of the first part in which they differ. */
const char *profile_difference(const struct profile *a, const struct profile *b);

#define OWNED CLEANUP(profile_freep)
