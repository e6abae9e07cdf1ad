/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/bpf_deep.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "collector/bpf/bpf_load.h"
#include "collector/bpf/deep.skel.h"

/* A bpf_deep is the skeleton under a name that no other file need know. */
static struct deep_bpf *bpf_deep_of(const struct bpf_deep *deep)
{
	return (struct deep_bpf *)deep;
}

static int bpf_deep_put(const struct bpf_map *map, const void *key, const void *value)
{
	return bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY) < 0 ? -errno : 0;
}

/* At the end of each call the program runs, and then the one that sends the call. */
static int bpf_deep_follow(struct deep_bpf *skeleton, const struct bpf_trace *calls)
{
	const uint32_t zero = 0;
	int sender = bpf_trace_sender(calls),
	    error = bpf_deep_put(skeleton->maps.cpprof_next, &zero, &sender);

	return error ? error : bpf_trace_go_through(calls, bpf_program__fd(skeleton->progs.cpprof_deep_call));
}

static int bpf_deep_load(struct deep_bpf *skeleton, const struct deep_options *options, uint32_t n_cpus,
			 const struct bpf_deep_use *use)
{
	skeleton->rodata->options = *options;
	skeleton->rodata->options.n_cpus = n_cpus;
	int error = bpf_map__set_max_entries(skeleton->maps.cpprof_output, n_cpus);
	if (!error)
		error = bpf_map__set_max_entries(skeleton->maps.cpprof_samples, DEEP_SAMPLE_SIZES * n_cpus);
	if (!error && use->n_known)
		error = bpf_map__set_max_entries(skeleton->maps.cpprof_known, use->n_known);
	if (!error)
		error = bpf_program__set_autoload(skeleton->progs.cpprof_deep, !use->calls);
	if (!error)
		error = bpf_program__set_autoload(skeleton->progs.cpprof_deep_wait, use->waits);
	if (!error)
		error = bpf_program__set_autoload(skeleton->progs.cpprof_deep_call, use->calls != NULL);
	if (!error && use->calls)
		error = bpf_program__set_expected_attach_type(
			skeleton->progs.cpprof_deep_call,
			(enum bpf_attach_type)bpf_trace_attach_type(use->calls));
	if (!error)
		error = deep_bpf__load(skeleton);
	error = bpf_load_shared(error, skeleton->bss);
	return error || !use->calls ? error : bpf_deep_follow(skeleton, use->calls);
}

int bpf_deep_open(const struct deep_options *options, uint32_t n_cpus, const struct bpf_deep_use *use,
		  struct bpf_deep **ret, struct text *ret_log, struct diag *diag)
{
	struct bpf_load load;

	bpf_load_begin(&load);
	struct deep_bpf *skeleton = deep_bpf__open_opts(&load.options);
	int error = skeleton ? bpf_deep_load(skeleton, options, n_cpus, use) : -errno;
	error = bpf_load_end(&load, error, ret_log, diag);
	if (error)
		deep_bpf__destroy(skeleton);
	else
		*ret = (struct bpf_deep *)skeleton;
	return error;
}

void bpf_deep_close(struct bpf_deep *deep)
{
	deep_bpf__destroy(bpf_deep_of(deep));
}

int bpf_deep_program(const struct bpf_deep *deep)
{
	return bpf_program__fd(bpf_deep_of(deep)->progs.cpprof_deep);
}

int bpf_deep_wait_program(const struct bpf_deep *deep)
{
	const struct bpf_program *program = bpf_deep_of(deep)->progs.cpprof_deep_wait;

	return bpf_program__autoload(program) ? bpf_program__fd(program) : -1;
}

int bpf_deep_output(const struct bpf_deep *deep, int cpu, int event)
{
	return bpf_deep_put(bpf_deep_of(deep)->maps.cpprof_output, &cpu, &event);
}

int bpf_deep_sample_output(const struct bpf_deep *deep, int cpu, unsigned size, int event)
{
	const struct deep_bpf *skeleton = bpf_deep_of(deep);
	uint32_t index = (uint32_t)cpu + size * skeleton->rodata->options.n_cpus;

	return bpf_deep_put(skeleton->maps.cpprof_samples, &index, &event);
}

void bpf_deep_limit(const struct bpf_deep *deep, uint64_t key, const uint32_t *n_pages)
{
	const struct bpf_map *limits = bpf_deep_of(deep)->maps.cpprof_limits;
	uint64_t value = n_pages ? *n_pages : 0;

	if (n_pages)
		bpf_deep_put(limits, &key, &value);
	else
		bpf_map_delete_elem(bpf_map__fd(limits), &key);
}

void bpf_deep_hint(const struct bpf_deep *deep, uint64_t key, uint64_t hint)
{
	bpf_deep_put(bpf_deep_of(deep)->maps.cpprof_hints, &key, &hint);
	bpf_deep_of(deep)->bss->has_hints = 1;
}

bool bpf_deep_seen(const struct bpf_deep *deep, uint64_t thread, struct deep_seen *ret)
{
	const volatile struct deep_seen *seen = &bpf_deep_of(deep)->bss->seen[thread % DEEP_SEEN];
	struct deep_seen now = { seen->thread, seen->user, seen->start, seen->end, seen->check };

	if (now.thread != thread || now.check != deep_seen_check(&now))
		return false;
	*ret = now;
	return true;
}
