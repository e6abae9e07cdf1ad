/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmp: which functions are bodies of parallel regions, and which belong to the runtime that executes them.
 * Both are recognised by the names that GCC and clang give them.
 *
 * A compiler turns a parallel region into a function (`f._omp_fn.0`, `.omp_outlined.`) and passes it to the
 * runtime (`GOMP_parallel`, `__kmpc_fork_call`), which calls it in every thread of the team.
 */
#pragma once

#include "base/intern.h"
#include "symbolize/function_map.h"

enum openmp_role {
	OPENMP_NOT,
	OPENMP_REGION, /* outlined code of a region or a task */
	OPENMP_FORK,   /* the runtime, starting a region */
	OPENMP_WAIT,   /* the runtime, waiting for other threads */
	OPENMP_CALL,   /* the runtime, called for something else */
	OPENMP_UNNAMED /* the runtime, at an address without a symbol */
};

enum openmp_role openmp_role(const struct function_map *map, const struct intern *strings);
static inline bool openmp_is_runtime(enum openmp_role role)
{
	return role >= OPENMP_FORK;
}
/* Is it the name of an outlined region or task? */
bool openmp_is_region(const char *linkage);
/* clang puts the code of a region into another function, which it inlines: a call that is not in the source.
 */
bool openmp_is_wrapped(const char *name);
/* The length of the prefix of a region's name that names the function it is written in; 0 = there is none. */
size_t openmp_host_length(const char *name);
