/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_structure: loops and inlined calls of the functions that were sampled.
 */
#pragma once

#include "profile/profile.h"

/* Replaces profile->structures by those of every function in profile->functions whose code can be read. */
void resolve_structures(struct profile *profile, struct images *images);
