/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_setup: turns what was requested into what is possible: events, permissions, rates, rings.
 */
#include "collector/live/perf_source_private.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "collector/live/cpu_id.h"
#include "collector/live/cycle_time.h"
#include "collector/live/event_choice.h"
#include "collector/live/perf_attach.h"
#include "collector/process/envoy.h"
#include "collector/process/target.h"

#define NAMES_LENGTH 24   /* of a list of targets, before it is cut */
#define COMMAND_LENGTH 36 /* of a target's command line: it must fit into a title */
/* A record is stamped and written in an interrupt: only a hypervisor that preempts the CPU can delay that. */
#define RECORD_DELAY_NS 50000000ull

/* ---- events --------------------------------------------------------------------------------- */

struct setup {
	struct event_choice events;
	struct perf_want want;
};

static void setup_choose_modes(struct perf_live *live, const struct perf_source_options *options,
			       struct setup *setup)
{
	struct perf_want *want = &setup->want;

	want->is_probed = options->is_traced;
	want->with_kernel = !options->all_user && !options->is_traced;
	if (want->with_kernel && perf_events_probe(&setup->events.specs[0], true) == -EACCES) {
		source_info_note(&live->source.info,
				 "no permission to sample the kernel: time in system calls is missing; "
				 "root, or kernel.perf_event_paranoid=1, would include it");
		want->with_kernel = false;
	}
	want->is_machine = options->is_machine;
	want->cgroup = live->cgroup;
	want->online = options->online;
	want->is_inherited = options->inherits && !options->is_machine;
	want->has_fixed_periods = options->has_fixed_periods;
	want->has_few_periods = options->has_few_periods;
	want->spares_threads = options->with_waits && !options->has_switch_records && !options->is_machine;
	want->starts_on_exec = options->argv && !options->is_machine;
	want->starts_later = options->delay_ns != 0;
	want->ring_bytes = options->ring_bytes;
	want->stack_size = (options->stack_size + 7) & ~7u;
	if (want->stack_size > PERF_STACK_MAX) {
		source_info_note(&live->source.info, "at most %u bytes of stack can be copied with a sample",
				 PERF_STACK_MAX);
		want->stack_size = PERF_STACK_MAX;
	}
}

static void setup_choose_rate(struct perf_live *live, const struct perf_source_options *options,
			      struct perf_want *want)
{
	uint64_t highest = perf_events_max_frequency();

	want->period = options->period;
	uint64_t usual =
		options->is_machine && !options->is_tree ? SOURCE_FREQUENCY_MACHINE : SOURCE_FREQUENCY;
	want->frequency = options->period ? 0 : options->frequency ? options->frequency : usual;
	if (highest && want->frequency > highest && !options->is_traced) /* a trace does not sample */
		source_info_note(&live->source.info,
				 "the kernel allows at most %llu samples per second "
				 "(kernel.perf_event_max_sample_rate)",
				 (unsigned long long)highest);
	if (highest && want->frequency > highest)
		want->frequency = highest;
}

/* The kernel adjusts the period of such an event to each thread, with a delay; a thread begins with the
 * period that its creator has come to. A sample may then represent a thousand times what there was. */
static void setup_explain_rates(struct perf_live *live, const struct event_choice *events,
				const struct perf_want *want)
{
	for (size_t i = 0; !want->period && i < events->n; i++) {
		const struct event_spec *spec = &events->specs[i];
		if (!spec->period && !spec->is_wait && !spec->is_member &&
		    perf_event_is_counted_by_kernel(spec))
			source_info_note(
				&live->source.info,
				"the number of %s is a rough estimate, especially with many threads; "
				"it is exact with -c 1, and -c N samples every Nth",
				spec->name);
	}
}

/* ---- what is recorded --------------------------------------------------------------------- */

