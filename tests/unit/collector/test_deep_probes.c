/* SPDX-License-Identifier: Apache-2.0 */
/* Effects of other tools' probes: samples taken in the out-of-line copy of a probed instruction, or when its
 * breakpoint has trapped. */
#include "collector/deep/deep_stack.h"

#include <string.h>

#include "tests/test.h"

#define SP 0x7fefffffc008ull
#define COPY 0xffff00001040ull
#define PLACE 0xaaaa00000850ull
#define OTHER 0xaaaa00000900ull

static struct sample join_stepped(struct deep_stacks *stacks, const struct isa *isa, uint64_t pc,
				  uint64_t top)
{
	const uint64_t record[] = { DEEP_MAGIC_STEPPED, SP, COPY, PLACE };
	static uint64_t stack[1];
	struct sample sample = { .regs = { .known = 1ull << isa->sp | 1ull << isa->pc },
				 .stack = { (const uint8_t *)stack, sizeof(stack) } };

	stack[0] = top;
	sample.regs.value[isa->sp] = SP;
	sample.regs.value[isa->pc] = pc;
	deep_stacks_take(stacks, 7, (struct bytes){ (const uint8_t *)record, sizeof(record) });
	deep_stacks_join(stacks, 7, isa, &sample);
	return sample;
}

TEST(deep_stack_pc_in_an_instruction_copied_by_uprobes_is_translated_back)
{
	const struct isa *isa = &isa_aarch64;
	struct deep_stacks *stacks = deep_stacks_new();

	CHECK_EQ(join_stepped(stacks, isa, COPY, 0).regs.value[isa->pc], PLACE);
	CHECK_EQ(join_stepped(stacks, isa, COPY + 4, 0).regs.value[isa->pc], PLACE + 4);
	CHECK_EQ(join_stepped(stacks, isa, OTHER, COPY).regs.value[isa->pc], OTHER);
	CHECK_EQ(join_stepped(stacks, isa, OTHER, COPY).n_hidden, 0);
	/* Valid for one sample. */
	struct sample sample = { .regs = { .known = 1ull << isa->sp | 1ull << isa->pc } };
	sample.regs.value[isa->sp] = SP;
	sample.regs.value[isa->pc] = COPY;
	deep_stacks_join(stacks, 7, isa, &sample);
	CHECK_EQ(sample.regs.value[isa->pc], COPY);
	deep_stacks_free(stacks);
}

/* x86-64: a copied call pushes an address after the copy. */
TEST(deep_stack_return_address_of_a_copied_call_is_translated_back)
{
	const struct isa *isa = &isa_x86_64;
	const uint64_t hidden[] = { DEEP_MAGIC_HIDDEN, SP, 1, SP + 64, OTHER + 1 };
	struct deep_stacks *stacks = deep_stacks_new();

	struct sample sample = join_stepped(stacks, isa, OTHER, COPY + 3);
	CHECK_EQ(sample.regs.value[isa->pc], OTHER);
	CHECK_EQ(sample.n_hidden, 1);
	CHECK_EQ(sample.hidden[0].stack, SP);
	CHECK_EQ(sample.hidden[0].address, PLACE + 3);
	/* Together with a probed return of its caller. */
	deep_stacks_take(stacks, 7, (struct bytes){ (const uint8_t *)hidden, sizeof(hidden) });
	sample = join_stepped(stacks, isa, OTHER, COPY + 3);
	CHECK_EQ(sample.n_hidden, 2);
	CHECK_EQ(sample.hidden[0].address, PLACE + 3);
	CHECK_EQ(sample.hidden[1].address, OTHER + 1);
	deep_stacks_free(stacks);
}

