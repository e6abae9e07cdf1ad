/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result: looks up symbols for a profile after the recording.
 */
#pragma once

#include "profile/resolve.h"
#include "recording/output.h"
#include "recording/workers.h"

/* The options with the functions that the workers have found, which they lend. */
struct resolve_options result_names(const struct resolve_options *options, struct workers *workers);
/* Adds names, after the workers have saved their results. */
int result_resolve(struct workers *workers, struct profile *profile, struct images *images,
		   const struct resolve_options *options, struct diag *diag);
