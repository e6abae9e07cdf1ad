/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_deep: deep_bpf(2) by hand; it is a handful of calls.
 */
#include "collector/deep/perf_deep.h"

#include <errno.h>
#include <linux/btf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/writer.h"
#include "collector/deep/deep_need.h"
#include "collector/deep/deep_program.h"
#include "collector/deep/deep_stack.h"

#define KNOWN_PAGES 32768 /* 128 MiB of stack of all threads; those not seen for long are forgotten */
#define KNOWN_THREADS 4096
#define KNOWN_LIMITS 8192
#define KNOWN_HINTS 4096
/* They lie at the top of an address space, as ours does, within so many bytes. */
#define FIRST_STACKS (1ull << 35)
#define N_FUNCTIONS 3
#define LOG_SIZE 4096

static int deep_bpf(int command, union bpf_attr *attr)
{
	long result = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return result < 0 ? -errno : (int)result;
}

/* ---- maps ----------------------------------------------------------------------------------- */

/* In the order of struct deep_maps. */
enum {
	MAP_CPU,
	MAP_PAGE,
	MAP_OUTLINE,
	MAP_THREADS,
	MAP_LIMITS,
	MAP_KNOWN,
	MAP_OUTPUT,
	MAP_HINTS,
	MAP_HINTED
};

static int deep_make_map(uint32_t type, uint32_t key, uint32_t value, uint32_t n)
{
	union bpf_attr attr = { .map_type = type, .key_size = key, .value_size = value, .max_entries = n };

	strcpy(attr.map_name, "cpprof");
	return deep_bpf(BPF_MAP_CREATE, &attr);
}

static int deep_make_maps(struct perf_deep *deep, uint32_t n_cpus)
{
	const struct {
		uint32_t type, key, value, n;
	} kinds[] = {
		{ BPF_MAP_TYPE_PERCPU_ARRAY, 4, DEEP_CPU_SIZE, 1 },
		{ BPF_MAP_TYPE_PERCPU_ARRAY, 4, DEEP_PAGE_RECORD, 1 },
		{ BPF_MAP_TYPE_PERCPU_ARRAY, 4, DEEP_OUTLINE_SIZE, 1 },
		{ BPF_MAP_TYPE_LRU_HASH, 8, DEEP_THREAD_SIZE, KNOWN_THREADS },
		{ BPF_MAP_TYPE_LRU_HASH, 8, 8, KNOWN_LIMITS },
		{ BPF_MAP_TYPE_LRU_HASH, DEEP_KEY_SIZE, 8, KNOWN_PAGES },
		{ BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, n_cpus },
		{ BPF_MAP_TYPE_LRU_HASH, 8, 8, KNOWN_HINTS },
		{ BPF_MAP_TYPE_ARRAY, 4, 8, 1 },
	};

	_Static_assert(ARRAY_LEN(kinds) == ARRAY_LEN(deep->maps), "every map has its kind");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		deep->maps[i] = deep_make_map(kinds[i].type, kinds[i].key, kinds[i].value, kinds[i].n);
		if (deep->maps[i] < 0)
			return deep->maps[i];
	}
	return 0;
}

/* ---- the program ---------------------------------------------------------------------------- */

/*
 * The kernel wants type information of a program whose functions it calls back: here, N_FUNCTIONS times
 * "static int f()".
 */
static int deep_load_types(void)
{
	static const char names[] = "\0int\0f";
	struct btf_header header = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(header) };
	struct writer types = { 0 }, all = { 0 };
	const uint32_t integer[] = { 1, BTF_KIND_INT << 24, 4, BTF_INT_SIGNED << 24 | 32 };
	const uint32_t prototype[] = { 0, BTF_KIND_FUNC_PROTO << 24, 1 };
	const uint32_t function[] = { 5, BTF_KIND_FUNC << 24 | BTF_FUNC_STATIC, 2 };

	write_bytes(&types, (struct bytes){ (const uint8_t *)integer, sizeof(integer) });
	write_bytes(&types, (struct bytes){ (const uint8_t *)prototype, sizeof(prototype) });
	for (int i = 0; i < N_FUNCTIONS; i++)
		write_bytes(&types, (struct bytes){ (const uint8_t *)function, sizeof(function) });
	header.type_len = header.str_off = (uint32_t)types.len;
	header.str_len = sizeof(names);
	write_bytes(&all, (struct bytes){ (const uint8_t *)&header, sizeof(header) });
	write_bytes(&all, writer_bytes(&types));
	write_bytes(&all, (struct bytes){ (const uint8_t *)names, sizeof(names) });

	union bpf_attr attr = { .btf = (uintptr_t)all.at, .btf_size = (uint32_t)all.len };
	int fd = deep_bpf(BPF_BTF_LOAD, &attr);
	writer_done(&types);
	writer_done(&all);
	return fd;
}

/* What the verifier said last, in one line. */
static void deep_say_why(struct diag *diag, const char *log)
{
	size_t end = strlen(log), start;

	while (end && log[end - 1] == '\n')
		end--;
	for (start = end; start && log[start - 1] != '\n'; start--)
		;
	if (end > start)
		diag_why(diag, "%.*s", (int)(end - start), log + start);
}