TEST(deep_stack_a_truncated_record_of_a_copy_is_ignored)
{
	const uint64_t record[] = { DEEP_MAGIC_STEPPED, SP, COPY };
	const struct isa *isa = &isa_aarch64;
	struct deep_stacks *stacks = deep_stacks_new();
	struct sample sample = { .regs = { .known = 1ull << isa->sp | 1ull << isa->pc } };

	sample.regs.value[isa->sp] = SP;
	sample.regs.value[isa->pc] = COPY;
	deep_stacks_take(stacks, 7, (struct bytes){ (const uint8_t *)record, sizeof(record) });
	deep_stacks_join(stacks, 7, isa, &sample);
	CHECK_EQ(sample.regs.value[isa->pc], COPY);
	deep_stacks_free(stacks);
}

static struct sample join_trapped(struct deep_stacks *stacks, const uint64_t *record, size_t n, uint64_t sp)
{
	const struct isa *isa = &isa_x86_64;
	struct sample sample = { .regs = { .known = 1ull << isa->sp | 1ull << isa->pc } };

	sample.regs.value[isa->sp] = sp;
	deep_stacks_take(stacks, 7, (struct bytes){ (const uint8_t *)record, n * sizeof(*record) });
	deep_stacks_join(stacks, 7, isa, &sample);
	return sample;
}

TEST(deep_stack_a_sample_says_whether_a_breakpoint_has_trapped)
{
	const uint64_t alone[] = { DEEP_MAGIC_TRAPPED, SP, 0 }, two[] = { DEEP_MAGIC_TRAPPED, SP, 1 };
	struct deep_stacks *stacks = deep_stacks_new();

	struct sample sample = join_trapped(stacks, alone, 3, SP);
	CHECK(sample.is_after_break && !sample.is_at_break);
	sample = join_trapped(stacks, two, 3, SP);
	CHECK(sample.is_after_break && sample.is_at_break);
	CHECK(!join_trapped(stacks, alone, 0, SP).is_after_break); /* valid for one sample */
	CHECK(!join_trapped(stacks, alone, 3, SP + 8).is_after_break);
	CHECK(!join_trapped(stacks, alone, 2, SP).is_after_break); /* truncated */
	deep_stacks_free(stacks);
}

static struct sample join_nearby(struct deep_stacks *stacks, const uint64_t *words, size_t n, uint64_t sp)
{
	const struct isa *isa = &isa_aarch64;
	uint64_t record[2 + DEEP_NEARBY_REGS + DEEP_NEARBY_STACK] = { DEEP_MAGIC_NEARBY, SP };
	struct sample sample = { .regs = { .known = 1ull << isa->sp | 1ull << isa->pc } };

	memcpy(record + 2, words, n * sizeof(*words));
	sample.regs.value[isa->sp] = sp;
	deep_stacks_take(stacks, 7, (struct bytes){ (const uint8_t *)record, sizeof(record) });
	deep_stacks_join(stacks, 7, isa, &sample);
	return sample;
}

/* The kernel was about to record a return address: it comes after those that are recorded. */
TEST(deep_stack_candidates_for_a_return_address_are_reported_once)
{
	const uint64_t hidden[] = { DEEP_MAGIC_HIDDEN, SP, 1, SP + 64, OTHER };
	const uint64_t words[] = { PLACE, 0, OTHER, PLACE };
	struct deep_stacks *stacks = deep_stacks_new();

	struct sample sample = join_nearby(stacks, words, 4, SP);
	CHECK_EQ(sample.n_hidden, 2);
	CHECK(sample.hidden[0].is_maybe && sample.hidden[0].stack == SP && sample.hidden[0].address == PLACE);
	CHECK(sample.hidden[1].is_maybe && sample.hidden[1].address == OTHER);
	deep_stacks_take(stacks, 7, (struct bytes){ (const uint8_t *)hidden, sizeof(hidden) });
	sample = join_nearby(stacks, words, 1, SP);
	CHECK_EQ(sample.n_hidden, 2);
	CHECK(!sample.hidden[0].is_maybe && sample.hidden[0].stack == SP + 64);
	CHECK(sample.hidden[1].is_maybe && sample.hidden[1].address == PLACE);
	/* Of another sample. */
	CHECK_EQ(join_nearby(stacks, words, 4, SP + 8).n_hidden, 0);
	deep_stacks_free(stacks);
}
