/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_file: writes a profile as an export to a file, atomically.
 */
#pragma once

#include "base/text.h"
#include "report/export/exporter.h"

struct export_choice {
	struct export_options options;
	bool no_inlines, no_loops, no_join;
	mode_t mode; /* of the file; 0 = the owner's alone, openmetrics: as the umask says */
};

/* What an export has that nobody asked for more than its format. */
struct export_choice export_choose(const struct exporter *exporter, const struct profile *profile);
/* Index of a metric by name or number, the default one for NULL; -ENOENT. */
int export_find_metric(const struct profile *profile, const char *name);

/*
 * Fuses as the exporter wants it, which takes the profile's CCT (profile_take_tree), and writes to path ("-"
 * or NULL: standard output; .gz compresses). If something had to be folded a sentence in ret_folded says so;
 * it may be NULL.
 */
int export_file(const struct exporter *exporter, struct profile *profile, const struct export_choice *choice,
		const char *path, struct text *ret_folded, struct diag *diag);
/* The same of a tree that is there already. */
int export_tree(const struct exporter *exporter, const struct export_input *input,
		const struct export_choice *choice, const char *path, struct text *ret_folded,
		struct diag *diag);
