/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/openmp.h"

#include <string.h>

static bool openmp_starts(const char *name, const char *const *starts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static enum openmp_role openmp_runtime_role(const char *name)
{
	static const char *const forks[] = { "GOMP_parallel", "GOMP_teams", "__kmpc_fork_",
					     "__kmp_fork_call" };
	static const char *const waits[] = {
		"GOMP_barrier",          "GOMP_loop_end",
		"GOMP_sections_end",     "GOMP_workshare_task_reduction_unregister",
		"gomp_barrier_wait",     "gomp_team_barrier_wait",
		"gomp_simple_barrier",   "gomp_team_end",
		"gomp_thread_start", /* unless it calls a region */
		"__kmp_launch_",         "__kmpc_barrier",
		"__kmpc_cancel_barrier", "__kmp_barrier",
		"__kmp_fork_barrier",    "__kmp_join_barrier",
		"__kmp_hyper_barrier",   "__kmp_linear_barrier",
		"__kmp_tree_barrier",    "__kmp_hierarchical_barrier",
		"__kmp_dist_barrier",    "__kmp_wait_",
		"__kmp_suspend_"
	};
	static const char *const calls[] = { "GOMP_", "gomp_", "__kmp", "omp_" };
	static const char *const images[] = { "libgomp.so", "libgomp-", "libomp.so", "libomp-", "libiomp5" };

	if (openmp_starts(name, forks, ARRAY_LEN(forks)))
		return OPENMP_FORK;
	if (openmp_starts(name, waits, ARRAY_LEN(waits)))
		return OPENMP_WAIT;
	if (openmp_starts(name, calls, ARRAY_LEN(calls)))
		return OPENMP_CALL;
	return openmp_starts(name, images, ARRAY_LEN(images)) ? OPENMP_UNNAMED : OPENMP_NOT;
}

bool openmp_is_region(const char *linkage)
{
	return strstr(linkage, "._omp_fn.") || strstr(linkage, "omp_outlined");
}

enum openmp_role openmp_role(const struct function_map *map, const struct intern *strings)
{
	const char *name = intern_text(strings, map->name);
	const char *linkage = map->linkage ? intern_text(strings, map->linkage) : name;

	if (openmp_is_region(linkage))
		return OPENMP_REGION;
	enum openmp_role role = openmp_runtime_role(name);
	/* "libgomp.so.1+0x1ad80" is a name of ours. */
	return role == OPENMP_UNNAMED && map->source != MAP_FROM_NOTHING ? OPENMP_NOT : role;
}

bool openmp_is_wrapped(const char *name)
{
	return strstr(name, "omp_outlined") && strstr(name, "_debug__");
}

size_t openmp_host_length(const char *name)
{
	static const char *const marks[] = { "._omp_fn.", ".omp_outlined" };

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		const char *mark = strstr(name, marks[i]);
		if (mark)
			return (size_t)(mark - name);
	}
	return 0;
}
