/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of this very program, set by the kernel: many at once, and one by one. Only in builds with libbpf.
 */
#include "collector/probe/probe_links.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "collector/bpf/bpf_paths.h"
#include "tests/test.h"

#define SELF "/proc/self/exe"
#define N_GOOD 3
#define CALLS 10

#define OWN __attribute__((noinline, noclone, used))

static volatile unsigned sum;

OWN static unsigned first(unsigned n)
{
	return sum += n;
}

OWN static unsigned second(unsigned n)
{
	return sum += 2 * n;
}

OWN static unsigned third(unsigned n)
{
	return sum += first(n) + second(n);
}

/* Begins with an instruction that no kernel can probe. It is never called. */
void refused(void);
#ifdef __x86_64__
__asm__(".text\n.globl refused\nrefused:\n lock; incl (%rsp)\n ret\n");
#else
__asm__(".text\n.balign 4\n.globl refused\nrefused:\n brk #7\n ret\n");
#endif

/* The file offset of the code at an address. */
static uint64_t offset_of(uintptr_t address)
{
	unsigned long start, end, offset;
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t found = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && address >= start &&
		    address < end)
			found = address - start + offset;
	if (maps)
		fclose(maps);
	return found;
}

/* NULL: not permitted here. */
static struct bpf_trace *open_trace(bool sets_many)
{
	struct trace_options options = { .arg = TRACE_ARG_NONE };
	struct bpf_trace *trace = NULL;
	struct diag diag = { 0 };

#ifdef __x86_64__
	options.is_x86 = 1;
#endif
	int error = bpf_trace_open(&options, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), sets_many, &trace, NULL,
				   &diag);
	CHECK(error == 0 || geteuid() != 0 || error == -EPERM || error == -ENOSYS || error == -EOPNOTSUPP);
	return error ? NULL : trace;
}

static struct probe_function function_at(uint32_t number, uintptr_t address)
{
	return (struct probe_function){ .number = number,
					.entry = offset_of(address),
					.grant = { TRACE_GRANT_NONE, TRACE_GRANT_NONE, TRACE_GRANT_NONE,
						   TRACE_GRANT_NONE } };
}

static const uintptr_t good[N_GOOD] = { (uintptr_t)first, (uintptr_t)second, (uintptr_t)third };

/* Every call is seen at its start and, at its return address, at its end. */
static bool check_calls(bool sets_many)
{
	struct probe_function functions[N_GOOD];
	struct bpf_trace *trace = open_trace(sets_many);
	struct probe_links links;
	size_t is_refused = 0;

	if (!trace)
		return false;
	for (uint32_t i = 0; i < N_GOOD; i++)
		functions[i] = function_at(i, good[i]);
	probe_links_init(&links, trace);
	CHECK_EQ(probe_links_add(&links, getpid(), SELF, functions, N_GOOD, &is_refused), 0);
	CHECK_EQ(links.links.n, sets_many ? 2 : 2 * N_GOOD);
	for (unsigned i = 0; i < CALLS; i++)
		third(i);
	for (uint32_t i = 0; i < N_GOOD; i++) {
		CHECK_EQ(bpf_trace_count(trace, i).entries, CALLS);
		CHECK_EQ(bpf_trace_count(trace, i).exits, CALLS);
	}
	/* The probes are gone. */
	probe_links_done(&links);
	third(1);
	CHECK_EQ(bpf_trace_count(trace, 0).entries, CALLS);
	bpf_trace_close(trace);
	return true;
}

/* One of them cannot be probed, at any position in the list: it is identified, and no probe is left. */
static bool check_refusal(bool sets_many)
{
	struct probe_function functions[N_GOOD + 1];
	struct bpf_trace *trace = open_trace(sets_many);
	struct probe_links links;

	if (!trace)
		return false;
	probe_links_init(&links, trace);
	for (uint32_t bad = 0; bad <= N_GOOD; bad++) {
		size_t is_refused = SIZE_MAX;
		for (uint32_t i = 0; i <= N_GOOD; i++)
			functions[i] =
				function_at(i, i == bad ? (uintptr_t)refused : good[i < bad ? i : i - 1]);
		CHECK(probe_links_add(&links, getpid(), SELF, functions, N_GOOD + 1, &is_refused) < 0);
		CHECK_EQ(is_refused, bad);
		CHECK_EQ(links.links.n, 0);
		CHECK_EQ(links.sets.n, 0);
	}
	third(1);
	CHECK_EQ(bpf_trace_count(trace, 0).entries, 0);
	probe_links_done(&links);
	bpf_trace_close(trace);
	return true;
}

/* The program that counts paths: each call hits the probe at the entry. */
static bool check_ways(bool sets_many)
{
	struct paths_probe probe = { .stages = PATHS_ENTRY | PATHS_PASS,
				     .way[0] = { .end = PATHS_LEAVES, .expect = PATHS_NOWHERE } };
	struct bpf_paths_want want = { .probes = &probe, .n_probes = 1 };
	uint64_t entry = offset_of((uintptr_t)first);
	struct bpf_paths *paths = NULL;
	struct diag diag = { 0 };

#ifdef __x86_64__
	want.options.is_x86 = 1;
#endif
	if (bpf_paths_open(&want, sets_many, &paths, NULL, &diag) < 0)
		return false;
	CHECK_EQ(bpf_paths_set(paths, getpid(), SELF, &entry, 0, 1), 0);
	for (unsigned i = 0; i < CALLS; i++)
		third(i);
	CHECK_EQ(bpf_paths_stats(paths).hits, CALLS);
	bpf_paths_close(paths);
	return true;
}

TEST(probe_links_many_at_once)
{
	if (!bpf_trace_can_set_many())
		SKIP("this kernel sets one probe at a time");
	if (!check_calls(true) || !check_refusal(true) || !check_ways(true))
		SKIP("BPF programs may not be loaded here");
}

/* As on kernels before 6.6. */
TEST(probe_links_one_by_one)
{
	if (!check_calls(false) || !check_refusal(false) || !check_ways(false))
		SKIP("BPF programs may not be loaded here");
}
