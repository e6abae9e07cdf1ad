/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_name: names of files that hold the number of a run (%n) and the rank in an MPI job (%r).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The rank that mpirun or srun has given us. */
bool run_rank(uint32_t *ret);

/* Does the template hold %LETTER? */
bool run_name_has(const char *template, char letter);
/* The template with %n and %r filled in and all else, %% too, as it is; allocated. NULL for NULL. */
char *run_name(const char *template, uint64_t run, uint32_t rank);
