/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/culprits.h"

#include "tests/elf_maker.h"
#include "tests/test.h"

#define FIRST 0x1000u
#define SECOND 0x2000u /* another page */

static const uint32_t first[] = {
	0xd2800001, /*    mov x1, #0 */
	0x8b010000, /* 1: add x0, x0, x1 */
	0xf1000442, /*    subs x2, x2, #1 */
	0x54ffffc1, /*    b.ne 1b */
	0xf9400003, /*    ldr x3, [x0] */
	0x9ac10863, /*    udiv x3, x3, x1 */
	0x140003fa, /*    b 2f */
};
static const uint32_t second[] = {
	0xf9000003, /* 2: str x3, [x0] */
	0xd65f03c0, /*    ret */
};

static uint8_t found[4]; /* by block */

/* rounds: of the loop. */
static void find(double rounds)
{
	struct cfg_block blocks[] = {
		{ .start = FIRST,
		  .end = FIRST + 4,
		  .last = FIRST,
		  .first_edge = 0,
		  .n_edges = 1,
		  .is_reached = true },
		{ .start = FIRST + 4,
		  .end = FIRST + 16,
		  .last = FIRST + 12,
		  .first_edge = 1,
		  .n_edges = 2,
		  .end_kind = BLOCK_BRANCHES,
		  .is_reached = true },
		{ .start = FIRST + 16,
		  .end = FIRST + 28,
		  .last = FIRST + 24,
		  .first_edge = 3,
		  .n_edges = 1,
		  .end_kind = BLOCK_JUMPS,
		  .is_reached = true },
		{ .start = SECOND,
		  .end = SECOND + 8,
		  .last = SECOND + 4,
		  .first_edge = 4,
		  .end_kind = BLOCK_RETURNS,
		  .is_reached = true },
	};
	struct cfg_edge edges[] = {
		{ 1, EDGE_NEXT }, { 1, EDGE_TAKEN }, { 2, EDGE_NOT_TAKEN }, { 3, EDGE_JUMP }
	};
	const double counts[] = { 1, rounds, 1, 1 };
	struct elf_part parts[] = {
		{ ".text", FIRST, PF_R | PF_X, { (const uint8_t *)first, sizeof(first) }, 0 },
		{ ".more", SECOND, PF_R | PF_X, { (const uint8_t *)second, sizeof(second) }, 0 }
	};
	struct cfg cfg = { .blocks = blocks, .edges = edges, .n_blocks = 4, .n_edges = 4 };
	struct images *images = images_new();
	struct frequency frequency;
	image_id id;

	struct culprit_code code = { &cfg,
				     elf_image(images, "program", EM_AARCH64, 0, ELF_WITH_SECTIONS, parts,
					       ARRAY_LEN(parts), &id),
				     &isa_aarch64 };
	frequency_init(&frequency, &cfg);
	frequency_take(&frequency, counts, CONFIDENCE_EXACT);
	for (uint32_t i = 0; i < ARRAY_LEN(found); i++)
		found[i] = culprits_find(&code, &frequency, i);
	frequency_done(&frequency);
	images_free(images);
}

TEST(culprits_are_all_causes_that_the_code_does_not_exclude)
{
	find(1000);
	CHECK_EQ(found[0], CULPRIT_CODE); /* called from elsewhere: may miss the instruction cache */
	CHECK_EQ(found[1], 0);            /* no memory access, and the branch is predictable */
	CHECK_EQ(found[2], CULPRIT_DATA | CULPRIT_DIVIDE);
	CHECK_EQ(found[3], CULPRIT_STORE | CULPRIT_CODE);
}

TEST(culprits_of_an_unpredictable_branch_are_on_both_sides)
{
	find(2);
	CHECK_EQ(found[1], CULPRIT_BRANCH);
	CHECK_EQ(found[2], CULPRIT_BRANCH | CULPRIT_DATA | CULPRIT_DIVIDE);
}
