/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conclude: what happens to a profile that has been built, live or from a recording: names, the file,
 * what is said about it, the exit code.
 */
#pragma once

#include <stdbool.h>

#include "binary/elf/image.h"
#include "cmd/output.h"
#include "recording/workers.h"

struct resolve_options;

/* Adds names, when the workers that has built the profile has saved what it found out: the options may have
 * it lend that. */
int conclude_name(struct workers *workers, struct profile *profile, struct images *images,
		  const struct resolve_options *options, struct diag *diag);
/* Writes the file, adds names and writes it again: what was recorded is safe before names are looked up. */
int conclude_resolve(struct output *output, struct workers *workers, struct profile *profile,
		     struct images *images, const struct resolve_options *options, struct diag *diag);
/* For resolve_options: the functions that a workers, the context, had to find out. */
struct functions *conclude_functions(void *workers, image_id image);
/* On standard error: the quality line, and why there are no samples. */
void conclude_say_quality(const struct profile *profile);
/* And where the profile is, unless it went to standard output; how to look at it if there is anything to see.
 */
void conclude_say_output(const struct output *output, const struct profile *profile);
/* EXIT_OK, EXIT_NO_SAMPLES, or EXIT_UNTRUSTWORTHY with a message. */
int conclude_exit_code(const struct profile *profile, double min_quality);
