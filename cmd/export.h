/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export: shared by the command and by record and attach, which can write an export directly.
 */
#pragma once

#include "report/export/exporter.h"

struct export_choice {
	struct export_options options;
	bool no_inlines, no_loops;
	bool is_quiet; /* says nothing of what had to be folded */
};

/* Fuses as the exporter wants it, which takes the profile's CCT (profile_take_tree), and writes to path ("-"
 * or NULL: standard output; .gz compresses), whole or not at all. */
int export_to(const struct exporter *exporter, struct profile *profile, const struct export_choice *choice,
	      const char *path, struct diag *diag);
/* Index of a metric by name, the default one for NULL; -ENOENT. */
int export_find_metric(const struct profile *profile, const char *name);
