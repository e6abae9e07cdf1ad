/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_profiles: unusual synthetic profiles, to test readers and exporters: names that break formats and
 * viewers, and trees of any size.
 */
#pragma once

#include "profile/profile.h"

/* Every hostile name as a function, an inlined call, a file, a thread, an image; resolved, with loops. */
struct profile *hostile_profile(void);
/* n contexts over 20,000 functions, resolved, with inlined calls, loops and four threads. */
struct profile *large_profile(size_t n);
/* Runs that were too short, or almost; a run entirely in the kernel; one with many threads. */
struct profile *profile_without_samples(void);
struct profile *profile_of_one_sample(void);
struct profile *profile_of_the_kernel(void);
struct profile *profile_of_threads(uint32_t n);
/* A function that calls itself 100 times, each time in its loop. */
struct profile *profile_of_recursion(void);
/* Functions whose long names differ in a few words: instances of one template. */
struct profile *profile_of_instances(void);
