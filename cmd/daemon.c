/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon: the whole machine, continuously: one recording, divided into epochs, which are stored in a
 * database. Errors that do not end it are reported and counted, and it continues.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/own_folder.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/daemon_metrics.h"
#include "cmd/daemon_options.h"
#include "cmd/metrics_port.h"
#include "cmd/push.h"
#include "profile/epochs.h"
#include "recording/export_file.h"
#include "recording/recording.h"

#define MS 1000000u /* nanoseconds in a millisecond */
#define PUSH_NS CLOCK_NS_PER_S
#define PUSH_LAST_NS (10 * CLOCK_NS_PER_S) /* the daemon must end in reasonable time */
#define SHOW_NS (10 * CLOCK_NS_PER_S)
#define FUNCTIONS_MAX (4u << 20)

struct daemon {
	struct daemon_options *options;
	struct epochs *epochs;
	char *open_path; /* of the current epoch's checkpoints */
	sigset_t signals;
	int signal_fd;
	struct daemon_metrics metrics;
	_Atomic uint64_t *n_dropped; /* epochs deleted; shared with the child, which deletes some, too */
	struct utsname host;
	struct push *push;         /* NULL = profiles are not sent */
	struct metrics_port *port; /* NULL = no port */
	char *outbox, *functions;  /* directory of the push queue; the last epoch for Prometheus */
	uint64_t push_ns, show_ns; /* when they were last processed */
};

static uint64_t daemon_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / MS;
}

/* Updates the texts of the port. */
static void daemon_show(struct daemon *daemon)
{
	CLEANUP(text_done) struct text functions = { 0 };
	int fd = own_folder_open_file(daemon->functions);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char piece[4096];
	size_t n;

	while (file && functions.len < FUNCTIONS_MAX && (n = fread(piece, 1, sizeof(piece), file)) > 0)
		text_add(&functions, piece, n);
	if (file)
		fclose(file);
	if (functions.len)
		port_set(daemon->port, PORT_FUNCTIONS, alloc_text(functions.at));
	port_set(daemon->port, PORT_METRICS, daemon_metrics_text(&daemon->metrics));
}

/* Called several times a second: does periodic work. */
static void daemon_look_after(struct daemon *daemon)
{
	uint64_t now = clock_now_ns();

	if (daemon->push && now - daemon->push_ns >= PUSH_NS) {
		daemon->push_ns = now;
		push_tick(daemon->push);
		daemon->metrics.push = push_counts(daemon->push);
	}
	if (daemon->port && now - daemon->show_ns >= SHOW_NS) {
		daemon->show_ns = now;
		daemon_show(daemon);
	}
}

static bool daemon_is_over(void *context)
{
	struct daemon *daemon = context;

	daemon_look_after(daemon);
	return sigtimedwait(&daemon->signals, NULL, &(struct timespec){ 0 }) > 0;
}

static void daemon_note(void *context, const char *text)
{
	const struct daemon *daemon = context;

	if (!daemon->options->is_quiet)
		cmd_say(text);
}

/* ---- epochs ------------------------------------------------------------------------------------- */

static struct epochs_limits daemon_limits(const struct daemon *daemon)
{
	struct daemon_options *o = daemon->options;

	return (struct epochs_limits){ .age_s = (uint64_t)o->keep,
				       .bytes = o->database_size,
				       .hours_after_s = (uint64_t)o->hours_after,
				       .days_after_s = (uint64_t)o->days_after };
}

/* If the disk is full, the oldest epochs are deleted first, and this one is lost if there are none. */
static void daemon_put(struct daemon *daemon, const struct profile *profile)
{
	struct diag diag = { 0 };
	int error = epochs_put(daemon->epochs, profile, &diag);
	size_t n_dropped = 0;

	for (; (error == -ENOSPC || error == -EDQUOT) && epochs_drop_oldest(daemon->epochs); n_dropped++)
		error = epochs_put(daemon->epochs, profile, &diag);
	if (n_dropped)
		fprintf(stderr, "cpprof: the disk is full: the oldest %zu epochs were deleted\n", n_dropped);
	if (error < 0)
		cmd_fail(&diag);
	*daemon->n_dropped += n_dropped + (error < 0);
	daemon->metrics.n_epochs += error == 0 && profile->quality.samples > 0;
}

/* Limits are enforced here when an epoch was stored, and by the child when its symbols were: they are not
 * left to the child alone, which may not get to run. */
static void daemon_keep_limits(const struct daemon *daemon)
{
	struct epochs_limits limits = daemon_limits(daemon);

	limits.hours_after_s = limits.days_after_s = 0;
	*daemon->n_dropped += epochs_keep(daemon->epochs, &limits, daemon_now_ms()).n_dropped;
}

