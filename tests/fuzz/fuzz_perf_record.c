/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_perf_record: a layout, then one record.
 *
 * input: u64 sample_type, branch_sample_type, regs_user, regs_intr; u8 read_format, flags; the record
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "collector/record/perf_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct isa isas[] = {
	{ .elf_machine = EM_X86_64, .pc = 16, .sp = 7, .min_insn = 1 },
	{ .elf_machine = EM_AARCH64, .pc = 32, .sp = 31, .min_insn = 4 },
};

static volatile uint64_t sink;

static void touch_sample(const struct sample *sample)
{
	for (uint32_t i = 0; i < sample->n_kernel_pc; i++)
		sink += sample->kernel_pc[i];
	for (uint32_t i = 0; i < sample->n_user_pc; i++)
		sink += sample->user_pc[i];
	for (size_t i = 0; i < sample->stack.len; i++)
		sink += sample->stack.at[i];
	if (sample->regs.known >> REG_MAX)
		abort();
}

static void touch(const struct event *event)
{
	switch (event->kind) {
	case EVENT_SAMPLE:
		touch_sample(&event->sample);
		break;
	case EVENT_MAPPING:
		sink += strlen(event->mapping.path);
		break;
	case EVENT_COMM:
	case EVENT_EXEC:
		sink += strlen(event->comm);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perf_scratch scratch;
	struct reader r = reader_of((struct bytes){ data, size });
	struct perf_layout layout = {
		.sample_type = read_u64(&r),
		.branch_sample_type = read_u64(&r),
		.regs_user = read_u64(&r),
		.regs_intr = read_u64(&r),
		.read_format = read_u8(&r),
	};
	uint8_t flags = read_u8(&r);
	struct bytes bytes = bytes_from((struct bytes){ data, size }, reader_offset(&r));
	struct perf_record record;
	struct event event;
	uint64_t id;

	layout.sample_id_all = flags & 1;
	layout.isa = flags & 2 ? &isas[flags >> 2 & 1] : NULL;
	perf_record_id(bytes, &layout, &id);
	if (perf_record_parse(bytes, &layout, &scratch, &record) < 0)
		return 0;
	if (record.kind == PERF_KIND_KSYMBOL)
		sink += strlen(record.ksymbol.name);
	if (perf_record_event(&record, &event))
		touch(&event);
	return 0;
}
