/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_walk: a program (code and unwind entries), registers and a stack, all hostile, unwound in every mode.
 *
 * input: u8 flags (1: AArch64, 2: the snapshot was full, 4: section headers); u16 length of the code, u16 of
 * the unwind entries; both; 33 registers of 2 bytes (addresses in the code or on the stack, see below); the
 * rest is the stack, whose 8-byte words with a zero upper half are addresses too
 */
#include <stdlib.h>

#include "tests/elf_maker.h"
#include "unwinder/unwinder.h"

#define TEXT 0x1000u
#define EH 0x40000u
#define BIAS 0x550000000000u
#define STACK 0x7ff000000000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small numbers become relevant addresses: even ones on the stack, odd ones in the code. */
static uint64_t place(uint64_t n)
{
	return n & 1 ? BIAS + TEXT + (n >> 1) : STACK + (n >> 1);
}

static void read_stack(struct reader *r, struct writer *ret)
{
	while (reader_left(r) >= 8) {
		uint64_t word = read_u64(r);
		write_u64(ret, word >> 32 ? word : place(word & 0xffff));
	}
}

static void walk(struct images *images, image_id image, const struct isa *isa, const struct event *sample,
		 enum unwind_mode mode)
{
	struct unwinder *unwinder = unwinder_new(images, isa, &(struct unwinder_options){ .mode = mode });
	struct event map = { .kind = EVENT_MAPPING,
			     .pid = 1,
			     .tid = 1,
			     .mapping = { .start = BIAS + TEXT,
					  .len = 0x10000,
					  .image = image,
					  .bias = BIAS,
					  .is_executable = true } };
	struct stack stack = { 0 };

	unwinder_event(unwinder, &map);
	for (int i = 0; i < 2; i++) {
		unwinder_walk(unwinder, sample, &stack);
		if (stack.frames.n == 0 || stack.frames.n > STACK_MAX_FRAMES || stack.end >= STACK_END_N)
			abort();
		for (size_t k = 0; k + 1 < stack.frames.n; k++)
			if (stack.frames.at[k].witness == WITNESS_NONE ||
			    stack.frames.at[k].verdict == VERDICT_INVALID)
				abort();
	}
	stack_done(&stack);
	unwinder_free(unwinder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = reader_of((struct bytes){ data, size });
	uint8_t flags = read_u8(&r);
	uint16_t text_len = read_u16(&r), eh_len = read_u16(&r);
	struct bytes text = read_bytes(&r, text_len), eh = read_bytes(&r, eh_len);
	struct elf_part parts[] = { { ".text", TEXT, PF_R | PF_X, text, 0 },
				    { ".eh_frame", EH, PF_R, eh, 0 } };
	const struct isa *isa = flags & 1 ? &isa_aarch64 : &isa_x86_64;
	struct event sample = { .kind = EVENT_SAMPLE, .pid = 1, .tid = 1 };
	struct images *images = images_new();
	struct writer stack = { 0 };
	image_id id;

	if (r.failed ||
	    !elf_image(images, "fuzz", isa->elf_machine, TEXT,
		       flags & 4 ? ELF_WITH_SECTIONS : ELF_WITHOUT_SECTIONS, parts, ARRAY_LEN(parts), &id)) {
		images_free(images);
		return 0;
	}
	for (unsigned i = 0; i < isa->n_regs; i++)
		sample.sample.regs.value[i] = place(read_u16(&r));
	sample.sample.regs.known = UINT64_MAX >> (64 - isa->n_regs);
	sample.sample.regs.value[isa->sp] = STACK;
	sample.sample.stack_was_full = flags & 2;
	read_stack(&r, &stack);
	sample.sample.stack = writer_bytes(&stack);
	for (enum unwind_mode mode = UNWIND_AUTO; mode <= UNWIND_FP; mode++)
		walk(images, id, isa, &sample, mode);
	writer_done(&stack);
	images_free(images);
	return 0;
}
