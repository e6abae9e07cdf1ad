/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/own_registers.h"
#include "tests/test.h"

#include <errno.h>

#include "collector/deep/perf_deep.h"

/* The kernel's verifier is the judge. */
static void check_loads(const struct isa *isa)
{
	struct perf_event_attr like = { 0 };
	struct perf_deep deep;
	struct perf_deep_want want = { .isa = isa,
				       .snapshot = 16384,
				       .bytes = 8 << 20,
				       .like = &like,
				       .ring_bytes = 8 << 20,
				       .use = { .waits = true } };
	struct diag diag = { 0 };
	int error = perf_deep_open(&deep, &want, NULL, &diag);

	if (error == -ENOSYS)
		SKIP("there is no bpf(2) here");
	if (error == -EOPNOTSUPP)
		SKIP("cpprof is built without libbpf");
	if (error == -EPERM)
		SKIP("no permission for BPF");
	if (error)
		print_error("%s: %s\n", diag.what, diag.why);
	CHECK_EQ(error, 0);
	perf_deep_close(&deep);
}

TEST(deep_program_is_accepted_by_the_kernel)
{
	check_loads(own_isa());
}

/*
 * The program for x86-64 reads a few of the first registers, which any kernel of ours has, whatever they mean
 * to it. That for AArch64 reads beyond the last one of x86-64.
 */
TEST(deep_program_for_the_other_architecture_is_accepted_if_possible)
{
	if (own_isa() == &isa_x86_64)
		SKIP("AArch64's BPF program reads registers that the kernel of x86-64 does not have");
	check_loads(&isa_x86_64);
}
