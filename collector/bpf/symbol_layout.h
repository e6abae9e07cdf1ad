/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * symbol_layout: what the BPF program symbol.bpf.c and cpprof have in common.
 */
#pragma once

#include <linux/types.h>

#define SYMBOL_ANSWER 384 /* bytes; a BPF program's stack has 512 */

/* What the program is given, and gives back. */
struct symbol_question {
	__u64 vaddr;
	__u64 answer[SYMBOL_ANSWER / 8]; /* text: "name+0x12/0x80" */
};
