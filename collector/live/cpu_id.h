/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_id: what identifies a processor, from the text of /proc/cpuinfo.
 *
 *     GenuineIntel family 6 model 143 (adx avx avx2 avx512f amx_tile)
 *     implementer 0x41 part 0xd0c
 *
 * In parentheses are those features that distinguish the generations of x86-64 processors. Recordings of perf
 * have the numbers only.
 */
#pragma once

/* Both are to be freed; NULL = not known. The name is for people: that of the model, or else the numbers. */
void cpu_id_read(const char *cpuinfo, char **ret_id, char **ret_name);
