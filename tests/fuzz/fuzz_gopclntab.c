/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_gopclntab: the function table of a Go program; every function is read.
 */
#include <stdlib.h>
#include <string.h>

#include "binary/elf/gopclntab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gopclntab table;
	struct go_function function;

	if (!gopclntab_parse((struct bytes){ data, size }, 0x1000, &table))
		return 0;
	for (uint64_t i = 0; i <= table.n_functions; i++) {
		if (!gopclntab_get(&table, i, &function))
			continue;
		if (function.start >= function.end || i == table.n_functions)
			abort();
		sink += strlen(function.name);
	}
	return 0;
}
