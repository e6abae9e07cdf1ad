/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_command: what was recorded, from the command line of the program that recorded it.
 */
#pragma once

#include <stddef.h>

/* "perf record -g -o x.data -- ./prog 3" is "./prog 3", "perf record -p 4711" is "process 4711". The whole
 * line if that is not clear. Allocated. */
char *perf_command_recorded(char *const *words, size_t n);
