/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/bpf_trace.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/bpf/bpf_load.h"
#include "collector/bpf/trace.skel.h"
#include "collector/bpf/uprobe.h"

/* Linux 6.6; Debian 12's headers and libbpf do not know it. */
#define ATTACH_UPROBE_MULTI 48
#define UPROBE_MULTI_RETURN 1u

struct bpf_trace {
	struct trace_bpf *skeleton;
	struct bpf_program *program; /* that probes run */
	struct bpf_link *switches;   /* NULL = it does not know how long threads wait */
	bool is_multi;               /* many probes are set at once */
};

/* The part of union bpf_attr that BPF_LINK_CREATE reads for many probes. */
struct trace_link_attr {
	uint32_t program, target, attach_type, flags;
	uint64_t path, offsets, ref_counters, cookies;
	uint32_t n, multi_flags, pid;
	uint32_t zero;
};

bool bpf_trace_can_set_many(void)
{
	struct utsname name;
	unsigned major, minor;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 6));
}

/* ---- loading ---------------------------------------------------------------------------------------- */

static int trace_load(struct bpf_trace *trace, const struct trace_options *options, uint32_t n_cpus,
		      bool sees_waits)
{
	struct trace_bpf *skeleton = trace->skeleton;

	skeleton->rodata->options = *options;
	trace->program = options->every ? skeleton->progs.cpprof_alloc : skeleton->progs.cpprof_trace;
	bpf_program__set_expected_attach_type(trace->program,
					      (enum bpf_attach_type)bpf_trace_attach_type(trace));
	bpf_program__set_expected_attach_type(skeleton->progs.cpprof_send,
					      (enum bpf_attach_type)bpf_trace_attach_type(trace));
	bpf_program__set_autoload(skeleton->progs.cpprof_switch, sees_waits);
	bpf_program__set_autoload(skeleton->progs.cpprof_trace, !options->every);
	bpf_program__set_autoload(skeleton->progs.cpprof_alloc, options->every != 0);
	for (uint32_t i = 0; i <= TRACE_LOGS; i++)
		skeleton->rodata->log_steps[i] = (uint32_t)lround(log2(1 + i / (double)TRACE_LOGS) * 65536);
	if (!options->held)
		bpf_map__set_max_entries(skeleton->maps.cpprof_blocks, 1);
	int error = bpf_map__set_max_entries(skeleton->maps.cpprof_output, n_cpus);
	if (!error)
		error = bpf_map__set_max_entries(skeleton->maps.cpprof_counters, n_cpus * TRACE_COUNTERS_MAX);
	if (!error)
		error = trace_bpf__load(skeleton);
	return bpf_load_shared(error, skeleton->bss);
}

static int trace_open_once(struct bpf_trace *trace, const struct trace_options *options, uint32_t n_cpus,
			   bool sees_waits, struct text *ret_log, struct diag *diag)
{
	struct bpf_load load;

	bpf_load_begin(&load);
	trace->skeleton = trace_bpf__open_opts(&load.options);
	int error = trace->skeleton ? trace_load(trace, options, n_cpus, sees_waits) : -errno;
	error = bpf_load_end(&load, error, ret_log, diag);
	if (error) {
		trace_bpf__destroy(trace->skeleton);
		trace->skeleton = NULL;
	}
	return error;
}

int bpf_trace_open(const struct trace_options *options, uint32_t n_cpus, bool sets_many,
		   struct bpf_trace **ret, struct text *ret_log, struct diag *diag)
{
	struct bpf_trace *trace = alloc_zero(1, sizeof(*trace));
	struct diag ignored = { 0 };

	trace->is_multi = sets_many;
	bool sees_waits = !options->every;
	int error = trace_open_once(trace, options, n_cpus, sees_waits, NULL, &ignored);
	if (!error && sees_waits)
		trace->switches = bpf_program__attach(trace->skeleton->progs.cpprof_switch);
	else if (error != -EPERM)
		error = trace_open_once(trace, options, n_cpus, false, ret_log, diag);
	else
		*diag = ignored;
	if (error)
		free(trace);
	else
		*ret = trace;
	return error;
}

void bpf_trace_close(struct bpf_trace *trace)
{
	if (!trace)
		return;
	bpf_link__destroy(trace->switches);
	trace_bpf__destroy(trace->skeleton);
	free(trace);
}

bool bpf_trace_sees_waits(const struct bpf_trace *trace)
{
	return trace->switches != NULL;
}

int bpf_trace_output(const struct bpf_trace *trace, int cpu, int event)
{
	int map = bpf_map__fd(trace->skeleton->maps.cpprof_output);

	return bpf_map_update_elem(map, &cpu, &event, BPF_ANY) < 0 ? -errno : 0;
}

int bpf_trace_counter(const struct bpf_trace *trace, int cpu, uint32_t counter, int event)
{
	int map = bpf_map__fd(trace->skeleton->maps.cpprof_counters);
	uint32_t at = (uint32_t)cpu * TRACE_COUNTERS_MAX + counter;

	return bpf_map_update_elem(map, &at, &event, BPF_ANY) < 0 ? -errno : 0;
}

int bpf_trace_attach_type(const struct bpf_trace *trace)
{
	return trace->is_multi ? ATTACH_UPROBE_MULTI : 0;
}

int bpf_trace_sender(const struct bpf_trace *trace)
{
	return bpf_program__fd(trace->skeleton->progs.cpprof_send);
}

