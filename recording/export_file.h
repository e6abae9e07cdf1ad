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
	mode_t mode; /* of the file; 0 = only the owner, openmetrics: according to the umask */
};

/* The default options of an export. */
struct export_choice export_choose(const struct exporter *exporter, const struct profile *profile);
/* Index of a metric by name or number, the default one for NULL; -ENOENT. */
int export_find_metric(const struct profile *profile, const char *name);

/*
 * Fuses as the exporter requires, which takes the profile's CCT (profile_take_tree), and writes to path ("-"
 * or NULL: standard output; .gz compresses). If something had to be folded, ret_folded gets a sentence that
 * says so; it may be NULL.
 */
int export_file(const struct exporter *exporter, struct profile *profile, const struct export_choice *choice,
		const char *path, struct text *ret_folded, struct diag *diag);
/* The same for an existing tree. */
int export_tree(const struct exporter *exporter, const struct export_input *input,
		const struct export_choice *choice, const char *path, struct text *ret_folded,
		struct diag *diag);
