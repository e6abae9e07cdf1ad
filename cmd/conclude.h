/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conclude: what is said of a profile that has been built, live or from a recording, and the exit code.
 */
#pragma once

#include "recording/output.h"
#include "report/export/exporter.h"
#include "report/quality.h"

/* On standard error: the quality line, and why there are no samples. */
void conclude_say_quality(const struct profile *profile);
/* And where the profile is, unless it went to standard output; how to look at it if there is anything to see.
 * exporter: what was written instead of a profile; NULL = a profile. */
void conclude_say_output(const struct output *output, const struct profile *profile,
			 const struct exporter *exporter);
/* EXIT_OK, EXIT_NO_SAMPLES, or EXIT_UNTRUSTWORTHY with a message. */
int conclude_exit_code(const struct profile *profile, const struct quality_bar *min_quality);
