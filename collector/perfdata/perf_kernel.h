/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_kernel: where the running kernel lies. A recording tells it by a symbol and its address in a
 * mapping "[kernel.kallsyms]_stext"; if that symbol is still there, the addresses of its kernel are ours.
 */
#pragma once

#include <stdint.h>

#define KERNEL_MAPPING "[kernel.kallsyms]" /* the symbol's name follows */

/* The first of the symbols _text, _stext as /proc/kallsyms has it; 0 if addresses are hidden from us. Static
 * name. */
uint64_t perf_kernel_start(const char **ret_symbol);
/* Address of one of these symbols; 0 if it is another one, or hidden. */
uint64_t perf_kernel_address(const char *symbol);
