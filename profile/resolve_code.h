/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_code: stores the machine code of sampled functions, so that they can be disassembled without the
 * binaries.
 */
#pragma once

#include "profile/profile.h"

/* Replaces profile->codes by the code of every function in profile->functions whose bytes are available,
 * within limits. */
void resolve_code(struct profile *profile, struct images *images);
