/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge: merges several profiles into one.
 */
#include "profile/merge.h"

#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/export.h"
#include "cmd/merge_files.h"

int cmd_merge(int argc, char **argv)
{
	struct merge_request request = { 0 };
	struct merge_tally tally = { 0 };
	int code = merge_request_parse(&request, "merge", argc, argv);

	if (code < 0) {
		confine(&(struct confine_options){ .inputs = (const char *const *)request.paths.at,
						   .n_inputs = request.paths.n,
						   .reads_all = exporter_instead_of_profile(request.output) ==
								&exporter_html,
						   .output = request.output });
		struct merger *merger = merger_new(&(struct merge_options){ .reduces = request.reduces });
		merge_files_add(&request, 0, 1, merger, &tally);
		code = merge_files_finish(&request, merger, &tally);
	}
	merge_tally_done(&tally);
	merge_request_done(&request);
	return code;
}
