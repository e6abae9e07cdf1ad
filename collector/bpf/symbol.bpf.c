/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * symbol: prints one kernel address as the kernel prints those of its own stack traces. Run by cpprof once
 * for each address it wants a name for.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "collector/bpf/symbol_layout.h"

char cpprof_license[] SEC("license") = "GPL"; /* bpf_snprintf is for programs under the kernel's licence */

SEC("syscall")
int cpprof_symbol(struct symbol_question *question)
{
	static const char format[] = "%pS";
	__u64 vaddr = question->vaddr, answer[SYMBOL_ANSWER / 8] = { 0 };

	bpf_snprintf((char *)answer, sizeof(answer), format, &vaddr, sizeof(vaddr));
#pragma unroll
	for (int i = 0; i < SYMBOL_ANSWER / 8; i++)
		*(volatile __u64 *)&question->answer[i] = answer[i];
	return 0;
}
