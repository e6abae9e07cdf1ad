/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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

/* The frames of the stacks of all values; those of one scope and thread have one stack. */
static uint64_t exporter_count_frames(const struct scope_tree *tree)
{
	uint32_t *depth = alloc_zero(tree->scopes.n + 1, sizeof(*depth));
	uint64_t n = 0;

	for (size_t i = 1; i < tree->scopes.n; i++)
		depth[i] = depth[tree->scopes.at[i].parent] + 1;
	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		if (i == 0 || value->scope != value[-1].scope || value->thread != value[-1].thread)
			n += depth[value->scope];
	}
	free(depth);
	return n;
}

#define FRAMES_FREE (1ull << 24) /* of stacks, for any tree */
#define FRAMES_PER_VALUE 256     /* and so many more: stacks are rarely that deep on average */

/*
 * A file can contain a tree as deep as it is large; its stacks would take the square of that. The cheapest
 * contexts are folded until they are a multiple of the tree.
 */
static void exporter_limit_stacks(struct scope_tree *tree, uint32_t metric)
{
	uint64_t max = FRAMES_FREE + tree->values.n * FRAMES_PER_VALUE;
	size_t keep = scope_tree_n_nodes(tree);

	while (keep > 0 && exporter_count_frames(tree) > max)
		scope_tree_limit(tree, metric, (uint32_t)(keep /= 2));
}

int export_profile(const struct exporter *exporter, const struct export_input *input,
		   const struct export_options *options, FILE *to, struct diag *diag)
{
	uint32_t max_nodes = options->detail == DETAIL_SUMMARY ? 1
			     : options->max_nodes              ? options->max_nodes
							       : exporter->max_nodes;

	if (max_nodes && scope_tree_n_nodes(input->tree) > max_nodes)
		scope_tree_limit(input->tree, options->metric, max_nodes);
	if (exporter->walks_stacks && !options->max_nodes)
		exporter_limit_stacks(input->tree, options->metric);
	errno = 0;
	int error = exporter->write(input, options, to, diag);
	if (fflush(to) != 0 || ferror(to)) /* a writer that stops because of its stream need not say why */
		error = diag_set(diag, errno ? -errno : -EIO, "cannot write the %s export", exporter->name);
	return error;
}
