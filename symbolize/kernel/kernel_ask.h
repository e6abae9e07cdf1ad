/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_ask: names of single kernel addresses, asked of the kernel itself.
 *
 * The text of /proc/kallsyms takes it 10 ms and more to make, for the few dozen names that a profile needs. A
 * BPF program that prints one address as the kernel prints its own stack traces takes 2 us each, and needs
 * the same privileges. What it says is what kallsyms would: the same name and the same end.
 */
#pragma once

#include "symbolize/kernel/kallsyms.h"

/*
 * The functions at these addresses, sorted, and no others. False if the kernel cannot be asked, or if one
 * lies in a module, of whose last function kallsyms says something else; ret is then empty.
 */
bool kernel_ask(const uint64_t *vaddrs, size_t n, struct kallsyms *ret);

/* What the kernel says of an address: "name+0x12/0x80"; false for anything else, "0xffff800080010010" of what
 * it does not know. */
bool kernel_answer_parse(const char *answer, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end,
			 size_t *ret_name_len);