int bpf_trace_go_through(const struct bpf_trace *trace, int program)
{
	const uint32_t zero = 0;
	int map = bpf_map__fd(trace->skeleton->maps.cpprof_next);

	return bpf_map_update_elem(map, &zero, &program, BPF_ANY) < 0 ? -errno : 0;
}

struct trace_count bpf_trace_count(const struct bpf_trace *trace, uint32_t function)
{
	int n_cpus = libbpf_num_possible_cpus();
	struct trace_count *all = alloc_zero(n_cpus > 0 ? (size_t)n_cpus : 1, sizeof(*all)), sum = { 0 };

	if (bpf_map_lookup_elem(bpf_map__fd(trace->skeleton->maps.cpprof_counts), &function, all) == 0)
		for (int i = 0; i < n_cpus; i++) {
			sum.entries += all[i].entries;
			sum.exits += all[i].exits;
			sum.abandoned += all[i].abandoned;
			sum.strange += all[i].strange;
			sum.dropped += all[i].dropped;
			sum.bytes += all[i].bytes;
			sum.known += all[i].known;
		}
	free(all);
	return sum;
}

void bpf_trace_stand(const struct bpf_trace *trace, uint32_t function, uint64_t n)
{
	(void)bpf_map_update_elem(bpf_map__fd(trace->skeleton->maps.cpprof_stands), &function, &n, BPF_ANY);
}

void bpf_trace_open_window(const struct bpf_trace *trace, uint64_t until_ns)
{
	__atomic_store_n(&trace->skeleton->bss->window_until, until_ns, __ATOMIC_RELEASE);
}

void bpf_trace_forget_calls(const struct bpf_trace *trace)
{
	__atomic_add_fetch(&trace->skeleton->bss->generation, 1, __ATOMIC_RELAXED);
}

void bpf_trace_learn(const struct bpf_trace *trace, const struct trace_path_key *key, struct trace_path *path)
{
	path->generation = trace->skeleton->bss->paths_generation;
	(void)bpf_map_update_elem(bpf_map__fd(trace->skeleton->maps.cpprof_paths), key, path, BPF_ANY);
}

void bpf_trace_forget_paths(const struct bpf_trace *trace)
{
	__atomic_add_fetch(&trace->skeleton->bss->paths_generation, 1, __ATOMIC_RELAXED);
}

bool bpf_trace_read_sums(const struct bpf_trace *trace, uint32_t number, struct trace_sums *ret)
{
	return bpf_map_lookup_elem(bpf_map__fd(trace->skeleton->maps.cpprof_sums), &number, ret) == 0;
}

void bpf_trace_each_class(const struct bpf_trace *trace,
			  void (*visit)(void *context, uint32_t number, uint32_t class, uint64_t n),
			  void *context)
{
	int map = bpf_map__fd(trace->skeleton->maps.cpprof_classes);
	struct trace_class_key key, next;
	bool is_first = true;
	uint64_t n;

	for (; bpf_map_get_next_key(map, is_first ? NULL : &key, &next) == 0; key = next, is_first = false)
		if (bpf_map_lookup_elem(map, &next, &n) == 0)
			visit(context, next.number, next.class, n);
}

size_t bpf_trace_blocks(const struct bpf_trace *trace, uint64_t **ret)
{
	int map = bpf_map__fd(trace->skeleton->maps.cpprof_blocks);
	struct trace_block_key key, next;
	size_t n = 0, room = 0;
	uint64_t number;

	*ret = NULL;
	for (bool is_first = true; bpf_map_get_next_key(map, is_first ? NULL : &key, &next) == 0;
	     key = next) {
		is_first = false;
		if (bpf_map_lookup_elem(map, &next, &number) < 0 || n == TRACE_BLOCKS_MAX)
			continue;
		if (n == room)
			*ret = alloc_resize(*ret, room = room * 2 + 64, sizeof(**ret));
		(*ret)[n++] = number;
	}
	return n;
}

/* ---- probes ----------------------------------------------------------------------------------------- */

int bpf_trace_link(const struct bpf_trace *trace, const struct bpf_trace_places *places)
{
	struct trace_link_attr attr = {
		.program = (uint32_t)bpf_program__fd(trace->program),
		.attach_type = ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)places->path,
		.offsets = (uintptr_t)places->offsets,
		.cookies = (uintptr_t)places->cookies,
		.n = (uint32_t)places->n,
		.multi_flags = places->at_returns ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)places->pid,
	};

	if (!trace->is_multi)
		return -EOPNOTSUPP;
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}

int bpf_trace_link_one(const struct bpf_trace *trace, const struct bpf_trace_places *places, size_t place)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = uprobe_type(),
					.config = places->at_returns ? 1 : 0,
					.uprobe_path = (uintptr_t)places->path,
					.probe_offset = places->offsets[place] };
	struct bpf_link_create_opts cookie = { .sz = sizeof(cookie),
					       .perf_event.bpf_cookie = places->cookies[place] };

	if (!attr.type)
		return -EOPNOTSUPP;
	long event = syscall(SYS_perf_event_open, &attr, places->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	int link = bpf_link_create(bpf_program__fd(trace->program), (int)event, BPF_PERF_EVENT, &cookie);
	int error = link < 0 ? -errno : 0;
	close((int)event); /* the link keeps it */
	return error ? error : link;
}
