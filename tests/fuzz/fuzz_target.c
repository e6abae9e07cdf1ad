/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_target: a line of /proc/PID/maps (whose names a process chooses), and the start of a program.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "collector/process/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target_map map;
	char *line = alloc_zero(1, size + 1); /* exact size, to detect overreads */

	memcpy(line, data, size);
	if (target_parse_map(line, size, &map)) {
		if (map.end <= map.start || map.path < line || map.path + map.path_len > line + size)
			abort();
		for (size_t i = 0; i < map.path_len; i++)
			sink += (uint64_t)map.path[i];
	}
	free(line);
	sink += (uint64_t)target_check_elf((struct bytes){ data, size });
	return 0;
}
