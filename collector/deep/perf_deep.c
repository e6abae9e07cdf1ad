/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/deep/perf_deep.h"

#include <elf.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/bpf/kernel_types.h"
#include "collector/deep/deep_need.h"
#include "collector/deep/deep_stack.h"
#include "collector/process/target.h"

/* Initial stacks are within this many bytes of the top of the address space, like ours. */
#define FIRST_STACKS (1ull << 35)

/* ---- the program ---------------------------------------------------------------------------- */

static uint32_t deep_highest(const int *cpus, size_t n)
{
	int most = (int)sysconf(_SC_NPROCESSORS_CONF) - 1; /* including CPUs that may come online */

	for (size_t i = 0; i < n; i++)
		most = cpus[i] > most ? cpus[i] : most;
	return (uint32_t)most + 1;
}

/* Not for kernels without type information, or with other structures. */
/* Where a task has the address of its thread-local storage: thread.fsbase, or thread.uw.tp_value, which is
 * the first member of uw. */
static uint32_t deep_find_storage(const struct kernel_member *thread, const struct kernel_member *storage)
{
	return thread->is_found && storage->is_found ? thread->offset + storage->offset : 0;
}

static void deep_find_members(const struct isa *isa, struct deep_members *ret)
{
	const char *storage = isa->elf_machine == EM_X86_64 ? "fsbase" : "uw";
	struct kernel_member members[] = { { .structure = "uprobe_task", .name = "return_instances" },
					   { .structure = "return_instance", .name = "stack" },
					   { .structure = "return_instance", .name = "orig_ret_vaddr" },
					   { .structure = "return_instance", .name = "next" },
					   { .structure = "uprobe_task", .name = "xol_vaddr" },
					   { .structure = "uprobe_task", .name = "vaddr" },
					   { .structure = "task_struct", .name = "mm" },
					   { .structure = "mm_struct", .name = "uprobes_state" },
					   { .structure = "xol_area", .name = "vaddr" },
					   { .structure = "task_struct", .name = "utask" },
					   { .structure = "mm_struct", .name = "start_stack" },
					   { .structure = "uprobe_task", .name = "ri_pool" },
					   { .structure = "task_struct", .name = "thread" },
					   { .structure = "thread_struct", .name = storage } };
	uint32_t *to[] = { &ret->instances, &ret->stack,  &ret->address,     &ret->next,
			   &ret->copy,      &ret->place,  &ret->space,       &ret->probes,
			   &ret->own,       &ret->probed, &ret->first_stack, &ret->ended };

	kernel_types_find(members, ARRAY_LEN(members));
	for (size_t i = 0; i < ARRAY_LEN(to); i++)
		*to[i] = members[i].is_found ? members[i].offset : 0;
	ret->storage = deep_find_storage(&members[ARRAY_LEN(to)], &members[ARRAY_LEN(to) + 1]);
}

static int deep_load(struct perf_deep *deep, const struct perf_deep_want *want, struct text *ret_log,
		     struct diag *diag)
{
	const uint64_t n_pages = (want->bytes + DEEP_PAGE - 1) / DEEP_PAGE;
	struct deep_options options = {
		.snapshot = want->snapshot,
		.n_pages = (uint32_t)(n_pages < DEEP_PAGES_MAX ? n_pages : DEEP_PAGES_MAX),
		.n_first = want->use.calls ? DEEP_PAGES_CALLS : DEEP_PAGES_FIRST,
		.first_stack = (uintptr_t)&n_pages - FIRST_STACKS,
		.n_written = (uint32_t)(want->ring_bytes / 2 / DEEP_PAGE),
		.is_x86 = want->isa->elf_machine == EM_X86_64,
	};

	deep_find_members(want->isa, &options.members);
	return bpf_deep_open(&options, deep_highest(want->cpus, want->n_cpus), &want->use, &deep->program,
			     ret_log, diag);
}

/* ---- its output ------------------------------------------------------------------------------- */

static int deep_open_output(struct perf_deep *deep, int cpu, int anchor)
{
	struct perf_deep_fd it;
	long fd = syscall(SYS_perf_event_open, &deep->attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	it.fd = (int)fd;
	int error = 0;
	if (ioctl(it.fd, PERF_EVENT_IOC_SET_OUTPUT, anchor) < 0 ||
	    ioctl(it.fd, PERF_EVENT_IOC_ID, &it.id) < 0)
		error = -errno;
	if (!error)
		error = bpf_deep_output(deep->program, cpu, it.fd);
	if (error)
		close(it.fd);
	else
		vec_push(&deep->fds, it);
	return error;
}

static int deep_open_outputs(struct perf_deep *deep, const struct perf_deep_want *want)
{
	/* perf script prints only fields that all events have. */
	const uint64_t common = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	int error = 0;

	deep->attr =
		(struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
					  .size = sizeof(deep->attr),
					  .config = PERF_COUNT_SW_BPF_OUTPUT,
					  .sample_period = 1,
					  .sample_type = (want->like->sample_type & common) | PERF_SAMPLE_RAW,
					  .sample_id_all = want->like->sample_id_all,
					  .use_clockid = want->like->use_clockid,
					  .clockid = want->like->clockid };
	for (size_t i = 0; !error && i < want->n_cpus; i++)
		error = deep_open_output(deep, want->cpus[i], want->anchors[i]);
	return error;
}

/* ---- opening and closing ------------------------------------------------------------------------ */

int perf_deep_open(struct perf_deep *deep, const struct perf_deep_want *want, struct text *ret_log,
		   struct diag *diag)
{
	*deep = (struct perf_deep){ 0 };
	int error = deep_load(deep, want, ret_log, diag);
	if (!error && (error = deep_open_outputs(deep, want)))
		diag_set(diag, error, "cannot open an event for a BPF program");
	deep->knows_ids = target_is_in_first_namespaces();
	if (error)
		perf_deep_close(deep);
	return error;
}

int perf_deep_add(struct perf_deep *deep, int cpu, int anchor)
{
	return deep_open_output(deep, cpu, anchor);
}

void perf_deep_close(struct perf_deep *deep)
{
	for (size_t i = 0; i < deep->fds.n; i++)
		close(deep->fds.at[i].fd);
	bpf_deep_close(deep->program);
	vec_done(&deep->fds);
	*deep = (struct perf_deep){ 0 };
}

int perf_deep_attach(const struct perf_deep *deep, int event)
{
	if (!deep->program)
		return 0;
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, bpf_deep_program(deep->program)) < 0 ? -errno : 0;
}

void perf_deep_limit(const struct perf_deep *deep, uint64_t key, const uint32_t *n_pages)
{
	if (deep->program)
		bpf_deep_limit(deep->program, key, n_pages);
}

void perf_deep_hint(const struct perf_deep *deep, uint64_t key, uint64_t hint)
{
	if (deep->program)
		bpf_deep_hint(deep->program, key, hint);
}

bool perf_deep_sees(const struct perf_deep *deep)
{
	return deep->program && deep->knows_ids;
}

bool perf_deep_seen(const struct perf_deep *deep, pid_t pid, pid_t tid, struct deep_seen *ret)
{
	uint64_t thread = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;

	return perf_deep_sees(deep) && bpf_deep_seen(deep->program, thread, ret);
}
