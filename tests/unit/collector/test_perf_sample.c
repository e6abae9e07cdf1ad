/* SPDX-License-Identifier: Apache-2.0 */
/* Samples: the contents of a record for an interrupted thread. */
#include "tests/unit/collector/parse_record.h"

static const struct isa x86 = { .elf_machine = EM_X86_64, .pc = 16, .sp = 7, .min_insn = 1 };

TEST(parse_reads_every_field_of_a_sample_in_kernel_order)
{
	struct perf_layout layout = {
		.isa = &x86,
		.sample_type = PERF_SAMPLE_MAX - 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
			       PERF_FORMAT_TOTAL_TIME_ENABLED,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.regs_user = 1 << 7 | 1 << 8,
		.regs_intr = 7,
		.event = 3,
	};
	const struct sample *sample = &record.sample.sample;

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, 77);     /* IDENTIFIER */
	put64(&b, 0x4010); /* IP */
	put32(&b, 10), put32(&b, 11);
	put64(&b, 5000);  /* TIME */
	put64(&b, 0xadd); /* ADDR */
	put64(&b, 77);    /* ID */
	put64(&b, 1);     /* STREAM_ID */
	put32(&b, 2), put32(&b, 0);
	put64(&b, 250); /* PERIOD */
	put64(&b, 2), put64(&b, 9), put64(&b, 1), put64(&b, 1), put64(&b, 0), put64(&b, 2), put64(&b, 2),
		put64(&b, 0);
	put64(&b, 3), put64(&b, (uint64_t)PERF_CONTEXT_KERNEL), put64(&b, 0xffff800000001000),
		put64(&b, (uint64_t)PERF_CONTEXT_USER);
	put32(&b, 4), put32(&b, 0);                                           /* RAW */
	put64(&b, 1), put64(&b, 0), put64(&b, 1), put64(&b, 2), put64(&b, 3); /* BRANCH_STACK */
	put64(&b, PERF_SAMPLE_REGS_ABI_64), put64(&b, 0x7ff0), put64(&b, 0x4010);
	put64(&b, 16), put64(&b, 0x11), put64(&b, 0x22), put64(&b, 8); /* STACK_USER: 8 of 16 bytes */
	put64(&b, 1), put64(&b, 2), put64(&b, 3);                      /* WEIGHT, DATA_SRC, TRANSACTION */
	put64(&b, PERF_SAMPLE_REGS_ABI_64), put64(&b, 1), put64(&b, 2), put64(&b, 3);
	put64(&b, 1), put64(&b, 2), put64(&b, 3), put64(&b, 4); /* PHYS_ADDR, CGROUP, page sizes */
	put64(&b, 8), put64(&b, 0);                             /* AUX */

	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(record.kind, PERF_KIND_SAMPLE);
	CHECK_EQ(record.id, 77);
	CHECK_EQ(record.sample.ip, 0x4010);
	CHECK_EQ(record.sample.addr, 0xadd);
	CHECK_EQ(record.pid, 10);
	CHECK_EQ(record.tid, 11);
	CHECK_EQ(record.time_ns, 5000);
	CHECK_EQ(sample->cpu, 2);
	CHECK_EQ(sample->weight, 250);
	CHECK_EQ(sample->event, 3);
	CHECK_EQ(sample->in_kernel, false);
	CHECK_EQ(sample->n_kernel_pc, 1);
	CHECK_EQ(sample->kernel_pc[0], 0xffff800000001000);
	CHECK_EQ(sample->n_user_pc, 0);
	CHECK_EQ(sample->regs.known, 1u << 7 | 1u << 16);
	CHECK_EQ(sample->regs.value[7], 0x7ff0);
	CHECK_EQ(sample->regs.value[16], 0x4010);
	CHECK_EQ(sample->stack.len, 8);
	CHECK_EQ(sample->stack.at[0], 0x11);
	CHECK_EQ(sample->stack_was_full, false);
	check_cuts(&layout, 0);
}

TEST(parse_reads_a_stack_of_size_zero_without_its_copied_size)
{
	struct perf_layout layout = { .isa = &x86,
				      .regs_user = 1,
				      .sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
						     PERF_SAMPLE_DATA_SRC };

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put64(&b, PERF_SAMPLE_REGS_ABI_NONE); /* a kernel thread: no registers follow */
	put64(&b, 0);
	put64(&b, 1); /* DATA_SRC */
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(record.sample.sample.regs.known, 0);
	CHECK_EQ(record.sample.sample.stack.len, 0);
	CHECK_EQ(record.sample.sample.in_kernel, true);
	check_cuts(&layout, 0);
}

TEST(parse_reports_when_the_stack_copy_is_full)
{
	struct perf_layout layout = { .sample_type = PERF_SAMPLE_STACK_USER };

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, 8), put64(&b, 1), put64(&b, 8);
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(record.sample.sample.stack.len, 8);
	CHECK_EQ(record.sample.sample.stack_was_full, true);
}

TEST(parse_clamps_the_copied_size_to_the_copy)
{
	struct perf_layout layout = { .sample_type = PERF_SAMPLE_STACK_USER };

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, 8), put64(&b, 1), put64(&b, UINT64_MAX);
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(record.sample.sample.stack.len, 8);
}

