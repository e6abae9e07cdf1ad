/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_perfmap: names of code in text form: perf maps, jitdump files, /proc/kallsyms.
 *
 * input: u8 which of the three; the rest is the file
 */
#include <stdlib.h>
#include <string.h>

#include "binary/elf/perfmap.h"
#include "symbolize/kernel/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void check_perfmap(const struct perfmap *map)
{
	for (size_t i = 0; i < map->code.n; i++) {
		const struct jit_code *code = &map->code.at[i];
		if (code->start >= code->end || (i && code->start < code[-1].end))
			abort();
		if (perfmap_find(map, code->start) != code || perfmap_find(map, code->end - 1) != code)
			abort();
		sink += strlen(code->name);
		if ((uint64_t)code->first_line + code->n_lines > map->lines.n)
			abort();
		for (uint32_t k = 0; k < code->n_lines; k++)
			sink += strlen(map->lines.at[code->first_line + k].file);
	}
}

static void use_kallsyms(struct bytes text)
{
	struct kallsyms kallsyms;
	uint64_t end;

	kallsyms_parse(text, &kallsyms);
	for (size_t i = 0; i < kallsyms.symbols.n; i++) {
		const struct kernel_symbol *symbol = &kallsyms.symbols.at[i];
		const struct kernel_symbol *wanted =
			symbol->name[0] ? symbol : NULL; /* else there is no function */
		if (kallsyms_find(&kallsyms, symbol->start, &end) != wanted || end <= symbol->start)
			abort();
		sink += strlen(symbol->name);
	}
	kallsyms_done(&kallsyms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes file = { data + 1, size - 1 };
	struct perfmap map;

	if (size == 0)
		return 0;
	if (data[0] % 3 == 2) {
		use_kallsyms(file);
		return 0;
	}
	if (data[0] % 3 == 0)
		perfmap_parse(file, &map);
	else
		jitdump_parse(file, &map);
	check_perfmap(&map);
	perfmap_done(&map);
	return 0;
}
