/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/own_maps.h"

#include <stdint.h>
#include <unistd.h>

#include "collector/process/target.h"

struct own_search {
	uint64_t pc;
	bool is_found;
};

static void own_look(void *context, const struct target_map *map)
{
	struct own_search *search = context;

	if (map->is_executable && map->start <= search->pc && search->pc < map->end)
		search->is_found = true;
}

bool own_code_is_mapped(void)
{
	struct own_search search = { .pc = (uint64_t)(uintptr_t)own_code_is_mapped };

	return target_maps(getpid(), own_look, &search) == 0 && search.is_found;
}
