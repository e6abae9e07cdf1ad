/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_ask: names of single kernel addresses, looked up by the kernel itself.
 *
 * The kernel takes 10 ms or more to generate /proc/kallsyms, but a profile needs only a few dozen names. A
 * BPF program that formats an address as in the kernel's own stack traces takes 2 us per address, and needs
 * the same privileges. The result is the same as with kallsyms: the same name and the same end.
 */
#pragma once

#include "symbolize/kernel/kallsyms.h"

/*
 * Only the functions at these addresses (sorted). False if the kernel cannot be asked, or if one of them is
 * in a module, for whose last function kallsyms has a different end; ret is then empty.
 */
bool kernel_ask(const uint64_t *vaddrs, size_t n, struct kallsyms *ret);

/* Parses the kernel's answer for an address: "name+0x12/0x80". False for anything else, such as
 * "0xffff800080010010" if it knows no name. */
bool kernel_answer_parse(const char *answer, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end,
			 size_t *ret_name_len);
