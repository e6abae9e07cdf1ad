/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check: is a profile complete and consistent?
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/options.h"
#include "profile/check.h"
#include "report/export/check_json.h"
#include "report/quality.h"

static const char about[] = "Checks that profiles, and json and ndjson exports (also compressed, .gz), are "
			    "complete and consistent: checksums, references,\n"
			    "order, and that the sample counts of tree, threads and timeline agree. '-' is "
			    "standard input. Exits with 0 if all files pass.";

static const char examples[] = "  cpprof check cpprof.data\n"
			       "  cpprof export -o profile.json.gz && cpprof check profile.json.gz\n";

static bool is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

static int check_json(const char *path, FILE *file)
{
	struct json_findings found;
	struct diag diag = { 0 };

	if (json_check_file(file, path, &found, &diag) < 0)
		return cmd_fail(&diag);
	printf("%s: OK: a %s with %llu nodes, %llu frames, %llu threads, %llu samples\n", path,
	       found.is_stream ? "stream" : "document", (unsigned long long)found.nodes,
	       (unsigned long long)found.frames, (unsigned long long)found.threads,
	       (unsigned long long)found.samples);
	return EXIT_OK;
}

/*
 * The first bytes, without consuming them. A named pipe can be opened only once, so it is left to the reader
 * of profiles.
 */
static struct bytes check_cmd_peek(const char *path, int fd, uint8_t start[JSON_CHECK_START])
{
	struct stat st;
	int copy[2];
	ssize_t n = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return (struct bytes){ 0 };
	if (S_ISREG(st.st_mode)) {
		n = pread(fd, start, JSON_CHECK_START, lseek(fd, 0, SEEK_CUR));
	} else if (S_ISFIFO(st.st_mode) && is_stdin(path) && pipe2(copy, O_CLOEXEC) == 0) {
		n = tee(fd, copy[1], JSON_CHECK_START, 0);
		n = n > 0 ? read(copy[0], start, (size_t)n) : 0;
		close(copy[0]);
		close(copy[1]);
	}
	return (struct bytes){ start, n > 0 ? (size_t)n : 0 };
}

static int check_profile(const char *path)
{
	CLEANUP(text_done) struct text what = { 0 };
	struct quality_account account;
	struct profile *profile = NULL;
	struct diag diag = { 0 };
	int error = profile_read(path, &profile, &diag);

	if (error == 0)
		error = profile_check(profile, path, &diag);
	if (error == 0) {
		printf("%s: OK: %zu contexts, %zu values, %zu functions, %llu samples", path,
		       profile->cct.nodes.n - 2, profile->cct.values.n, profile->functions.n,
		       (unsigned long long)profile->quality.samples);
		quality_add_what(&what, profile);
		if (quality_seen(profile) >= 0)
			printf(", which represent %.1f%% of the %s that the kernel counted%s",
			       quality_seen(profile), what.at,
			       quality_account(profile, &account) && account.has_kernel
				       ? "; its own is excluded"
				       : "");
		printf("\n");
	}
	profile_free(profile);
	return error < 0 ? cmd_fail(&diag) : EXIT_OK;
}

/* -1 if it is left to the reader of profiles. */
static int check_cmd_open_file(const char *path)
{
	struct stat st;

	if (is_stdin(path))
		return dup(STDIN_FILENO);
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static int check_file(const char *path)
{
	uint8_t start[JSON_CHECK_START];
	CLEANUP(close_fd) int fd = check_cmd_open_file(path);

	if (!json_check_looks_like(check_cmd_peek(path, fd, start)))
		return check_profile(path);
	CLEANUP(fclosep) FILE *file = fdopen(fd, "r");
	if (!file)
		return check_profile(path);
	fd = -1; /* owned by the stream */
	return check_json(path, file);
}

int cmd_check(int argc, char **argv)
{
	const struct option_spec specs[] = { { 0 } };
	struct command_line line = {
		.command = "check", .usage = "FILE...", .about = about, .examples = examples, .specs = specs
	};
	int code = options_parse(&line, argc, argv), worst = EXIT_OK;

	if (code >= 0)
		return code;
	if (line.n_operands == 0)
		return cmd_usage("check", "give a file to check");
	confine(&(struct confine_options){ .inputs = (const char *const *)line.operands,
					   .n_inputs = (size_t)line.n_operands });
	for (int i = 0; i < line.n_operands; i++) {
		code = check_file(line.operands[i]);
		if (code != EXIT_OK)
			worst = code;
	}
	return worst;
}
