/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/probe/perf_probe.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* ---- the way out ------------------------------------------------------------------------------------- */

static int probe_open_output(struct perf_probe *probe, int cpu, int anchor)
{
	struct perf_probe_fd it;
	long fd = syscall(SYS_perf_event_open, &probe->attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	it.fd = (int)fd;
	int error = ioctl(it.fd, PERF_EVENT_IOC_SET_OUTPUT, anchor) < 0 ||
				    ioctl(it.fd, PERF_EVENT_IOC_ID, &it.id) < 0 ||
				    ioctl(it.fd, PERF_EVENT_IOC_ENABLE, 0) < 0
			    ? -errno
			    : 0;
	if (!error)
		error = bpf_trace_output(probe->program, cpu, it.fd);
	if (error)
		close(it.fd);
	else
		vec_push(&probe->outputs, it);
	return error;
}

static int probe_open_outputs(struct perf_probe *probe, const struct perf_probe_want *want)
{
	int error = 0;

	probe->attr = *want->like;
	probe->attr.type = PERF_TYPE_SOFTWARE;
	probe->attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	probe->attr.sample_period = 1;
	probe->attr.inherit = probe->attr.enable_on_exec = 0;
	probe->attr.mmap = probe->attr.mmap2 = probe->attr.build_id = 0;
	probe->attr.comm = probe->attr.comm_exec = probe->attr.task = 0;
	for (size_t i = 0; !error && i < want->n_cpus; i++)
		error = probe_open_output(probe, want->cpus[i], want->anchors[i]);
	return error;
}

static uint32_t probe_highest(const int *cpus, size_t n)
{
	int most = 0;

	for (size_t i = 0; i < n; i++)
		most = cpus[i] > most ? cpus[i] : most;
	return (uint32_t)most + 1;
}

int perf_probe_open(struct perf_probe *probe, const struct perf_probe_want *want, struct text *ret_log,
		    struct diag *diag)
{
	const struct trace_options options = { .is_x86 = want->isa->elf_machine == EM_X86_64,
					       .hides = want->at_returns,
					       .arg = want->arg ? want->arg - 1 : TRACE_ARG_NONE };

	*probe = (struct perf_probe){ 0 };
	int error = bpf_trace_open(&options, probe_highest(want->cpus, want->n_cpus), &probe->program,
				   ret_log, diag);
	if (!error && (error = probe_open_outputs(probe, want)))
		diag_set(diag, error, "cannot open an event for a BPF program");
	if (error)
		perf_probe_close(probe);
	return error;
}

void perf_probe_close(struct perf_probe *probe)
{
	for (size_t i = 0; i < probe->links.n; i++)
		close(probe->links.at[i]);
	for (size_t i = 0; i < probe->outputs.n; i++)
		close(probe->outputs.at[i].fd);
	bpf_trace_close(probe->program);
	vec_done(&probe->links);
	vec_done(&probe->outputs);
	*probe = (struct perf_probe){ 0 };
}

/* ---- setting probes ---------------------------------------------------------------------------------- */

/* Offsets and cookies of what is set at once; owners: the function of each. */
struct probe_list {
	VEC(uint64_t) offsets, cookies;
	VEC(size_t) owners;
};

static void probe_list_done(struct probe_list *list)
{
	vec_done(&list->offsets);
	vec_done(&list->cookies);
	vec_done(&list->owners);
}

static void probe_list_add(struct probe_list *list, uint64_t offset, uint64_t cookie, size_t owner)
{
	vec_push(&list->offsets, offset);
	vec_push(&list->cookies, cookie);
	vec_push(&list->owners, owner);
}

static int probe_link(struct perf_probe *probe, const struct bpf_trace_places *places)
{
	int fd = bpf_trace_link(probe->program, places);

	if (fd >= 0)
		vec_push(&probe->links, fd);
	if (fd != -EOPNOTSUPP)
		return fd < 0 ? fd : 0;
	for (size_t i = 0; i < places->n; i++) {
		fd = bpf_trace_link_one(probe->program, places, i);
		if (fd < 0)
			return fd;
		vec_push(&probe->links, fd);
	}
	return 0;
}

static void probe_unlink(struct perf_probe *probe, size_t n_kept)
{
	while (probe->links.n > n_kept)
		close(probe->links.at[--probe->links.n]);
}

void perf_probe_clear(struct perf_probe *probe)
{
	probe_unlink(probe, 0);
}

/* Which of them is refused, if it is refused alone? By halving. */
static size_t probe_find_refused(struct perf_probe *probe, struct bpf_trace_places places)
{
	const uint64_t *first = places.offsets;
	size_t n_kept = probe->links.n;

	while (places.n > 1) {
		struct bpf_trace_places half = places;
		half.n = places.n / 2;
		int error = probe_link(probe, &half);
		probe_unlink(probe, n_kept);
		if (!error) {
			half.offsets += half.n;
			half.cookies += half.n;
			half.n = places.n - places.n / 2;
		}
		places = half;
	}
	int error = probe_link(probe, &places);
	probe_unlink(probe, n_kept);
	return error ? (size_t)(places.offsets - first) : SIZE_MAX;
}

static int probe_set_list(struct perf_probe *probe, pid_t pid, const char *path,
			  const struct probe_list *list, bool at_returns, size_t *ret_refused)
{
	struct bpf_trace_places places = { .path = path,
					   .offsets = list->offsets.at,
					   .cookies = list->cookies.at,
					   .n = list->offsets.n,
					   .pid = pid,
					   .at_returns = at_returns };

	if (!places.n)
		return 0;
	int error = probe_link(probe, &places);
	if (error) {
		size_t place = probe_find_refused(probe, places);
		*ret_refused = place < list->owners.n ? list->owners.at[place] : SIZE_MAX;
	}
	return error;
}

/* Exits first: a call whose entry was seen must be seen to end. */
int perf_probe_set(struct perf_probe *probe, pid_t pid, const char *path,
		   const struct probe_function *functions, size_t n, size_t *ret_refused)
{
	CLEANUP(probe_list_done) struct probe_list exits = { 0 }, returns = { 0 }, entries = { 0 };
	size_t n_kept = probe->links.n;

	*ret_refused = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct probe_function *f = &functions[i];
		for (size_t k = 0; k < f->n_exits; k++)
			probe_list_add(&exits, f->exits[k], trace_cookie(f->number, TRACE_EXIT), i);
		if (!f->n_exits)
			probe_list_add(&returns, f->entry, trace_cookie(f->number, TRACE_RETURN), i);
		probe_list_add(&entries, f->entry, trace_cookie(f->number, TRACE_ENTRY), i);
	}
	int error = probe_set_list(probe, pid, path, &exits, false, ret_refused);
	if (!error)
		error = probe_set_list(probe, pid, path, &returns, true, ret_refused);
	if (!error)
		error = probe_set_list(probe, pid, path, &entries, false, ret_refused);
	if (error)
		probe_unlink(probe, n_kept);
	return error;
}

/* ---- records ----------------------------------------------------------------------------------------- */

bool perf_probe_read(struct bytes raw, struct trace_call *ret)
{
	const size_t head = offsetof(struct trace_call, hidden);

	if (raw.len < head)
		return false;
	memcpy(ret, raw.at, head);
	if (ret->magic != TRACE_MAGIC || ret->function >= TRACE_FUNCTIONS_MAX || ret->site > TRACE_RETURN ||
	    ret->n_hidden > TRACE_HIDDEN_MAX || raw.len < head + ret->n_hidden * sizeof(struct trace_hidden))
		return false;
	memcpy(ret->hidden, raw.at + head, ret->n_hidden * sizeof(struct trace_hidden));
	return true;
}