static int deep_load(struct perf_deep *deep, const struct deep_program *program, int types, struct diag *diag)
{
	struct bpf_func_info functions[N_FUNCTIONS];
	char log[LOG_SIZE] = "";
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_PERF_EVENT,
				.insns = (uintptr_t)program->code.at,
				.insn_cnt = (uint32_t)program->code.n,
				.license = (uintptr_t) "GPL", /* as deep_program.c may be used under */
				.prog_btf_fd = (uint32_t)types,
				.func_info = (uintptr_t)functions,
				.func_info_rec_size = sizeof(functions[0]),
				.func_info_cnt = N_FUNCTIONS };

	strcpy(attr.prog_name, "cpprof");
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		functions[i] = (struct bpf_func_info){ program->starts[i], 3 + i };
	deep->program = deep_bpf(BPF_PROG_LOAD, &attr);
	if (deep->program >= 0)
		return 0;

	int error = diag_set(diag, deep->program, "cannot load a BPF program");
	attr.log_level = 1;
	attr.log_buf = (uintptr_t)log;
	attr.log_size = sizeof(log);
	deep->program = deep_bpf(BPF_PROG_LOAD, &attr); /* again, for the verifier's log */
	if (deep->program >= 0)
		return 0;
	if (error != -EPERM)
		deep_say_why(diag, log);
	return error;
}

static int deep_load_program(struct perf_deep *deep, const struct perf_deep_want *want, struct diag *diag)
{
	const uint64_t n_pages = (want->bytes + DEEP_PAGE - 1) / DEEP_PAGE;
	const int *fds = deep->maps;
	const struct deep_maps maps = { fds[MAP_CPU],     fds[MAP_PAGE],   fds[MAP_OUTLINE],
					fds[MAP_THREADS], fds[MAP_LIMITS], fds[MAP_KNOWN],
					fds[MAP_OUTPUT],  fds[MAP_HINTS],  fds[MAP_HINTED] };
	const struct deep_limits limits = {
		.snapshot = want->snapshot,
		.n_pages = (uint32_t)(n_pages < DEEP_PAGES_MAX ? n_pages : DEEP_PAGES_MAX),
		.n_first = DEEP_PAGES_FIRST,
		.first_stack = (uintptr_t)&n_pages - FIRST_STACKS,
		.n_written = (uint32_t)(want->ring_bytes / 2 / DEEP_PAGE),
	};
	struct deep_program program;
	int types = deep_load_types();

	if (types < 0)
		return diag_set(diag, types, "cannot load a BPF program's types");
	deep_program_make(&program, want->isa, &maps, &limits);
	int error = deep_load(deep, &program, types, diag);
	vec_done(&program.code);
	close(types);
	return error;
}

/* ---- its output ---------------------------------------------------------------------------- */

static int deep_open_output(struct perf_deep *deep, int cpu, int anchor)
{
	struct perf_deep_fd it;
	long fd = syscall(SYS_perf_event_open, &deep->attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	it.fd = (int)fd;
	union bpf_attr attr = { .map_fd = (uint32_t)deep->maps[MAP_OUTPUT],
				.key = (uintptr_t)&cpu,
				.value = (uintptr_t)&it.fd };
	int error = 0;
	if (ioctl(it.fd, PERF_EVENT_IOC_SET_OUTPUT, anchor) < 0 ||
	    ioctl(it.fd, PERF_EVENT_IOC_ID, &it.id) < 0)
		error = -errno;
	if (!error)
		error = deep_bpf(BPF_MAP_UPDATE_ELEM, &attr);
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
				PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
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

/* ---- opening -------------------------------------------------------------------------------- */

static uint32_t deep_highest(const int *cpus, size_t n)
{
	int most = 0;

	for (size_t i = 0; i < n; i++)
		most = cpus[i] > most ? cpus[i] : most;
	return (uint32_t)most + 1;
}

int perf_deep_open(struct perf_deep *deep, const struct perf_deep_want *want, struct diag *diag)
{
	*deep = (struct perf_deep)PERF_DEEP_NONE;
	int error = deep_make_maps(deep, deep_highest(want->cpus, want->n_cpus));
	if (error)
		diag_set(diag, error, "cannot make BPF maps");
	if (!error)
		error = deep_load_program(deep, want, diag);
	if (!error && (error = deep_open_outputs(deep, want)))
		diag_set(diag, error, "cannot open an event for a BPF program");
	if (error)
		perf_deep_close(deep);
	return error;
}

void perf_deep_close(struct perf_deep *deep)
{
	for (size_t i = 0; i < deep->fds.n; i++)
		close(deep->fds.at[i].fd);
	for (size_t i = 0; i < ARRAY_LEN(deep->maps); i++)
		if (deep->maps[i] >= 0)
			close(deep->maps[i]);
	if (deep->program >= 0)
		close(deep->program);
	vec_done(&deep->fds);
	*deep = (struct perf_deep)PERF_DEEP_NONE;
}

int perf_deep_attach(const struct perf_deep *deep, int event)
{
	if (deep->program < 0)
		return 0;
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, deep->program) < 0 ? -errno : 0;
}

void perf_deep_limit(const struct perf_deep *deep, uint64_t key, const uint32_t *n_pages)
{
	uint64_t value = n_pages ? *n_pages : 0;
	union bpf_attr attr = { .map_fd = (uint32_t)deep->maps[MAP_LIMITS],
				.key = (uintptr_t)&key,
				.value = n_pages ? (uintptr_t)&value : 0 };

	if (deep->program >= 0)
		deep_bpf(n_pages ? BPF_MAP_UPDATE_ELEM : BPF_MAP_DELETE_ELEM, &attr);
}

static void deep_put(int map, const void *key, const void *value)
{
	union bpf_attr attr = { .map_fd = (uint32_t)map, .key = (uintptr_t)key, .value = (uintptr_t)value };

	deep_bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

void perf_deep_hint(const struct perf_deep *deep, uint64_t key, uint64_t hint)
{
	const uint32_t first = 0;
	const uint64_t yes = 1;

	if (deep->program < 0)
		return;
	deep_put(deep->maps[MAP_HINTS], &key, &hint);
	deep_put(deep->maps[MAP_HINTED], &first, &yes);
}
