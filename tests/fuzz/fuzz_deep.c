/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_deep: records of a raw recording about stacks beyond their snapshots, and samples that follow, all
 * hostile.
 *
 * input: any number of: u8 kind (0: a sample, else a record), u8 thread, u16 length, as many bytes; for a
 * sample the first eight are its sp, the next its pc, the others its stack
 */
#include <stdlib.h>

#include "collector/deep/deep_stack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All memory that is referred to must be readable. */
static void touch(const struct sample *sample)
{
	volatile uint8_t sink = 0;

	if (sample->n_deep > DEEP_PAGES_MAX || sample->deep_start % STACK_PAGE)
		abort();
	for (uint32_t i = 0; i < sample->n_deep; i++)
		if (sample->deep[i].at)
			sink = sample->deep[i].at[0] + sample->deep[i].at[STACK_PAGE - 1];
	if (sample->stack.len)
		sink = sample->stack.at[0] + sample->stack.at[sample->stack.len - 1];
	if (sample->n_hidden > DEEP_HIDDEN_MAX)
		abort();
	for (uint32_t i = 0; i < sample->n_hidden; i++)
		sink = (uint8_t)(sample->hidden[i].stack + sample->hidden[i].address);
	(void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = reader_of((struct bytes){ data, size });
	struct deep_stacks *stacks = deep_stacks_new();

	while (reader_left(&r) >= 4) {
		uint8_t kind = read_u8(&r), tid = read_u8(&r);
		struct bytes payload = read_bytes(&r, read_u16(&r));
		if (kind) {
			deep_stacks_take(stacks, tid, payload);
			continue;
		}
		struct reader sp = reader_of(payload);
		struct sample sample = { .stack_was_full = true,
					 .regs = { .known = 1ull << isa_x86_64.sp | 1ull << isa_x86_64.pc } };
		sample.regs.value[isa_x86_64.sp] = read_u64(&sp);
		sample.regs.value[isa_x86_64.pc] = read_u64(&sp);
		sample.stack = read_bytes(&sp, reader_left(&sp));
		deep_stacks_join(stacks, tid, &isa_x86_64, &sample);
		touch(&sample);
	}
	deep_stacks_free(stacks);
	return 0;
}
