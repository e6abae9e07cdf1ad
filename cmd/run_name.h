/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_name: file names that contain the number of a run (%n) and the rank in an MPI job (%r).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Our rank, as set by mpirun or srun. */
bool run_rank(uint32_t *ret);

/* Does the template contain %LETTER? */
bool run_name_has(const char *template, char letter);
/* The template with %n and %r replaced and everything else, including %%, unchanged; allocated. NULL for
 * NULL. */
char *run_name(const char *template, uint64_t run, uint32_t rank);
