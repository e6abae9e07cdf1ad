/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export: an export as a command writes it.
 */
#pragma once

#include "recording/export_file.h"

/* As export_file; what had to be folded is said on standard error. */
int export_to(const struct exporter *exporter, struct profile *profile, const struct export_choice *choice,
	      const char *path, struct diag *diag);
