/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/bpf_waits.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "collector/bpf/bpf_load.h"
#include "collector/bpf/kernel_types.h"
#include "collector/bpf/waits.skel.h"

/* A bpf_waits is the skeleton under a name that no other file need know. */
static struct waits_bpf *bpf_waits_of(const struct bpf_waits *waits)
{
	return (struct waits_bpf *)waits;
}

static int bpf_waits_put(const struct bpf_map *map, const void *key, const void *value)
{
	return bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY) < 0 ? -errno : 0;
}

/* Where a CPU's preempt_count is, from its struct rq: a variable, or a member of pcpu_hot (Linux 6.2
 * to 6.14). */
static int64_t bpf_waits_find_preempt_count(void)
{
	struct kernel_member members[] = { { .structure = KERNEL_PER_CPU, .name = "runqueues" },
					   { .structure = KERNEL_PER_CPU, .name = "__preempt_count" },
					   { .structure = KERNEL_PER_CPU, .name = "pcpu_hot" },
					   { .structure = "pcpu_hot", .name = "preempt_count" } };

	kernel_types_find(members, ARRAY_LEN(members));
	if (members[0].is_found && members[1].is_found)
		return (int64_t)members[1].offset - members[0].offset;
	if (members[0].is_found && members[2].is_found && members[3].is_found)
		return (int64_t)members[2].offset + members[3].offset - members[0].offset;
	return 0;
}

static int bpf_waits_load(struct waits_bpf *skeleton, const struct waits_options *options, uint32_t n_cpus,
			  int deep)
{
	const uint32_t zero = 0;

	skeleton->rodata->options = *options;
	if (options->is_x86)
		skeleton->rodata->options.preempt_count = bpf_waits_find_preempt_count();
	int error = bpf_map__set_max_entries(skeleton->maps.cpprof_output, n_cpus);
	if (!error)
		error = bpf_map__set_max_entries(skeleton->maps.cpprof_samples, n_cpus);
	if (!error)
		error = waits_bpf__load(skeleton);
	error = bpf_load_shared(error, skeleton->bss);
	if (!error && deep >= 0)
		error = bpf_waits_put(skeleton->maps.cpprof_next, &zero, &deep);
	return error;
}

int bpf_waits_open(const struct waits_options *options, uint32_t n_cpus, int deep, struct bpf_waits **ret,
		   struct diag *diag)
{
	struct bpf_load load;

	bpf_load_begin(&load);
	struct waits_bpf *skeleton = waits_bpf__open_opts(&load.options);
	int error = skeleton ? bpf_waits_load(skeleton, options, n_cpus, deep) : -errno;
	error = bpf_load_end(&load, error, NULL, diag);
	if (error)
		waits_bpf__destroy(skeleton);
	else
		*ret = (struct bpf_waits *)skeleton;
	return error;
}

void bpf_waits_close(struct bpf_waits *waits)
{
	waits_bpf__destroy(bpf_waits_of(waits));
}

int bpf_waits_output(const struct bpf_waits *waits, int cpu, int event)
{
	return bpf_waits_put(bpf_waits_of(waits)->maps.cpprof_output, &cpu, &event);
}

int bpf_waits_sample_output(const struct bpf_waits *waits, int cpu, int event)
{
	return bpf_waits_put(bpf_waits_of(waits)->maps.cpprof_samples, &cpu, &event);
}

int bpf_waits_start(struct bpf_waits *waits, bool inherits)
{
	struct waits_bpf *skeleton = bpf_waits_of(waits);
	struct {
		const struct bpf_program *program;
		struct bpf_link **link;
	} all[] = { { skeleton->progs.cpprof_exec, &skeleton->links.cpprof_exec },
		    { skeleton->progs.cpprof_exit, &skeleton->links.cpprof_exit },
		    { skeleton->progs.cpprof_waking, &skeleton->links.cpprof_waking },
		    { skeleton->progs.cpprof_switch, &skeleton->links.cpprof_switch },
		    { skeleton->progs.cpprof_fork, &skeleton->links.cpprof_fork } };
	size_t n = sizeof(all) / sizeof(all[0]) - (inherits ? 0 : 1);

	for (size_t i = 0; i < n; i++) {
		*all[i].link = bpf_program__attach(all[i].program);
		if (!*all[i].link)
			return -errno;
	}
	return 0;
}

void bpf_waits_turn(struct bpf_waits *waits, bool is_on)
{
	bpf_waits_of(waits)->bss->is_on = is_on;
}

int bpf_waits_watch(struct bpf_waits *waits, pid_t tid, enum waits_target how)
{
	struct waits_bpf *skeleton = bpf_waits_of(waits);
	uint32_t value = how;

	if (bpf_map_update_elem(bpf_map__fd(skeleton->maps.cpprof_targets), &tid, &value, BPF_NOEXIST) < 0)
		return errno == EEXIST ? 0 : -errno;
	__atomic_fetch_add(&skeleton->bss->n_targets, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void bpf_waits_unwatch(struct bpf_waits *waits, pid_t tid)
{
	struct waits_bpf *skeleton = bpf_waits_of(waits);

	if (bpf_map_delete_elem(bpf_map__fd(skeleton->maps.cpprof_targets), &tid) == 0)
		__atomic_fetch_sub(&skeleton->bss->n_targets, 1, __ATOMIC_SEQ_CST);
}

const uint64_t *bpf_waits_own_frames(const struct bpf_waits *waits)
{
	return (const uint64_t *)bpf_waits_of(waits)->bss->own_frames;
}

uint64_t bpf_waits_clock_offset(const struct bpf_waits *waits)
{
	return bpf_waits_of(waits)->bss->clock_offset;
}

const struct waits_thread *bpf_waits_next(const struct bpf_waits *waits, uint32_t *at)
{
	const struct waits_thread *threads = bpf_waits_of(waits)->bss->waiting;

	while (*at < WAITS_THREADS_MAX) {
		const struct waits_thread *thread = &threads[(*at)++];
		if (thread->number && thread->number != WAITS_GONE)
			return thread;
	}
	return NULL;
}

const struct waits_place *bpf_waits_next_place(const struct bpf_waits *waits, uint32_t *at)
{
	const struct waits_place *places = bpf_waits_of(waits)->bss->places;

	while (*at < WAITS_PLACES_MAX) {
		const struct waits_place *place = &places[(*at)++];
		if (place->number && place->number != WAITS_GONE)
			return place;
	}
	return NULL;
}
