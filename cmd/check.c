/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check: is a profile whole, and does it add up?
 */
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "profile/check.h"
#include "report/check_json.h"

static const char about[] = "Reads profiles, and json and ndjson exports (.gz too), and checks that they are whole and consistent: checksums, references, order,\n"
			    "and that samples, values, threads and timeline agree. Exit 0 if all do.";

static const char examples[] = "  cpprof check cpprof.data\n"
			       "  cpprof export -o profile.json.gz && cpprof check profile.json.gz\n";

static int check_json(const char *path, FILE *file)
{
	struct json_findings found;
	struct diag diag = { 0 };

	if (json_check_file(file, path, &found, &diag) < 0)
		return cmd_fail(&diag);
	printf("%s: whole: a %s of %llu nodes, %llu frames, %llu threads, %llu samples\n", path, found.is_stream ? "stream" : "document",
	       (unsigned long long)found.nodes, (unsigned long long)found.frames, (unsigned long long)found.threads,
	       (unsigned long long)found.samples);
	return EXIT_OK;
}

/* NULL if it is not a file that can be read twice: a pipe must be opened once. */
static FILE *open_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
}

static int check_profile(const char *path)
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

static int check_file(const char *path)
{
	CLEANUP(fclosep) FILE *file = open_file(path);

	return file && json_check_looks_like(file) ? check_json(path, file) : check_profile(path);
}

int cmd_check(int argc, char **argv)
{
	const struct option_spec specs[] = { { 0 } };
	struct command_line line = { .command = "check", .usage = "FILE...", .about = about, .examples = examples, .specs = specs };
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
