/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmp: which functions are bodies of parallel regions, and which are the runtime that runs them; by their
 * names, as GCC and clang give them.
 *
 * A compiler makes a function of a parallel region (`f._omp_fn.0`, `.omp_outlined.`) and hands it to the
 * runtime (`GOMP_parallel`, `__kmpc_fork_call`), which calls it in every thread of the team.
 */
#pragma once

#include "base/intern.h"
#include "symbolize/function_map.h"

enum openmp_role {
	OPENMP_NOT,
	OPENMP_REGION, /* code of a region or a task, outlined */
	OPENMP_FORK,   /* the runtime, starting a region */
	OPENMP_WAIT,   /* the runtime, waiting for other threads */
	OPENMP_CALL,   /* the runtime, asked for something else */
	OPENMP_UNNAMED /* the runtime, at a place that its symbols do not name */
};

enum openmp_role openmp_role(const struct function_map *map, const struct intern *strings);
static inline bool openmp_is_runtime(enum openmp_role role)
{
	return role >= OPENMP_FORK;
}
/* Is it the name of an outlined region or task? */
bool openmp_is_region(const char *linkage);
/* clang puts the code of a region into one more function, which it inlines: nobody has written that call. */
bool openmp_is_wrapped(const char *name);
/* How much of the name of a region is that of the function it is written in; 0 = it does not say. */
size_t openmp_host_length(const char *name);
