/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/daemon_options.h"

#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/metrics_port.h"
#include "cmd/push.h"
#include "cmd/push_request.h"
#include "collector/live/perf_source.h"
#include "recording/machine.h"
#include "recording/workers.h"

#define GO_ON (-1)
#define HOUR 3600.0
#define DAY 86400.0
#define EPOCH_LEAST 1.0
#define EPOCH_SIZE_PER_CPU (70u << 10) /* 10 MB a day */

static const char daemon_about[] = "Profiles the whole machine continuously, into a database: one profile "
				   "per epoch of ten minutes. Symbols are\n"
				   "stored once per binary, separately. Needs root. Ends on SIGTERM or "
				   "Ctrl-C; if it is killed, only what was\n"
				   "recorded since the last checkpoint is lost.";
static const char daemon_examples[] =
	"  sudo cpprof daemon --database /var/lib/cpprof\n"
	"  sudo cpprof daemon --database /var/lib/cpprof -F 99 --keep 14d --database-size 500m\n"
	"  sudo cpprof daemon --database /var/lib/cpprof --deny user:alice\n"
	"  sudo cpprof daemon --database /var/lib/cpprof --push http://pyroscope:4040 --listen 9101\n"
	"  cpprof epochs /var/lib/cpprof                                  list the epochs\n"
	"  cpprof report --database /var/lib/cpprof --since 3h --process nginx\n"
	"  cpprof diff --database /var/lib/cpprof --a 25h..24h --b 1h..now\n";

/* clang-format off */
#define DAEMON_MACHINE_SPECS(options)                                                                      \
	{ 'F', "frequency", OPTION_POSITIVE, &(options)->frequency, "HZ",                                  \
	  "samples per second on each CPU (19)" },                                                             \
	{ 'e', "event", OPTION_LIST, &(options)->events, "EVENT", "event to sample, as in record" },         \
	{ 0, "cgroup", OPTION_TEXT, &(options)->cgroup, "FOLDER", "record only processes in this cgroup" },       \
	{ 0, "allow", OPTION_TEXTS, &(options)->allow, "RULE",                                             \
	  "record only processes that match a rule: user:NAME, command:GLOB, cgroup:PATH; repeatable" },           \
	{ 0, "deny", OPTION_TEXTS, &(options)->deny, "RULE", "do not record processes that match this rule; repeatable" }, \
	{ 0, "command-lines", OPTION_FLAG, &(options)->with_commands, NULL,                                \
	  "record the command lines of processes, which may contain secrets" },                                 \
	{ 'u', "all-user", OPTION_FLAG, &(options)->all_user, NULL, "no samples in the kernel" },          \
	{ 0, "stack-size", OPTION_SIZE, &(options)->stack_size, "BYTES",                                   \
	  "bytes of stack to copy with each sample (8k)" },                                                \
	{ 0, "deep-stack", OPTION_SIZE, &(options)->deep_bytes, "BYTES",                                   \
	  "bytes to copy of stacks deeper than that (8m; 0 = none)" },                                 \
	{ 0, "ring-size", OPTION_SIZE, &(options)->ring_bytes, "BYTES", "memory for all kernel buffers together" }, \
	{ 0, "max-memory", OPTION_SIZE, &(options)->max_memory, "BYTES",                                   \
	  "memory for the call tree; beyond that, rare call paths are folded into `<other>` (64m)" },                   \
	{ 0, "workers", OPTION_POSITIVE, &(options)->n_workers, "N", "threads that unwind (1)" }
#define DAEMON_PUSH_SPECS(options)                                                                         \
	{ 0, "listen", OPTION_TEXT, &(options)->listen, "[ADDRESS:]PORT",                                  \
	  "serve /metrics for Prometheus on this port; without ADDRESS, only to this machine" },               \
	{ 0, "push", OPTION_TEXT, &(options)->push, "URL",                                                 \
	  "send every epoch to Pyroscope or Parca as pprof, one request per process name" },            \
	{ 0, "push-otlp", OPTION_TEXT, &(options)->push_otlp, "URL",                                       \
	  "the same to an OpenTelemetry collector" },                                                      \
	{ 0, "push-header", OPTION_TEXTS, &(options)->push_headers, "NAME: VALUE",                         \
	  "add a header to these requests; repeatable" },                                                      \
	{ 0, "push-queue", OPTION_SIZE, &(options)->push_queue, "BYTES",                                   \
	  "size of the queue of unsent profiles; beyond that, the oldest are discarded (64m)" }
/* clang-format on */

static int daemon_options_check_servers(const struct daemon_options *options)
{
	const char *urls[] = { options->push, options->push_otlp };
	struct diag diag = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(urls); i++)
		if (urls[i] && push_check_url(urls[i], &diag) < 0)
			return cmd_usage("daemon", "%s: %s", diag.what, diag.why);
	for (size_t i = 0; i < options->push_headers.values.n; i++)
		if (!strchr(options->push_headers.values.at[i], ':'))
			return cmd_usage("daemon", "--push-header must be 'NAME: VALUE', not '%s'",
					 options->push_headers.values.at[i]);
	if (options->push_headers.values.n > PUSH_HEADERS_MAX)
		return cmd_usage("daemon", "--push-header can be given at most %u times", PUSH_HEADERS_MAX);
	if (options->listen && port_check(options->listen, &diag) < 0)
		return cmd_usage("daemon", "%s: %s", diag.what, diag.why);
	return GO_ON;
}

