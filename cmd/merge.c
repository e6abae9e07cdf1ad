/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge: several profiles as one.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/options.h"
#include "profile/merge.h"
#include "recording/output.h"

static const char about[] = "Adds profiles up: runs of one program, or programs of one run. Code is the same "
			    "where build-ids are;\n"
			    "threads and processes stay apart. Any report can be made of the result.";

static const char examples[] = "  cpprof merge -o all.data run1.data run2.data run3.data\n";

/* The name decides: a profile, or an export. */
static int merge_write(struct profile *all, const char *output, mode_t mode, struct diag *diag)
{
	const struct exporter *exporter = exporter_instead_of_profile(output);
	CLEANUP(freep) char *target = NULL;
	size_t n_contexts = all->cct.nodes.n - 2;
	int error;

	if (exporter) {
		struct export_choice choice = export_choose(exporter, all);
		choice.mode = mode;
		error = export_to(exporter, all, &choice, output, diag);
	} else {
		error = output_follow(output, &target, diag);
		error = error < 0 ? error : profile_write_mode(all, target, mode, diag);
	}
	if (error == 0)
		fprintf(stderr, "cpprof: wrote %s: %zu contexts, %llu samples\n", output, n_contexts,
			(unsigned long long)all->quality.samples);
	return error;
}

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
	return merge_write(all, output, mode, &diag) < 0 ? cmd_fail(&diag) : EXIT_OK;
}

int cmd_merge(int argc, char **argv)
{
	const char *output = NULL;
	mode_t mode = 0;
	const struct option_spec specs[] = {
		{ 'o', "output", OPTION_TEXT, &output, "FILE",
		  "where to write it; - is standard output; a name such as x.html asks for that export" },
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
		return cmd_usage("merge", "give the file to write with -o FILE");
	if (line.n_operands == 0)
		return cmd_usage("merge", "give the profiles to merge");
	return merge_files(line.operands, line.n_operands, output, mode);
}
