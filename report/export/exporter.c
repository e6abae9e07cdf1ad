/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/exporter.h"

#include <errno.h>
#include <string.h>

#include "report/limit.h"

const struct exporter *const exporters[] = {
	&exporter_json, &exporter_ndjson,      &exporter_rows,   &exporter_top,     &exporter_pprof,
	&exporter_otlp, &exporter_speedscope,  &exporter_folded, &exporter_firefox, &exporter_callgrind,
	&exporter_llvm, &exporter_openmetrics, &exporter_svg,    &exporter_html,    NULL,
};

const struct exporter *exporter_named(const char *name)
{
	for (const struct exporter *const *e = exporters; *e; e++)
		if (strcmp((*e)->name, name) == 0)
			return *e;
	return NULL;
}

/* Length of the longest of the space-separated suffixes that the name ends in; 0 = none. */
static size_t matching_suffix(const char *name, size_t name_len, const char *suffixes)
{
	size_t best = 0;

	while (*suffixes) {
		size_t len = strcspn(suffixes, " ");
		if (len <= name_len && len > best && strncmp(name + name_len - len, suffixes, len) == 0)
			best = len;
		suffixes += len + strspn(suffixes + len, " ");
	}
	return best;
}

static const struct exporter *exporter_for_name(const char *name, size_t name_len)
{
	const struct exporter *best = NULL;
	size_t best_len = 0;

	for (const struct exporter *const *e = exporters; *e; e++) {
		size_t len = matching_suffix(name, name_len, (*e)->suffixes);
		if (len > best_len) {
			best = *e;
			best_len = len;
		}
	}
	return best;
}

const struct exporter *exporter_for_file(const char *path)
{
	size_t len = strlen(path);
	const struct exporter *exporter = exporter_for_name(path, len);

	if (!exporter && len > 3 && strcmp(path + len - 3, ".gz") == 0)
		exporter = exporter_for_name(path, len - 3);
	return exporter;
}

const struct exporter *exporter_instead_of_profile(const char *path)
{
	static const char any_profile[] = ".prof";
	const struct exporter *exporter = exporter_for_file(path);
	size_t len = strlen(path), n = sizeof(any_profile) - 1;

	return len >= n && strcmp(path + len - n, any_profile) == 0 ? NULL : exporter;
}

int export_profile(const struct exporter *exporter, const struct export_input *input,
		   const struct export_options *options, FILE *to, struct diag *diag)
{
	uint32_t max_nodes = options->detail == DETAIL_SUMMARY ? 1
			     : options->max_nodes              ? options->max_nodes
							       : exporter->max_nodes;

	if (max_nodes && scope_tree_n_nodes(input->tree) > max_nodes)
		scope_tree_limit(input->tree, options->metric, max_nodes);
	errno = 0;
	int error = exporter->write(input, options, to, diag);
	if (fflush(to) != 0 || ferror(to)) /* a writer that stops because of its stream need not say why */
		error = diag_set(diag, errno ? -errno : -EIO, "cannot write the %s export", exporter->name);
	return error;
}
