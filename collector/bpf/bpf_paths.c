/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/bpf_paths.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "collector/bpf/bpf_load.h"
#include "collector/bpf/paths.skel.h"
#include "collector/bpf/uprobe.h"

/* Linux 6.6; Debian 12's headers and libbpf do not know it. */
#define ATTACH_UPROBE_MULTI 48

struct bpf_paths {
	struct paths_bpf *skeleton;
	bool is_multi; /* many probes are set at once */
	VEC(int) links;
};

/* The part of union bpf_attr that BPF_LINK_CREATE reads for many probes. */
struct paths_link_attr {
	uint32_t program, target, attach_type, flags;
	uint64_t path, offsets, ref_counters, cookies;
	uint32_t n, multi_flags, pid;
	uint32_t zero;
};

/* ---- loading ---------------------------------------------------------------------------------------- */

static int paths_load(struct bpf_paths *paths, const struct bpf_paths_want *want)
{
	struct paths_bpf *skeleton = paths->skeleton;
	uint32_t n_arrivals = want->n_arrivals ? (uint32_t)want->n_arrivals : 1;

	skeleton->rodata->options = want->options;
	if (paths->is_multi)
		bpf_program__set_expected_attach_type(skeleton->progs.cpprof_paths,
						      (enum bpf_attach_type)ATTACH_UPROBE_MULTI);
	int error = bpf_map__set_max_entries(skeleton->maps.cpprof_probes, (uint32_t)want->n_probes);
	if (!error)
		error = bpf_map__set_max_entries(skeleton->maps.cpprof_arrivals, n_arrivals);
	if (!error)
		error = paths_bpf__load(skeleton);
	return bpf_load_shared(error, skeleton->bss);
}

static int paths_fill(const struct bpf_paths *paths, const struct bpf_paths_want *want)
{
	int probes = bpf_map__fd(paths->skeleton->maps.cpprof_probes),
	    arrivals = bpf_map__fd(paths->skeleton->maps.cpprof_arrivals);

	for (uint32_t i = 0; i < want->n_probes; i++)
		if (bpf_map_update_elem(probes, &i, &want->probes[i], BPF_ANY) < 0)
			return -errno;
	for (size_t i = 0; i < want->n_arrivals; i++)
		if (bpf_map_update_elem(arrivals, &want->arrivals[i], &want->actions[i], BPF_ANY) < 0)
			return -errno;
	return 0;
}

int bpf_paths_open(const struct bpf_paths_want *want, bool sets_many, struct bpf_paths **ret,
		   struct text *ret_log, struct diag *diag)
{
	struct bpf_paths *paths = alloc_zero(1, sizeof(*paths));
	struct bpf_load load;

	paths->is_multi = sets_many;
	bpf_load_begin(&load);
	paths->skeleton = paths_bpf__open_opts(&load.options);
	int error = paths->skeleton ? paths_load(paths, want) : -errno;
	error = bpf_load_end(&load, error, ret_log, diag);
	if (!error && (error = paths_fill(paths, want)))
		diag_set(diag, error, "cannot fill the tables of a BPF program");
	if (error)
		bpf_paths_close(paths);
	else
		*ret = paths;
	return error;
}

static void paths_unlink(struct bpf_paths *paths)
{
	for (size_t i = 0; i < paths->links.n; i++)
		close(paths->links.at[i]);
	vec_clear(&paths->links);
}

void bpf_paths_count(struct bpf_paths *paths, bool counts)
{
	__atomic_store_n(&paths->skeleton->bss->is_open, counts, __ATOMIC_RELEASE);
}

void bpf_paths_clear(struct bpf_paths *paths)
{
	int map = bpf_map__fd(paths->skeleton->maps.cpprof_calls);
	uint64_t key[2];

	paths_unlink(paths);
	while (bpf_map_get_next_key(map, NULL, key) == 0 && bpf_map_delete_elem(map, key) == 0)
		;
}

void bpf_paths_close(struct bpf_paths *paths)
{
	if (!paths)
		return;
	paths_unlink(paths);
	vec_done(&paths->links);
	paths_bpf__destroy(paths->skeleton);
	free(paths);
}

/* ---- probes ----------------------------------------------------------------------------------------- */

static int paths_link_all(struct bpf_paths *paths, pid_t pid, const char *path, const uint64_t *offsets,
			  const uint64_t *cookies, size_t n)
{
	struct paths_link_attr attr = {
		.program = (uint32_t)bpf_program__fd(paths->skeleton->progs.cpprof_paths),
		.attach_type = ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.n = (uint32_t)n,
		.pid = (uint32_t)pid,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	if (fd < 0)
		return -errno;
	vec_push(&paths->links, (int)fd);
	return 0;
}

static int paths_link_one(struct bpf_paths *paths, pid_t pid, const char *path, uint64_t offset,
			  uint64_t cookie)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = uprobe_type(),
					.uprobe_path = (uintptr_t)path,
					.probe_offset = offset };
	struct bpf_link_create_opts options = { .sz = sizeof(options), .perf_event.bpf_cookie = cookie };

	if (!attr.type)
		return -EOPNOTSUPP;
	long event = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	int link = bpf_link_create(bpf_program__fd(paths->skeleton->progs.cpprof_paths), (int)event,
				   BPF_PERF_EVENT, &options);
	int error = link < 0 ? -errno : 0;
	close((int)event); /* the link keeps it */
	if (!error)
		vec_push(&paths->links, link);
	return error;
}

int bpf_paths_set(struct bpf_paths *paths, pid_t pid, const char *path, const uint64_t *offsets,
		  uint32_t first, size_t n)
{
	CLEANUP(freep) uint64_t *cookies = alloc_zero(n + 1, sizeof(*cookies));
	size_t n_before = paths->links.n;
	int error = 0;

	for (size_t i = 0; i < n; i++)
		cookies[i] = first + i;
	if (paths->is_multi)
		return paths_link_all(paths, pid, path, offsets, cookies, n);
	for (size_t i = 0; !error && i < n; i++)
		error = paths_link_one(paths, pid, path, offsets[i], cookies[i]);
	while (error && paths->links.n > n_before)
		close(paths->links.at[--paths->links.n]);
	return error;
}

/* ---- what was counted ------------------------------------------------------------------------------- */

void bpf_paths_take(const struct bpf_paths *paths,
		    void (*visit)(void *context, const struct paths_key *key, uint64_t count), void *context)
{
	int map = bpf_map__fd(paths->skeleton->maps.cpprof_counted);
	struct paths_key key;
	uint64_t count;

	while (bpf_map_get_next_key(map, NULL, &key) == 0) {
		bool is_there = bpf_map_lookup_elem(map, &key, &count) == 0;
		if (bpf_map_delete_elem(map, &key) < 0 || !is_there)
			return;
		visit(context, &key, count);
	}
}

struct paths_stats bpf_paths_stats(const struct bpf_paths *paths)
{
	int n_cpus = libbpf_num_possible_cpus();
	struct paths_stats *all = alloc_zero(n_cpus > 0 ? (size_t)n_cpus : 1, sizeof(*all)), sum = { 0 };
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(paths->skeleton->maps.cpprof_stats), &zero, all) == 0)
		for (int i = 0; i < n_cpus; i++) {
			sum.hits += all[i].hits;
			sum.dropped += all[i].dropped;
			sum.partial += all[i].partial;
			sum.full += all[i].full;
		}
	free(all);
	return sum;
}
