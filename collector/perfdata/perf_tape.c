/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_tape: samples as records.
 */
#include "collector/perfdata/perf_tape.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fresh_file.h"
#include "base/writer.h"
#include "collector/perfdata/perf_writer.h"
#include "collector/record/perf_regs.h"

/* perf unwinds only samples that could have had a call chain. */
#define SAMPLE_FIELDS                                                                                       \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

struct perf_tape {
	const struct isa *isa;
	struct perf_writer *writer;
	struct writer record; /* scratch */
};

int perf_tape_open(const char *path, const struct isa *isa, struct perf_tape **ret, struct diag *diag)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1,
		.sample_type = SAMPLE_FIELDS,
		.sample_regs_user = perf_regs_mask(isa),
		.sample_stack_user = PERF_TAPE_STACK,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.exclude_callchain_user = 1,
	};
	struct perf_writer_event event = { &attr, "cpu-clock" };
	int fd = fresh_file_overwrite(path, O_RDWR, diag);

	if (fd < 0)
		return fd;
	struct perf_writer *writer = NULL;
	int error = perf_writer_open(fd, path, &event, 1, &writer, diag);
	if (error)
		return error;
	*ret = alloc_zero(1, sizeof(**ret));
	(*ret)->isa = isa;
	(*ret)->writer = writer;
	return 0;
}

static void tape_add_sample(struct perf_tape *tape, const struct event *event)
{
	const struct sample *sample = &event->sample;
	uint64_t mask = perf_regs_mask(tape->isa), values[64];
	size_t n = perf_regs_write(tape->isa, mask, &sample->regs, values);
	struct writer *w = &tape->record;
	struct bytes stack = bytes_slice(sample->stack, 0, PERF_TAPE_STACK);

	writer_clear(w);
	write_u32(w, PERF_RECORD_SAMPLE);
	write_u16(w, PERF_RECORD_MISC_USER);
	write_u16(w, 0); /* the size; set below */
	write_u64(w, sample->regs.value[tape->isa->pc]);
	write_u32(w, (uint32_t)event->pid);
	write_u32(w, (uint32_t)event->tid);
	write_u64(w, event->time_ns);
	write_u64(w, 1); /* period */
	write_u64(w, 0); /* no call chain */
	write_u64(w, PERF_SAMPLE_REGS_ABI_64);
	for (size_t i = 0; i < n; i++)
		write_u64(w, values[i]);
	write_u64(w, PERF_TAPE_STACK);
	write_bytes(w, stack);
	write_space(w, PERF_TAPE_STACK - stack.len);
	write_u64(w, stack.len);
	w->at[6] = (uint8_t)w->len;
	w->at[7] = (uint8_t)(w->len >> 8);
	perf_writer_record(tape->writer, writer_bytes(w));
}

void perf_tape_add(struct perf_tape *tape, const struct images *images, const struct event *event)
{
	if (event->kind == EVENT_SAMPLE)
		tape_add_sample(tape, event);
	else
		perf_writer_event(tape->writer, images, event);
}

int perf_tape_close(struct perf_tape *tape, const struct images *images, const char *command_line,
		    struct diag *diag)
{
	int error = tape ? perf_writer_close(tape->writer, images, command_line, diag) : 0;

	if (tape)
		writer_done(&tape->record);
	free(tape);
	return error;
}
