/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_code: keeps the machine code of the functions that were sampled, so that they can be
 * disassembled where the binaries are not.
 */
#pragma once

#include "profile/profile.h"

/* Replaces profile->codes: every function in profile->functions whose bytes can be had, within limits. */
void resolve_code(struct profile *profile, struct images *images);
