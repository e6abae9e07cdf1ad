/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge: several profiles as one: runs of one program, or programs of one run.
 */
#pragma once

#include "profile/profile.h"

/*
 * Adds all of `from` to `into`. Images are the same if their build-ids are, or without those their paths;
 * events if name and unit are; threads and processes never. Times are put on one clock where both starts
 * are known. Sums of the result are the sums of both.
 */
void profile_merge(struct profile *into, const struct profile *from);
