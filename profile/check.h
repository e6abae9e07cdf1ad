/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check: checks that the parts of a profile are consistent with each other, such as sums. What profile_parse
 * guarantees (ranges, order, references) is not checked again.
 */
#pragma once

#include "profile/profile.h"

/* 0, or -EINVAL and the first contradiction found. name is only for the message. */
int profile_check(const struct profile *profile, const char *name, struct diag *diag);
