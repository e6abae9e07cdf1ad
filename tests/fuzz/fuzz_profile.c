/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_profile: a profile file, whose checksums and size are corrected so that the rest is reached. A file
 * that can be read is fused, shown in every view and exported: it must not crash later stages, and the JSON
 * of a consistent profile must be consistent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "profile/check.h"
#include "profile/merge.h"
#include "profile/thin.h"
#include "report/export/check_json.h"
#include "report/export/exporter.h"
#include "report/text/text.h"
#include "report/tree/loop_facts.h"
#include "structure/fuse.h"
#include "tests/support/reseal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct profile *profile)
{
	struct fuse_input input = profile_fuse_input(profile);
	struct fuse_options options = { .calls = FUSE_CALLS_BY_LINE, .lines = true, .addresses = true };
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(costs_done) struct costs costs = { 0 };
	CLEANUP(loop_table_done) struct loop_table loops = { 0 };

	fuse(&input, &options, &tree);
	loop_table_init(&loops, profile, &tree, text_default_metric(profile, &tree, NULL), NULL);
	scope_tree_merge_addresses(&tree);
	if (tree.scopes.n % 2) /* the corpus has both cases */
		scope_tree_drop_lines(&tree);
	costs_init(&costs, &tree, NULL);
	for (int view = TEXT_SUMMARY; view <= TEXT_QUALITY; view++) {
		struct text_input report = {
			.profile = profile, .tree = &tree, .costs = &costs, .loops = &loops
		};
		struct text_options shown = { .view = (enum text_view)view,
					      .metric = text_default_metric(profile, &tree, NULL),
					      .sort = text_default_sort((enum text_view)view, GROUP_FUNCTION),
					      .style = { .width = 80, .utf8 = true } };
		CLEANUP(text_done) struct text text = { 0 };
		report_text(&report, &shown, &text);
	}
}

static bool has_jit(const struct profile *profile)
{
	size_t i = 0;

	while (i < profile->images.n && profile->images.at[i].kind != IMAGE_JIT)
		i++;
	return i < profile->images.n;
}

static void merge_with_itself(const struct profile *profile)
{
	struct profile *both = profile_new();

	profile_merge(both, profile);
	profile_merge(both, profile);
	/* Merging a tree with itself adds no nodes, except for JIT code, which is never taken to be the same.
	 */
	if (!has_jit(profile) && both->cct.nodes.n > profile->cct.nodes.n)
		abort();
	profile_free(both);
}

/* Fewer paths, and the same sums. */
static void thin(const struct profile *profile)
{
	struct profile some = profile_thinned(profile, 5);

	if (some.cct.nodes.n > profile->cct.nodes.n)
		abort();
	for (uint32_t i = 0; i < profile->metrics.n; i++)
		if (profile_sum(&some, i) != profile_sum(profile, i))
			abort();
	cct_done(&some.cct);
}

/* One format, selected by the input; pruned or whole. */
static void export(struct profile *profile, unsigned which, bool is_consistent)
{
	size_t n_exporters = 0, len = 0;
	struct scope_tree tree = { 0 };
	struct export_input input = { profile, &tree };
	struct json_findings found;
	struct diag diag = { 0 };
	CLEANUP(freep) char *text = NULL;

	while (exporters[n_exporters])
		n_exporters++;
	const struct exporter *exporter = exporters[which % n_exporters];
	struct fuse_options options = { .calls = FUSE_CALLS_BY_LINE,
					.joins = true,
					.lines = exporter->needs_lines,
					.no_loops = which & 16 };
	FILE *to = open_memstream(&text, &len);
	profile_take_tree(profile, &options, &tree);
	struct export_options wanted = { .metric = profile->metrics.n > 1,
					 .totals = true,
					 .max_nodes = which & 32 ? 5 : 0 };
	if (export_profile(exporter, &input, &wanted, to, &diag) < 0)
		abort(); /* writing to memory cannot fail */
	fclose(to);
	if (is_consistent && exporter == &exporter_json &&
	    json_check((struct bytes){ (uint8_t *)text, len }, "exported", &found, &diag) < 0)
		abort();
	scope_tree_done(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(freep) uint8_t *file = malloc(size + !size);
	struct profile *profile = NULL;
	struct diag diag = { 0 };
	uint64_t file_size = size;

	memcpy(file, data, size);
	if (size >= 24)
		memcpy(file + 16, &file_size, 8);
	profile_reseal(file, size);
	if (profile_parse((struct bytes){ file, size }, "fuzzed", &profile, &diag) < 0) {
		if (!diag.why[0])
			abort(); /* rejected without a reason */
		return 0;
	}
	bool is_consistent = profile_check(profile, "fuzzed", &diag) == 0;
	show(profile);
	merge_with_itself(profile);
	if (is_consistent)
		thin(profile);
	export(profile, (unsigned)hash_bytes((struct bytes){ data, size }), is_consistent);
	profile_free(profile);
	return 0;
}