TEST(parse_skips_registers_of_a_32_bit_task)
{
	struct perf_layout layout = { .isa = &x86, .regs_user = 3, .sample_type = PERF_SAMPLE_REGS_USER };

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, PERF_SAMPLE_REGS_ABI_32), put64(&b, 1), put64(&b, 2);
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(record.sample.sample.regs.known, 0);
}

TEST(parse_splits_a_callchain_at_its_context_markers)
{
	struct perf_layout layout = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN };
	const struct sample *sample = &record.sample.sample;

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put64(&b, 0xffff0001);
	put64(&b, 9);
	put64(&b, 0xffff0001); /* before any marker: the sample's own mode */
	put64(&b, (uint64_t)PERF_CONTEXT_KERNEL), put64(&b, 0xffff0002);
	put64(&b, (uint64_t)PERF_CONTEXT_GUEST), put64(&b, 0xbad);
	put64(&b, (uint64_t)PERF_CONTEXT_USER), put64(&b, 0x10), put64(&b, 0x20);
	put64(&b, (uint64_t)-640); /* PERF_CONTEXT_USER_DEFERRED, without its cookie */
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(sample->n_kernel_pc, 2);
	CHECK_EQ(sample->kernel_pc[0], 0xffff0001);
	CHECK_EQ(sample->kernel_pc[1], 0xffff0002);
	CHECK_EQ(sample->n_user_pc, 2);
	CHECK(sample->has_frame_chain);
	CHECK_EQ(sample->user_pc[0], 0x10);
	CHECK_EQ(sample->user_pc[1], 0x20);
}

TEST(parse_reads_the_count_of_an_event_without_a_group)
{
	struct perf_layout bare = { .sample_type = PERF_SAMPLE_READ };
	struct perf_layout full = { .sample_type = PERF_SAMPLE_READ,
				    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
						   PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID };

	record_start(&b, PERF_RECORD_SAMPLE, 0);
	put64(&b, 4711);
	CHECK_EQ(parse(&bare), 0);
	CHECK_EQ(record.sample.counts.n, 1);
	CHECK_EQ(record.sample.counts.entries.len, 8);
	CHECK_EQ(parse(&full), -EBADMSG);
	put64(&b, 20), put64(&b, 10), put64(&b, 77);
	CHECK_EQ(parse(&full), 0);
	CHECK_EQ(record.sample.counts.enabled, 20);
	CHECK_EQ(record.sample.counts.running, 10);
	CHECK(!record.sample.counts.has_ids);
}

TEST(parse_refuses_counts_larger_than_the_record)
{
	struct perf_layout chain = { .sample_type = PERF_SAMPLE_CALLCHAIN };
	struct perf_layout branches = { .sample_type = PERF_SAMPLE_BRANCH_STACK };
	struct perf_layout group = { .sample_type = PERF_SAMPLE_READ, .read_format = PERF_FORMAT_GROUP };
	static const uint64_t counts[] = { 2, UINT64_MAX, UINT64_MAX / 8 + 1, 1ull << 61 };

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		record_start(&b, PERF_RECORD_SAMPLE, 0);
		put64(&b, counts[i]);
		put64(&b, 0);
		CHECK_EQ(parse(&chain), -EBADMSG);
		CHECK_EQ(parse(&branches), -EBADMSG);
		CHECK_EQ(parse(&group), -EBADMSG);
	}
}

TEST(parse_holds_the_longest_callchain_a_record_can_carry)
{
	struct perf_layout layout = { .sample_type = PERF_SAMPLE_CALLCHAIN };
	size_t count = (65528 - 16) / 8;

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, count);
	for (size_t i = 0; i < count; i++)
		put64(&b, 0x1000 + i);
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(record.sample.sample.n_user_pc, count);
	CHECK_EQ(record.sample.sample.user_pc[count - 1], 0x1000 + count - 1);
}

TEST(parse_turns_an_lbr_call_stack_into_callers)
{
	struct perf_layout layout = { .isa = &x86,
				      .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
				      .branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK };
	const struct sample *sample = &record.sample.sample;

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, 0x3010);
	put64(&b, 2);
	put64(&b, 0x2010), put64(&b, 0x3000), put64(&b, 0);
	put64(&b, 0x1010), put64(&b, 0x2000), put64(&b, 0);
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(sample->n_user_pc, 3);
	CHECK(!sample->has_frame_chain);
	CHECK_EQ(sample->user_pc[0], 0x3010);
	CHECK_EQ(sample->user_pc[1] - 1, 0x2010);
	CHECK_EQ(sample->user_pc[2] - 1, 0x1010);
}

TEST(parse_uses_the_pc_of_a_sample_without_a_callchain)
{
	struct perf_layout layout = { .sample_type = PERF_SAMPLE_IP, .period = 9 };

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(&b, 0x3010);
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(record.sample.sample.n_user_pc, 1);
	CHECK_EQ(record.sample.sample.user_pc[0], 0x3010);
	CHECK_EQ(record.sample.sample.weight, 9);

	record_start(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put64(&b, 0xffff3010);
	CHECK_EQ(parse(&layout), 0);
	CHECK_EQ(record.sample.sample.n_user_pc, 0);
	CHECK_EQ(record.sample.sample.n_kernel_pc, 1);
	CHECK_EQ(record.sample.sample.kernel_pc[0], 0xffff3010);
}
