/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge: several profiles as one.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "profile/merge.h"
#include "recording/output.h"

static const char about[] = "Adds profiles up: runs of one program, or programs of one run. Code is the same "
			    "where build-ids are;\n"
			    "threads and processes stay apart. Any report can be made of the result.";

static const char examples[] = "  cpprof merge -o all.data run1.data run2.data run3.data\n";

static int merge_files(char **paths, int n, const char *output, mode_t mode)
{
	CLEANUP(profile_freep) struct profile *all = NULL;
	struct diag diag = { 0 };

	for (int i = 0; i < n; i++) {
		CLEANUP(profile_freep) struct profile *one = NULL;
		if (profile_read(paths[i], &one, &diag) < 0)
			return cmd_fail(&diag);
		if (all)
			profile_merge(all, one);
		else
			all = TAKE(one);
	}
	CLEANUP(freep) char *target = NULL;
	if (output_follow(output, &target, &diag) < 0 || profile_write_mode(all, target, mode, &diag) < 0)
		return cmd_fail(&diag);
	fprintf(stderr, "cpprof: wrote %s: %zu contexts, %llu samples\n", output, all->cct.nodes.n - 2,
		(unsigned long long)all->quality.samples);
	return EXIT_OK;
}

int cmd_merge(int argc, char **argv)
{
	const char *output = NULL;
	mode_t mode = 0;
	const struct option_spec specs[] = {
		{ 'o', "output", OPTION_TEXT, &output, "FILE", "where to write it; - is standard output" },
		MODE_SPEC(mode),
		{ 0 },
	};
	struct command_line line = { .command = "merge",
				     .usage = "-o OUTPUT FILE...",
				     .about = about,
				     .examples = examples,
				     .specs = specs };
	int code = options_parse(&line, argc, argv);

	if (code >= 0)
		return code;
	if (!output)
		return cmd_usage("merge", "where to? give -o OUTPUT");
	if (line.n_operands == 0)
		return cmd_usage("merge", "which files?");
	return merge_files(line.operands, line.n_operands, output, mode);
}
