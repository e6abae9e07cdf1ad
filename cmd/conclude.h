/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conclude: what happens to a profile that has been built, live or from a recording: names, the file,
 * what is said about it, the exit code.
 */
#pragma once

#include <stdbool.h>

#include "binary/image.h"
#include "cmd/output.h"
#include "profile/profile.h"

/* Adds names, if it is asked to, and writes the file; the profile is on disk before names are looked up. */
int conclude_write(struct output *output, struct profile *profile, struct images *images, bool resolves,
		   struct diag *diag);
/* On standard error: the quality line, and why there are no samples. */
void conclude_say_quality(const struct profile *profile);
/* And where the profile is, unless it went to standard output. */
void conclude_say_output(const struct output *output);
/* EXIT_OK, EXIT_NO_SAMPLES, or EXIT_UNTRUSTWORTHY with a message. */
int conclude_exit_code(const struct profile *profile, double min_quality);