static void daemon_write_metrics(struct daemon *daemon)
{
	struct diag diag = { 0 };

	if (!daemon->options->metrics && !daemon->port)
		return;
	daemon->metrics.database_bytes = epochs_bytes(daemon->epochs);
	daemon->metrics.n_dropped = *daemon->n_dropped;
	if (daemon->port)
		daemon_show(daemon);
	if (daemon->options->metrics &&
	    daemon_metrics_write(&daemon->metrics, daemon->options->metrics, &diag) < 0)
		cmd_fail(&diag);
}

static const char *daemon_epoch(void *context, const struct profile *profile, uint64_t next_unix_ns)
{
	struct daemon *daemon = context;

	daemon_put(daemon, profile);
	daemon_metrics_add(&daemon->metrics, profile);
	daemon_keep_limits(daemon);
	daemon_write_metrics(daemon);
	free(daemon->open_path);
	daemon->open_path = epochs_open_path(daemon->epochs, next_unix_ns);
	return daemon->open_path;
}

/* ---- names, in a child that takes only the time that nobody else wants --------------------------- */

static size_t daemon_lacking(void *context, const struct profile *profile, image_id image, uint64_t *vaddrs,
			     size_t n)
{
	const struct daemon *daemon = context;

	return epochs_lack_names(daemon->epochs, profile, image, vaddrs, n);
}

static void daemon_put_names(void *context, struct profile *names)
{
	const struct daemon *daemon = context;
	struct diag diag = { 0 };

	if (epochs_put_names(daemon->epochs, names, &diag) < 0)
		cmd_fail(&diag);
}

/* The epoch with all of its names, for others than the database. */
static void daemon_give(const struct daemon *daemon, const struct profile *profile)
{
	uint64_t start_ms = profile->run.start_unix_ns / MS;
	struct epochs_query query = { .since_ms = start_ms,
				      .until_ms = start_ms + profile->run.duration_ns / MS };
	CLEANUP(profile_freep) struct profile *named = NULL;
	struct diag diag = { 0 };
	size_t n_bad;

	if (epochs_read(daemon->epochs, &query, &named, &n_bad, &diag) < 0) {
		cmd_fail(&diag);
		return;
	}
	if (daemon->push)
		push_add(daemon->push, named);
	if (!daemon->port)
		return;
	struct export_choice choice = export_choose(&exporter_openmetrics, named);
	if (export_file(&exporter_openmetrics, named, &choice, daemon->functions, NULL, &diag) < 0)
		cmd_fail(&diag);
}

static void daemon_epoch_named(void *context, struct profile *profile)
{
	struct daemon *daemon = context;
	struct epochs_limits limits = daemon_limits(daemon);

	if (daemon->push || daemon->port)
		daemon_give(daemon, profile);
	*daemon->n_dropped += epochs_keep(daemon->epochs, &limits, daemon_now_ms()).n_dropped;
}

/* ---- the recording ------------------------------------------------------------------------------ */

static uint64_t daemon_last_ns(struct daemon *daemon)
{
	uint64_t last_ms = 0;
	size_t n;
	const struct epoch *all = epochs_list(daemon->epochs, &n);

	for (size_t i = 0; i < n; i++)
		last_ms = all[i].end_ms > last_ms ? all[i].end_ms : last_ms;
	return last_ms * MS;
}

static struct recording_options daemon_recording(struct daemon *daemon, const char *command_line)
{
	struct daemon_options *o = daemon->options;

	return (struct recording_options){
		.mode = "daemon",
		.command_line = command_line,
		.target = { .is_machine = true,
			    .cgroup = o->cgroup,
			    .events = (const char *const *)o->events.values.at,
			    .n_events = o->events.values.n,
			    .frequency = o->frequency,
			    .stack_size = (uint32_t)o->stack_size,
			    .deep_bytes = o->deep_bytes,
			    .ring_bytes = o->ring_bytes,
			    .all_user = o->all_user,
			    .has_few_periods = true,
			    .wake_fd = daemon->signal_fd },
		.rules = { o->allow.values.at, o->deny.values.at, o->allow.values.n, o->deny.values.n },
		.keeps_no_commands = !o->with_commands,
		.file = o->file,
		.is_machine = o->file != NULL,
		.not_before_unix_ns = o->file ? 0 : daemon_last_ns(daemon),
		.n_workers = (unsigned)o->n_workers,
		.max_memory = o->max_memory,
		.duration_ns = (uint64_t)(o->duration * 1e9),
		.epoch_ns = (uint64_t)(o->epoch * 1e9),
		.names = { symbol_options_open(&o->symbols, o->verbosity) },
		.output = daemon->open_path,
		.checkpoint_ns = (uint64_t)(o->checkpoint * 1e9),
		.listener = { .context = daemon,
			      .is_over = daemon_is_over,
			      .note = daemon_note,
			      .epoch = daemon_epoch,
			      .epoch_lacking = daemon_lacking,
			      .epoch_names = daemon_put_names,
			      .epoch_named = daemon_epoch_named },
	};
}

/* ---- servers ------------------------------------------------------------------------------------ */