static int daemon_options_check(struct daemon_options *options)
{
	struct diag diag = { 0 };
	int code = daemon_options_check_servers(options);

	if (code >= 0)
		return code;
	if (!options->database)
		return cmd_usage("daemon", "give the folder to write to: --database DIR");
	if (options->epoch < EPOCH_LEAST)
		return cmd_usage("daemon", "--epoch must be at least one second");
	if (options->stack_size < SOURCE_STACK_SIZE_MIN || options->stack_size > SOURCE_STACK_SIZE_MAX)
		return cmd_usage("daemon", "--stack-size must be from %u to %u", SOURCE_STACK_SIZE_MIN,
				 SOURCE_STACK_SIZE_MAX);
	if (options->deep_bytes > SOURCE_DEEP_BYTES)
		return cmd_usage("daemon", "--deep-stack must be at most %uk", SOURCE_DEEP_BYTES >> 10);
	if (options->n_workers > WORKERS_MAX)
		return cmd_usage("daemon", "--workers must be at most %u", WORKERS_MAX);
	for (size_t i = 0; i < options->allow.values.n; i++)
		if (machine_check_rule(options->allow.values.at[i], &diag) < 0)
			return cmd_usage("daemon", "%s", diag.what);
	for (size_t i = 0; i < options->deny.values.n; i++)
		if (machine_check_rule(options->deny.values.at[i], &diag) < 0)
			return cmd_usage("daemon", "%s", diag.what);
	return symbol_options_check(&options->symbols, "daemon");
}

static uint64_t daemon_epoch_size(void)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return EPOCH_SIZE_PER_CPU * (uint64_t)(n_cpus > 0 ? n_cpus : 1);
}

int daemon_options_parse(struct daemon_options *options, int argc, char **argv)
{
	const struct option_spec specs[] = {
		{ 0, "database", OPTION_TEXT, &options->database, "DIR",
		  "directory to write to; created if missing" },
		DAEMON_MACHINE_SPECS(options),
		{ 0, "epoch", OPTION_DURATION, &options->epoch, "TIME", "length of an epoch (10m)" },
		{ 0, "epoch-size", OPTION_SIZE, &options->epoch_size, "BYTES",
		  "size of an epoch; beyond that, rare call paths are thinned out (70k per CPU; 0 = no "
		  "limit)" },
		{ 0, "keep", OPTION_DURATION, &options->keep, "TIME", "delete epochs older than this (30d)" },
		{ 0, "database-size", OPTION_SIZE, &options->database_size, "BYTES",
		  "delete the oldest epochs while the database is larger than this (1g)" },
		{ 0, "hours-after", OPTION_DURATION, &options->hours_after, "TIME",
		  "age at which the epochs of an hour are merged into one, without process ids (1d)" },
		{ 0, "days-after", OPTION_DURATION, &options->days_after, "TIME",
		  "age at which those of a day are merged into one (7d)" },
		{ 0, "checkpoint", OPTION_SECONDS, &options->checkpoint, "SEC",
		  "save the current epoch at this interval (30)" },
		{ 0, "metrics", OPTION_TEXT, &options->metrics, "FILE.prom",
		  "rewrite this file after every epoch, for Prometheus: the daemon's state and CPU time by "
		  "process name" },
		DAEMON_PUSH_SPECS(options),
		{ 'd', "duration", OPTION_DURATION, &options->duration, "SEC", "stop after this time" },
		{ 0, "file", OPTION_TEXT, &options->file, "FILE", NULL },
		SYMBOL_SPECS(options->symbols),
		{ 'q', "quiet", OPTION_FLAG, &options->is_quiet, NULL, "print errors only" },
		{ 'v', "verbose", OPTION_COUNT, &options->verbosity, NULL, "print more; repeatable" },
		{ 0 },
	};
	struct command_line line = { .command = "daemon",
				     .usage = "--database DIR [options]",
				     .about = daemon_about,
				     .examples = daemon_examples,
				     .specs = specs };

	*options = (struct daemon_options){ .stack_size = SOURCE_STACK_SIZE_MACHINE,
					    .deep_bytes = SOURCE_DEEP_BYTES,
					    .max_memory = 64u << 20,
					    .epoch = 600,
					    .epoch_size = daemon_epoch_size(),
					    .checkpoint = 30,
					    .keep = 30 * DAY,
					    .hours_after = DAY,
					    .days_after = 7 * DAY,
					    .database_size = 1u << 30,
					    .push_queue = 64u << 20,
					    .symbols = SYMBOL_DEFAULTS };
	int code = options_parse(&line, argc, argv);
	if (code < 0 && line.n_operands)
		code = cmd_usage("daemon", "unexpected '%s'", line.operands[0]);
	return code < 0 ? daemon_options_check(options) : code;
}

void daemon_options_done(struct daemon_options *options)
{
	option_list_done(&options->push_headers);
	option_list_done(&options->allow);
	option_list_done(&options->deny);
	option_list_done(&options->events);
	symbol_options_done(&options->symbols);
}
