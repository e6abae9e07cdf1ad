/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_profiles: profiles that no program would leave by itself, for whoever reads them: names that break
 * formats and viewers, and trees of any size.
 */
#pragma once

#include "profile/profile.h"

/* Every hostile name as a function, an inlined call, a file, a thread, an image; resolved, with loops. */
struct profile *hostile_profile(void);
/* n contexts over 20,000 functions, resolved, with inlined calls, loops and four threads. */
struct profile *large_profile(size_t n);
