/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export: an export as a command writes it.
 */
#pragma once

#include "cmd/options.h"
#include "recording/export_file.h"

/* As export_file; what had to be folded is said on standard error. */
int export_to(const struct exporter *exporter, struct profile *profile, const struct export_choice *choice,
	      const char *path, struct diag *diag);
/* Of labels NAME=VALUE, the first whose name the format does not take; NULL if there is none. */
const char *export_bad_label(const struct option_list *labels, const struct exporter *exporter);
#define EXPORT_LABEL_WRONG "'%s': a label name consists of letters, digits and _"
