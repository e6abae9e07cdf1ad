/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check: is a profile whole, and does it add up?
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "profile/check.h"

static const char about[] = "Reads profiles and checks that they are whole and consistent: checksums, references, order,\n"
			    "and that samples, values, threads and timeline agree. Exit 0 if all do.";

static int check_file(const char *path)
{
	struct profile *profile = NULL;
	struct diag diag = { 0 };
	int error = profile_read(path, &profile, &diag);

	if (error == 0)
		error = profile_check(profile, path, &diag);
	if (error == 0)
		printf("%s: whole: %zu contexts, %zu values, %zu functions, %llu samples\n", path, profile->cct.nodes.n - 2,
		       profile->cct.values.n, profile->functions.n, (unsigned long long)profile->quality.samples);
	profile_free(profile);
	return error < 0 ? cmd_fail(&diag) : EXIT_OK;
}

int cmd_check(int argc, char **argv)
{
	const struct option_spec specs[] = { { 0 } };
	struct command_line line = { .command = "check", .usage = "FILE...", .about = about, .specs = specs };
	int code = options_parse(&line, argc, argv), worst = EXIT_OK;

	if (code >= 0)
		return code;
	if (line.n_operands == 0)
		return cmd_usage("check", "which file?");
	for (int i = 0; i < line.n_operands; i++) {
		code = check_file(line.operands[i]);
		if (code != EXIT_OK)
			worst = code;
	}
	return worst;
}
