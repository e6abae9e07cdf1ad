/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/probe/perf_probe.h"

#include <elf.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the way out ------------------------------------------------------------------------------------- */

static int probe_open_output(struct perf_probe *probe, int cpu, int anchor)
{
	struct perf_probe_fd it = { .cpu = cpu, .anchor = anchor };
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
	probe->n_cpus = probe->outputs.n;
	return error;
}

/* If the kernel has no memory for the larger size, the old one stays in use. */
void perf_probe_deepen(struct perf_probe *probe, size_t copied, uint32_t most)
{
	uint32_t now = probe->attr.sample_stack_user;

	if (!now || copied < now || now >= most)
		return;
	probe->attr.sample_stack_user = now * 4 < most ? now * 4 : most;
	for (size_t i = 0; i < probe->n_cpus; i++) {
		struct perf_probe_fd it = probe->outputs.at[i];
		(void)probe_open_output(probe, it.cpu, it.anchor);
	}
}

static uint32_t probe_highest(const int *cpus, size_t n)
{
	int most = 0;

	for (size_t i = 0; i < n; i++)
		most = cpus[i] > most ? cpus[i] : most;
	return (uint32_t)most + 1;
}

/* A countdown is a binary logarithm times this factor. */
static uint64_t probe_scale(uint64_t every)
{
	return (uint64_t)ceil((double)every * M_LN2);
}

double perf_probe_every(uint64_t wanted)
{
	return (double)probe_scale(wanted) / M_LN2;
}

int perf_probe_open(struct perf_probe *probe, const struct perf_probe_want *want, struct text *ret_log,
		    struct diag *diag)
{
	const struct trace_options options = { .is_x86 = want->isa->elf_machine == EM_X86_64,
					       .hides = 1, /* also other tools' probes */
					       .arg = want->arg ? want->arg - 1 : TRACE_ARG_NONE,
					       .counts = want->counts,
					       .paths = want->paths,
					       .held = want->held,
					       .n_counters = want->n_counters,
					       .every = probe_scale(want->every) };

	*probe = (struct perf_probe){ 0 };
	int error = bpf_trace_open(&options, probe_highest(want->cpus, want->n_cpus),
				   bpf_trace_can_set_many(), &probe->program, ret_log, diag);
	probe_links_init(&probe->links, probe->program);
	if (!error && (error = probe_open_outputs(probe, want)))
		diag_set(diag, error, "cannot open an event for a BPF program");
	if (error)
		perf_probe_close(probe);
	return error;
}

void perf_probe_close(struct perf_probe *probe)
{
	probe_links_done(&probe->links);
	for (size_t i = 0; i < probe->outputs.n; i++)
		close(probe->outputs.at[i].fd);
	perf_counters_done(&probe->counters);
	bpf_trace_close(probe->program);
	vec_done(&probe->outputs);
	*probe = (struct perf_probe){ 0 };
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
