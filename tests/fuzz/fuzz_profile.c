/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile file, with its checksums and size put right so that the rest is reached. What can be read
 * is fused and shown in every view: a file that passes the reader must not harm anybody downstream.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/check.h"
#include "profile/merge.h"
#include "report/text.h"
#include "structure/fuse.h"
#include "tests/support/reseal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct profile *profile)
{
	struct fuse_input input = profile_fuse_input(profile);
	struct fuse_options options = { .calls = FUSE_CALLS_BY_LINE, .lines = true };
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(costs_done) struct costs costs = { 0 };

	fuse(&input, &options, &tree);
	costs_init(&costs, &tree, NULL);
	for (int view = TEXT_SUMMARY; view <= TEXT_QUALITY; view++) {
		struct text_input report = { .profile = profile, .tree = &tree, .costs = &costs };
		struct text_options shown = { .view = (enum text_view)view,
					      .metric = text_default_metric(profile, &costs),
					      .sort = text_default_sort((enum text_view)view),
					      .style = { .width = 80, .utf8 = true } };
		CLEANUP(text_done) struct text text = { 0 };
		report_text(&report, &shown, &text);
	}
}

static void merge_with_itself(const struct profile *profile)
{
	struct profile *both = profile_new();

	profile_merge(both, profile);
	profile_merge(both, profile);
	if (both->cct.nodes.n > profile->cct.nodes.n)
		abort(); /* the same tree twice is the same tree */
	profile_free(both);
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
			abort(); /* refused without a reason */
		return 0;
	}
	profile_check(profile, "fuzzed", &diag);
	show(profile);
	merge_with_itself(profile);
	profile_free(profile);
	return 0;
}
