/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/perfdata/perf_kernel.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

static const char *const symbols[] = { "_text", "_stext" };

/* Both are near the beginning of the file. */
static uint64_t perf_kernel_find(const char *wanted, const char **ret_symbol)
{
	CLEANUP(fclosep) FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long addr;
	char line[512], name[64];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %63s", &addr, name) != 2)
			continue;
		for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
			if (strcmp(name, symbols[i]) != 0 || (wanted && strcmp(name, wanted) != 0))
				continue;
			*ret_symbol = symbols[i];
			return addr;
		}
	}
	return 0;
}

uint64_t perf_kernel_start(const char **ret_symbol)
{
	return perf_kernel_find(NULL, ret_symbol);
}

uint64_t perf_kernel_address(const char *symbol)
{
	const char *unused;

	for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
		if (strcmp(symbol, symbols[i]) == 0)
			return perf_kernel_find(symbol, &unused);
	return 0;
}
