/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export: exports, as written by commands.
 */
#pragma once

#include "cmd/options.h"
#include "recording/export_file.h"

/* Like export_file; reports on standard error what had to be folded. */
int export_to(const struct exporter *exporter, struct profile *profile, const struct export_choice *choice,
	      const char *path, struct diag *diag);
/* The first of the labels NAME=VALUE whose name is not valid in the format; NULL if there is none. */
const char *export_bad_label(const struct option_list *labels, const struct exporter *exporter);
#define EXPORT_LABEL_WRONG "'%s': a label name consists of letters, digits and _"
