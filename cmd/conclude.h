/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conclude: messages about a finished profile, live or from a recording, and the exit code.
 */
#pragma once

#include "recording/output.h"
#include "report/export/exporter.h"
#include "report/quality.h"

/* Prints on standard error: the quality line, or why there are no samples. */
void conclude_say_quality(const struct profile *profile);
/* Also prints where the profile is, unless it was written to standard output, and how to view it if it is not
 * empty. exporter: the format written instead of a profile; NULL = a profile. */
void conclude_say_output(const struct output *output, const struct profile *profile,
			 const struct exporter *exporter);
/* EXIT_OK, EXIT_NO_SAMPLES, or EXIT_UNTRUSTWORTHY with a message. */
int conclude_exit_code(const struct profile *profile, const struct quality_bar *min_quality);
