/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_flow: bytes as the text of an image: functions are searched and analysed, and their graphs and recipes
 * built. Whatever the code, blocks are sorted and disjoint, edges lead to blocks, rows are in ascending
 * order, and the analysis ends.
 *
 * input: u8 flags (1: AArch64, 2: section headers, 4: the text is one function with a stated end); u16
 * length of read-only data (tables); the rest is code
 */
#include <stdlib.h>

#include "binary/flow/cfg.h"
#include "binary/functions/function.h"
#include "recipes/recover.h"
#include "tests/elf_maker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_cfg(const struct flow *flow)
{
	struct cfg cfg;

	cfg_build(&cfg, flow);
	for (size_t i = 0; i < cfg.n_blocks; i++) {
		const struct cfg_block *block = &cfg.blocks[i];
		require(block->start < block->end && block->last < block->end && block->n_insns);
		require(i == 0 || cfg.blocks[i - 1].end <= block->start);
		require(cfg_find(&cfg, block->last) == i);
	}
	for (size_t i = 0; i < cfg.n_edges; i++)
		require(cfg.edges[i].to < cfg.n_blocks);
	cfg_done(&cfg);
}

static void check_rows(struct flow *flow, struct recipes *recipes)
{
	for (size_t part = 0; part < flow->parts.n; part++) {
		struct recipe_rows rows = { 0 };
		recover_rows(flow, part, recipes, &rows);
		for (size_t i = 0; i < rows.rows.n; i++) {
			require(i == 0 || rows.rows.at[i].start > rows.rows.at[i - 1].start);
			require(rows.rows.at[i].recipe == RECIPE_NONE ||
				rows.rows.at[i].recipe < recipes->recipes.n);
		}
		vec_done(&rows.rows);
	}
}

static void check_image(struct image *image, struct symbols *symbols)
{
	struct functions *functions = functions_new(image, symbols, NULL, NULL);
	struct recipes recipes;
	struct flow flow;

	recipes_init(&recipes);
	functions_analyse(functions, NULL, NULL);
	flow_init(&flow, functions_facts(functions));
	for (uint32_t i = 0; i < functions->n; i++) {
		require(functions->at[i].start < functions->at[i].end);
		require(i == 0 || functions->at[i - 1].end <= functions->at[i].start);
		functions_analyse_one(functions, i, &flow);
		check_cfg(&flow);
		check_rows(&flow, &recipes);
	}
	flow_done(&flow);
	recipes_done(&recipes);
	functions_free(functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = reader_of((struct bytes){ data, size });
	uint8_t flags = read_u8(&r);
	uint16_t table_len = read_u16(&r);
	struct bytes table = read_bytes(&r, table_len), code = read_bytes(&r, reader_left(&r));
	struct elf_part parts[] = {
		{ ".text", 0x10000, PF_R | PF_X, code, 0 },
		{ ".rodata", 0x8000, PF_R, table, 0 },
	};
	struct symbol whole = { .vaddr = 0x10000, .size = code.len, .name = "whole", .type = 2 };
	struct symbols symbols = { .at = &whole, .n = flags & 4 ? 1 : 0 };
	struct images *images = images_new();

	if (r.failed || size > 1u << 16) {
		images_free(images);
		return 0;
	}
	struct image *image = elf_image(images, "fuzz", flags & 1 ? EM_AARCH64 : EM_X86_64, 0x10000,
					flags & 2 ? ELF_WITH_SECTIONS : ELF_WITHOUT_SECTIONS, parts,
					ARRAY_LEN(parts), NULL);
	if (image)
		check_image(image, &symbols);
	images_free(images);
	return 0;
}
