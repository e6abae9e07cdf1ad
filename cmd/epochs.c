/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs: lists the contents of a database.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/options.h"
#include "profile/epochs.h"
#include "profile/keep_process.h"
#include "report/number.h"
#include "report/quality.h"

#define DATABASE_DEFAULT "/var/lib/cpprof"

struct epochs_request {
	int format;
	const char *process;
};

static void epochs_cmd_time(uint64_t ms, char ret[32])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm when;

	localtime_r(&seconds, &when);
	strftime(ret, 32, "%Y-%m-%d %H:%M:%S", &when);
}

/* The quality is in the file itself. */
static int epochs_cmd_read(const char *directory, const struct epoch *epoch, struct profile **ret,
			   struct diag *diag)
{
	CLEANUP(freep) char *path = alloc_printf("%s/epochs/%s", directory, epoch->name);

	return profile_read(path, ret, diag);
}

static void epochs_cmd_print(const struct epochs_request *request, const struct epoch *epoch,
			     struct profile *profile)
{
	char start[32], samples[NUMBER_MAX], share[NUMBER_MAX], bytes[NUMBER_MAX];
	const struct profile_quality *quality = &profile->quality;
	uint64_t cpu_ns = profile->metrics.n > 1 ? profile_sum(profile, 1) : 0;

	epochs_cmd_time(epoch->start_ms, start);
	if (request->format) {
		printf("{\"start_unix_ms\":%" PRIu64 ",\"end_unix_ms\":%" PRIu64 ",\"samples\":%" PRIu64
		       ",\"complete_percent\":%.1f,\"lost\":%" PRIu64 ",\"cpu_ns\":%" PRIu64
		       ",\"bytes\":%" PRIu64 ",\"thinned_samples\":%" PRIu64
		       ",\"processes\":%zu,\"is_open\":%s}\n",
		       epoch->start_ms, epoch->end_ms, quality->samples, quality_percent(quality),
		       quality->lost, cpu_ns, epoch->bytes, quality->thinned_samples, profile->processes.n,
		       epoch->is_open ? "true" : "false");
		return;
	}
	printf("%s  %7.0f s  %9s samples  %8.1f s CPU  %6s complete  %6" PRIu64 " lost  %9s bytes%s", start,
	       (double)(epoch->end_ms - epoch->start_ms) / 1e3, number_count(quality->samples, samples),
	       (double)cpu_ns / 1e9, number_percent(quality_percent(quality), share), quality->lost,
	       number_count(epoch->bytes, bytes), epoch->is_open ? "  (being recorded)" : "");
	if (quality->thinned_samples)
		printf("  %s represented by similar paths",
		       number_percent(number_share(quality->thinned_samples, quality->samples), share));
	putchar('\n');
}

static int epochs_cmd_list(const struct epochs_request *request, const char *directory)
{
	CLEANUP(epochs_closep) struct epochs *epochs = NULL;
	struct diag diag = { 0 };
	size_t n, n_bad = 0;

	if (epochs_open(directory, false, &epochs, &diag) < 0)
		return cmd_fail(&diag);
	const struct epoch *all = epochs_list(epochs, &n);
	for (size_t i = 0; i < n; i++) {
		CLEANUP(profile_freep) struct profile *profile = NULL;
		struct diag why = { 0 };
		if (epochs_cmd_read(directory, &all[i], &profile, &why) < 0) {
			n_bad++;
			cmd_fail(&why);
			continue;
		}
		if (request->process)
			profile_keep_process(profile, request->process);
		if (!request->process || profile->quality.samples)
			epochs_cmd_print(request, &all[i], profile);
	}
	if (!request->format) {
		char bytes[NUMBER_MAX];
		printf("%zu epochs, %s bytes in total\n", n, number_count(epochs_bytes(epochs), bytes));
	}
	return n_bad ? EXIT_FAULT : EXIT_OK;
}

int cmd_epochs(int argc, char **argv)
{
	struct epochs_request request = { 0 };
	const struct option_spec specs[] = {
		{ 0, "process", OPTION_TEXT, &request.process, "PID|NAME",
		  "only epochs with this process, and only its share of them" },
		{ 'f', "format", OPTION_CHOICE, &request.format, "text|ndjson", "output format" },
		{ 0 },
	};
	struct command_line line = {
		.command = "epochs",
		.usage = "[options] [DIR]",
		.about =
			"Lists the epochs in a database written by `cpprof daemon`: start, duration, "
			"samples, CPU time,\n"
			"share of complete stacks, lost samples and size. Without DIR: " DATABASE_DEFAULT ".",
		.examples = "  cpprof epochs\n"
			    "  cpprof epochs --process nginx /var/lib/cpprof\n"
			    "  cpprof epochs -f ndjson | jq .samples\n",
		.specs = specs,
	};
	int code = options_parse(&line, argc, argv);

	if (code >= 0)
		return code;
	if (line.n_operands > 1)
		return cmd_usage("epochs", "give only one database");
	const char *directory = line.n_operands ? line.operands[0] : DATABASE_DEFAULT;
	confine(&(struct confine_options){ .inputs = &directory, .n_inputs = 1 });
	return epochs_cmd_list(&request, directory);
}
