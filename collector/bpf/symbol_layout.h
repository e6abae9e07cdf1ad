/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * symbol_layout: declarations shared by the BPF program symbol.bpf.c and cpprof.
 */
#pragma once

#include <linux/types.h>

#define SYMBOL_ANSWER 384 /* bytes; the stack of a BPF program has 512 */

/* Input and output of the program. */
struct symbol_question {
	__u64 vaddr;
	__u64 answer[SYMBOL_ANSWER / 8]; /* text: "name+0x12/0x80" */
};
