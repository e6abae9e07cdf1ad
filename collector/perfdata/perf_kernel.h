/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_kernel: where the running kernel is in memory. A recording contains a symbol and its address in a
 * mapping "[kernel.kallsyms]_stext"; if that symbol still has this address, its kernel addresses are those of
 * the running kernel.
 */
#pragma once

#include <stdint.h>

#define KERNEL_MAPPING "[kernel.kallsyms]" /* the symbol's name follows */

/* The first of the symbols _text, _stext in /proc/kallsyms; 0 if addresses are hidden. The name is static. */
uint64_t perf_kernel_start(const char **ret_symbol);
/* Address of one of these symbols; 0 if it is another one, or hidden. */
uint64_t perf_kernel_address(const char *symbol);