/* "nginx, redis-server": each name once, as many as fit. */
static char *setup_names(const pid_t *ids, size_t n)
{
	struct text text = { 0 };

	for (size_t i = 0; i < n; i++) {
		pid_t pid = ids[i];
		target_process_of(ids[i], &pid);
		CLEANUP(freep) char *name = target_comm(pid, ids[i]);
		if (!name[0] || (text.at && strstr(text.at, name)))
			continue;
		if (text.len > NAMES_LENGTH) {
			text_printf(&text, ", ...");
			break;
		}
		text_printf(&text, "%s%s", text.len ? ", " : "", name);
	}
	return text.at ? text.at : alloc_text("gone");
}

/* This many bytes, or fewer if a character would be cut. */
static int setup_whole(const char *text, int len)
{
	while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

/* Short enough to be a title, with its parentheses closed. */
static char *setup_describe_targets(const struct perf_source_options *options)
{
	bool is_process = options->n_pids > 0;
	const pid_t *ids = is_process ? options->pids : options->tids;
	size_t n = is_process ? options->n_pids : options->n_tids;

	if (options->is_machine)
		return options->cgroup ? alloc_printf("the cgroup %s", options->cgroup)
				       : alloc_text("the whole machine");
	if (n == 1 && is_process) {
		CLEANUP(freep) char *line = envoy_command_line(ids[0]);
		bool is_long = strlen(line) > COMMAND_LENGTH;
		return alloc_printf("process %d (%.*s%s)", ids[0],
				    is_long ? setup_whole(line, COMMAND_LENGTH) : (int)strlen(line),
				    line[0] ? line : "gone", is_long ? "..." : "");
	}
	CLEANUP(freep) char *names = setup_names(ids, n);
	if (n == 1)
		return alloc_printf("thread %d (%s)", ids[0], names);
	return alloc_printf("%zu %s (%s)", n, is_process ? "processes" : "threads", names);
}

static void setup_describe_cpu(struct source_info *ret)
{
	CLEANUP(freep) char *info = target_read_file("/proc/cpuinfo", NULL);

	cpu_id_read(info, &ret->cpu_id, &ret->cpu);
	ret->cycle_fs = cycle_time_measure();
}

static void setup_describe_event(struct source_info *info, const struct perf_event_attr *attr,
				 const struct event_spec *spec)
{
	struct source_event event = { .type = attr->type,
				      .config = attr->config,
				      .excludes_kernel = attr->exclude_kernel };

	snprintf(event.name, sizeof(event.name), "%s", spec->name);
	snprintf(event.unit, sizeof(event.unit), "%s", spec->is_clock || spec->is_wait ? "ns" : "count");
	event.values = spec->is_wait ? SOURCE_OFF_CPU : SOURCE_WEIGHTS;
	event.frequency = attr->freq && !spec->is_wait ? attr->sample_freq : 0;
	event.period = spec->is_wait ? 1 : attr->freq ? 0 : attr->sample_period;
	vec_push(&info->events, event);
}

static void setup_describe(struct perf_live *live, const struct perf_source_options *options,
			   const struct setup *setup)
{
	struct source_info *info = &live->source.info;
	struct utsname host;
	struct timespec wall;

	for (size_t i = 0; i < setup->events.n; i++)
		setup_describe_event(info, &live->events.attrs.at[i], &setup->events.specs[i]);
	info->is_machine = options->is_machine && !options->is_tree;
	info->stack_size = setup->want.stack_size;
	info->command = options->argv && !info->is_machine ? text_join(options->argv)
							   : setup_describe_targets(options);
	setup_explain_rates(live, &setup->events, &setup->want);
	setup_describe_cpu(info);
	if (uname(&host) == 0) {
		info->host = alloc_text(host.nodename);
		info->kernel = alloc_printf("%s %s", host.sysname, host.release);
	}
	clock_gettime(CLOCK_REALTIME, &wall);
	info->start_unix_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
	info->start_ns = clock_now_ns();
}

/* ---- where stacks end ----------------------------------------------------------------------- */

static struct stack_range setup_find_stack(void *context, pid_t tid, uint64_t sp)
{
	struct target_range map = envoy_map_at(tid, sp);

	(void)context;
	return (struct stack_range){ map.start, map.end };
}

/* ---- opening -------------------------------------------------------------------------------- */

/* The machine we run on is the one we were built for. */
static const struct isa *setup_host_isa(void)
{
	struct utsname host;

	if (uname(&host) < 0)
		return NULL;
	return isa_for_machine(strcmp(host.machine, "x86_64") == 0    ? EM_X86_64
			       : strcmp(host.machine, "aarch64") == 0 ? EM_AARCH64
								      : EM_NONE);
}

/* Deep stacks are optional: failing to get them is not an error. */
static void setup_add_deep(struct perf_live *live, const struct perf_source_options *options)
{
	struct source_info *info = &live->source.info;
	struct diag diag = { 0 };
	struct text log = { 0 };
	int error;

	if (!options->deep_bytes || !info->stack_size)
		return;
	error = perf_events_add_deep(&live->events, info->isa, options->deep_bytes, &log, &diag);
	info->bpf_log = log.at; /* takes over its memory */
	if (error)
		info->no_deep = alloc_printf(
			"stacks deeper than --stack-size are cut off: %s (%s)%s", diag.what, diag.why,
			error == -EPERM || error == -EACCES
				? "; copying the rest needs root, or CAP_BPF and CAP_PERFMON"
				: "");
}

/* Waits timed in the kernel, or paired from records of switches, which costs more. */
static void setup_time_waits(struct perf_live *live, const struct perf_source_options *options,
			     const struct perf_want *want)
{
	struct source_info *info = &live->source.info;
	struct diag diag = { 0 };

	if (live->events.wait_attr == SIZE_MAX)
		return;
	if (!options->has_switch_records)
		info->has_timed_waits =
			perf_events_add_waits(&live->events, want, options->max_switches, &diag) == 0;
	info->has_sampled_waits =
		!info->has_timed_waits && live->events.attrs.at[live->events.wait_attr].freq;
	if (!info->has_timed_waits && !options->has_switch_records)
		source_info_note(
			info,
			"waits are not timed in the kernel (%s: %s): time spent runnable but not running is "
			"known per thread only (--metric kept-from-running), every context switch costs the "
			"program about 0.5 us, and --max-switches applies to each thread separately",
			diag.what, diag.why);
}

/* The rate into one ring, as requested. */
static uint64_t setup_nominal_rate(const struct perf_live *live)
{
	uint64_t rate = perf_events_bytes_a_second(&live->events);

	return rate != UINT64_MAX ? rate : (uint64_t)SOURCE_FREQUENCY * live->source.info.stack_size;
}

static int setup_open_cgroup(struct perf_live *live, const struct perf_source_options *options,
			     struct diag *diag)
{
	if (!options->cgroup)
		return 0;
	int fd = open(options->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		int error = -errno;
		diag_set(diag, error, "cannot open the cgroup '%s'", options->cgroup);
		diag_hint(diag, "give its directory, such as /sys/fs/cgroup/system.slice/nginx.service");
		return error;
	}
	live->cgroup = fd;
	return 0;
}

static int setup_attach(struct perf_live *live, const struct perf_source_options *options, struct diag *diag)
{
	struct setup setup = { 0 };
	struct source_info *info = &live->source.info;
	int error = setup_open_cgroup(live, options, diag);

	if (!error)
		error = event_choice_make(&setup.events, options, info, diag);
	if (!error)
		error = event_choice_add_waits(&setup.events, options, info, diag);
	if (error)
		return error;
	setup_choose_modes(live, options, &setup);
	setup_choose_rate(live, options, &setup.want);
	setup.want.isa = live->source.info.isa;
	setup.want.has_switches = info->has_near_waits;
	/* The two fields would add a tenth to the cost of a record, and each switch writes two. */
	setup.want.has_small_records = setup.events.n == 1 && setup.events.specs[0].is_wait;
	event_choice_groups(&setup.events, &setup.want, info);
	error = perf_events_init(&live->events, setup.events.specs, setup.events.n, &setup.want, live->drain,
				 diag);
	if (error)
		return error;
	setup_describe(live, options, &setup);
	drain_set_rate(live->drain, setup_nominal_rate(live));
	if (options->is_traced)
		error = perf_live_open_calls(live, options, diag);
	if (!error)
		setup_add_deep(live, options);
	if (!options->is_traced)
		setup_time_waits(live, options, &setup.want);
	info->has_run_delays = options->with_waits && !info->has_timed_waits;
	if (options->with_waits)
		source_info_add_waits(info);
	if (info->has_run_delays && options->argv)
		run_delays_add(&live->run_delays, live->launch.pid, live->launch.pid, false);
	if (error)
		return error;
	if (options->delay_ns)
		live->pace.samples_from_ns = live->source.info.start_ns + options->delay_ns;

	struct perf_attach attach = { .events = &live->events,
				      .known = live->known,
				      .targets = &live->targets,
				      .drain = live->drain,
				      .info = &live->source.info,
				      .priority = &live->priority };
	live->with_waits = options->with_waits;
	live->asks_soon = options->asks_soon;
	live->inherits = options->inherits;
	if (options->with_waits && !options->delay_ns)
		perf_live_find_waiting(live,
				       &(struct perf_waiting){ options->pids, options->n_pids, options->tids,
							       options->n_tids, options->inherits },
				       info->start_ns);
	if (options->argv && options->before_start)
		options->before_start(options->before_context, &live->source, live->launch.pid);
	if (options->is_machine)
		return perf_attach_machine(&attach, options, &live->launch, diag);
	return options->argv ? perf_attach_command(&attach, options, &live->launch, diag)
			     : perf_attach_all(&attach, options, diag);
}

int perf_source_open(struct images *images, const struct perf_source_options *options, struct source **ret,
		     struct diag *diag)
{
	struct perf_live *live = alloc_zero(1, sizeof(*live));
	int error = 0;

	live->source = (struct source){ .ops = &perf_live_ops, .images = images };
	live->events = (struct perf_events){ 0 };
	live->drain = drain_new(clock_now_ns, RECORD_DELAY_NS);
	live->envoy = envoy_new();
	envoy_use(live->envoy);
	live->mapper = mapper_new(images);
	live->known = known_new(live->mapper, clock_now_ns);
	live->tops = stack_tops_new(setup_find_stack, live);
	live->deep = deep_stacks_new();
	if (options->is_machine)
		deep_stacks_limit(live->deep, PERF_DEEP_MACHINE);
	live->needs = deep_needs_new();
	live->pace.wake_fd = options->wake_fd ? options->wake_fd : -1;
	live->source.info.isa = setup_host_isa();
	if (!live->source.info.isa)
		error = diag_set(diag, -ENOTSUP, "cannot profile on this machine");
	if (!error && options->argv)
		error = target_check_file(options->argv[0], diag);
	if (!error &&
	    options->argv) /* forked first: the command must not inherit our limits and descriptors */
		error = launch_prepare(options->argv, options->signals, &live->launch, diag);
	if (!error) {
		priority_raise(&live->priority);
		error = setup_attach(live, options, diag);
	}
	if (error) {
		live->source.ops->close(&live->source);
		return error;
	}
	live->source.info.raised_by = (uint64_t)(live->priority.before - live->priority.nice);
	struct drain_stats rings = drain_stats(live->drain);
	live->source.info.locked_kb = rings.n_rings * rings.ring_bytes >> 10;
	drain_start_guard(live->drain);
	*ret = &live->source;
	return 0;
}