static int daemon_open_servers(struct daemon *daemon, struct diag *diag)
{
	struct daemon_options *o = daemon->options;
	struct push_options push = { .folder = daemon->outbox,
				     .pprof = o->push,
				     .otlp = o->push_otlp,
				     .headers = o->push_headers.values.at,
				     .n_headers = o->push_headers.values.n,
				     .max_bytes = o->push_queue,
				     .host = daemon->host.nodename,
				     .say = o->is_quiet ? NULL : cmd_say };
	int error = 0;

	uname(&daemon->host);
	daemon->metrics.pushes = o->push || o->push_otlp;
	if (daemon->metrics.pushes)
		error = push_open(&push, &daemon->push, diag);
	if (!error && o->listen)
		error = port_open(o->listen, &daemon->port, diag);
	return error;
}

/* What cannot be sent now is sent by the next daemon. */
static void daemon_end_servers(struct daemon *daemon)
{
	if (!daemon->push)
		return;
	push_finish(daemon->push, PUSH_LAST_NS);
	daemon->metrics.push = push_counts(daemon->push);
	daemon_write_metrics(daemon);
}

static int daemon_record(struct daemon *daemon, const char *command_line)
{
	struct recording_options options = daemon_recording(daemon, command_line);
	struct recording *recording = NULL;
	struct diag diag = { 0 };
	int code = EXIT_OK;

	if (recording_open(&options, &recording, &diag) < 0)
		return cmd_fail(&diag);
	free(daemon->open_path);
	daemon->open_path = epochs_open_path(daemon->epochs, recording_info(recording)->start_unix_ns);
	if (!daemon->options->file)
		recording_checkpoint_to(recording, daemon->open_path);
	if (!daemon->options->is_quiet)
		fprintf(stderr, "cpprof: recording into %s, an epoch every %.4g s\n",
			daemon->options->database, daemon->options->epoch);
	if (recording_run(recording, &diag) < 0)
		code = cmd_fail(&diag);
	if (recording_finish(recording, &diag) < 0)
		code = cmd_fail(&diag);
	if (recording_save(recording, &diag) < 0)
		code = cmd_fail(&diag);
	recording_close(recording);
	daemon_keep_limits(daemon);
	daemon_end_servers(daemon);
	if (!daemon->options->is_quiet)
		fprintf(stderr, "cpprof: %" PRIu64 " epochs written, %" PRIu64 " dropped\n",
			daemon->metrics.n_epochs, (uint64_t)*daemon->n_dropped);
	return code;
}

static void daemon_recover(const struct daemon *daemon)
{
	struct epochs_recovered recovered = epochs_recover(daemon->epochs);

	if (recovered.n_damaged)
		fprintf(stderr, "cpprof: damaged epochs, left open by an earlier daemon, were deleted: %zu\n",
			recovered.n_damaged);
}

static int daemon_run(struct daemon_options *options, const char *command_line)
{
	struct daemon daemon = { .options = options };
	struct diag diag = { 0 };
	void *shared = mmap(NULL, sizeof(*daemon.n_dropped), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED) {
		diag_set(&diag, -ENOMEM, "cannot start the daemon");
		return cmd_fail(&diag);
	}
	daemon.n_dropped = shared;
	if (epochs_open(options->database, true, &daemon.epochs, &diag) < 0)
		return cmd_fail(&diag);
	epochs_limit(daemon.epochs, options->epoch_size);
	daemon_recover(&daemon);
	sigemptyset(&daemon.signals);
	sigaddset(&daemon.signals, SIGINT);
	sigaddset(&daemon.signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &daemon.signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	daemon.signal_fd = signalfd(-1, &daemon.signals, SFD_CLOEXEC);
	daemon.open_path = epochs_open_path(daemon.epochs, 0); /* until its start is known */
	daemon.outbox = alloc_printf("%s/outbox", epochs_directory(daemon.epochs));
	daemon.functions = alloc_printf("%s/" EPOCHS_FUNCTIONS, epochs_directory(daemon.epochs));
	int code = daemon_open_servers(&daemon, &diag) < 0 ? cmd_fail(&diag)
							   : daemon_record(&daemon, command_line);
	push_close(daemon.push);
	port_close(daemon.port);
	free(daemon.outbox);
	free(daemon.functions);
	unlink(daemon.open_path); /* of an epoch that has not begun */
	free(daemon.open_path);
	daemon_metrics_done(&daemon.metrics);
	epochs_close(daemon.epochs);
	close_fd(&daemon.signal_fd);
	munmap(shared, sizeof(*daemon.n_dropped));
	return code;
}

int cmd_daemon(int argc, char **argv)
{
	CLEANUP(freep) char *command_line = cmd_command_line(argc, argv);
	struct daemon_options options;
	int code = daemon_options_parse(&options, argc, argv);

	if (code < 0)
		code = daemon_run(&options, command_line);
	daemon_options_done(&options);
	return code;
}
