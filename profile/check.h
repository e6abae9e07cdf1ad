/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check: does a profile add up? What profile_parse guarantees (ranges, order, references) is not
 * checked again; this is about what the parts say of each other.
 */
#pragma once

#include "profile/profile.h"

/* 0, or -EINVAL and the first contradiction found. name is only for the message. */
int profile_check(const struct profile *profile, const char *name, struct diag *diag);
