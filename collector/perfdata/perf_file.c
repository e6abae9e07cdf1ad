/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_file: ties input, header, order and images together.
 *
 * Records that carry no time, or time zero, were synthesized for what existed before: they go out at
 * once. All others wait in the order until a round has ended that began after they were written.
 */
#include "collector/perfdata/perf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/deep/deep_stack.h"
#include "collector/group_reads.h"
#include "collector/order.h"
#include "collector/perfdata/perf_format.h"
#include "collector/perfdata/perf_header.h"
#include "collector/perfdata/perf_images.h"
#include "collector/perfdata/perf_input.h"
#include "collector/perfdata/perf_kernel.h"
#include "collector/record/perf_record.h"
#include "collector/wait/perf_waits.h"
#include "collector/wait/wakings.h"

#define MAX_ATTRS_SECTION (16u << 20)
#define MAX_FEATURE_SECTION (256u << 20)

struct perf_file {
	struct source source;
	char *name;
	struct perf_input *input;
	struct perf_header header;
	struct perf_images *images;
	struct order *order;
	struct deep_stacks *deep;
	struct group_reads group_reads;
	struct wakings wakings;
	struct event back;  /* the thread that the last switch let run; tid 0 = none */
	struct bytes first; /* the record that ended a stream's preamble; borrowed from input */
	uint64_t latest_ns; /* of all records so far */
	uint64_t n_lost;    /* as reported by the rings */
	uint64_t n_damaged;
	uint64_t kernel_start; /* as recorded, and the symbol whose address it is; 0 = not recorded */
	char kernel_symbol[16];
	bool is_at_end, has_notes;
	struct perf_scratch scratch;
};

#define ROUND_NS 40000000ull /* a file does not tell when periods were drawn: this does as well */

/* ---- the header ----------------------------------------------------------------------------- */

static int file_read_attr(struct perf_file *file, struct bytes entry)
{
	size_t attr_size = entry.len - 16;
	struct reader r = reader_of(bytes_from(entry, attr_size));
	struct perf_section section = { read_u64(&r), 0 };
	struct buffer ids;

	section.size = read_u64(&r);
	int error = perf_input_section(file->input, section, MAX_ATTRS_SECTION, &ids);
	if (error < 0)
		return error;
	error = perf_header_add_event(&file->header, bytes_slice(entry, 0, attr_size),
				      (struct bytes){ ids.at, ids.len });
	free(ids.at);
	return error;
}

static int file_read_attrs(struct perf_file *file, struct diag *diag)
{
	const struct perf_file_header *header = perf_input_header(file->input);
	struct buffer attrs;
	int error = perf_input_section(file->input, header->attrs, MAX_ATTRS_SECTION, &attrs);
	size_t size = header->attr_entry_size;

	for (size_t at = 0; error == 0 && attrs.len - at >= size; at += size)
		error = file_read_attr(file, (struct bytes){ attrs.at + at, size });
	free(attrs.at);
	if (error < 0) {
		diag_set(diag, error, "cannot read '%s'", file->name);
		diag_why(diag, "its list of events is corrupt");
	}
	return error;
}

/* A table of sections after the data, one for each feature bit that is set. */
static void file_read_features(struct perf_file *file)
{
	const struct perf_file_header *header = perf_input_header(file->input);
	struct perf_section table = { header->data.offset + header->data.size, FEATURE_N * 16 };
	struct buffer sections;

	if (header->data.size == 0 || perf_input_section(file->input, table, table.size, &sections) < 0)
		return;
	struct reader r = reader_of((struct bytes){ sections.at, sections.len });
	for (unsigned feature = 0; feature < FEATURE_N; feature++) {
		struct buffer content;
		if (!(header->features[feature / 64] >> feature % 64 & 1))
			continue;
		struct perf_section section = { read_u64(&r), 0 };
		section.size = read_u64(&r);
		if (r.failed || perf_input_section(file->input, section, MAX_FEATURE_SECTION, &content) < 0)
			continue;
		perf_header_add_feature(&file->header, feature, (struct bytes){ content.at, content.len });
		free(content.at);
	}
	free(sections.at);
}

/* Remembers where the kernel was, if the record tells. */
static void file_note_kernel(struct perf_file *file, const struct perf_record *record)
{
	size_t prefix = strlen(KERNEL_MAPPING);

	if (strncmp(record->mmap.path, KERNEL_MAPPING, prefix) != 0)
		return;
	file->kernel_start = record->mmap.start;
	snprintf(file->kernel_symbol, sizeof(file->kernel_symbol), "%s", record->mmap.path + prefix);
}

static bool file_is_kernel_mapping(struct perf_file *file, struct bytes record)
{
	const struct perf_layout no_layout = { 0 }; /* these fields are at the same place in all */
	struct perf_record parsed;

	if (perf_record_parse(record, &no_layout, &file->scratch, &parsed) < 0 ||
	    parsed.kind != PERF_KIND_MMAP || !parsed.mmap.is_kernel)
		return false;
	file_note_kernel(file, &parsed);
	return true;
}

/* In a stream the header comes as records; the kernel's first record ends it. */
static int file_read_preamble(struct perf_file *file, struct diag *diag)
{
	for (;;) {
		struct bytes record;
		int status = perf_input_next(file->input, &record, diag);
		if (status <= 0)
			return status;
		if (perf_header_add_record(&file->header, record))
			continue;
		struct reader r = reader_of(record);
		if (read_u32(&r) >= TOOL_FIRST || file_is_kernel_mapping(file, record))
			continue;
		file->first = record;
		return 0;
	}
}

static int file_read_header(struct perf_file *file, struct diag *diag)
{
	int error;

	if (perf_input_header(file->input)->is_stream) {
		error = file_read_preamble(file, diag);
	} else {
		error = file_read_attrs(file, diag);
		if (error == 0)
			file_read_features(file);
	}
	if (error < 0)
		return error;
	return perf_header_finish(&file->header, file->name, &file->source.info, diag);
}

/* ---- events --------------------------------------------------------------------------------- */

/* What perf itself counted at the end and what the rings reported are the same losses: the larger number
 * counts. */
static bool file_count_lost(struct perf_file *file, const struct perf_record *record, struct event *event)
{
	bool is_summary = record->kind == PERF_KIND_LOST_SAMPLES && record->time_ns == 0;

	if (record->kind == PERF_KIND_LOST)
		file->n_lost += event->lost;
	if (!is_summary)
		return event->lost > 0;
	uint64_t known = event->lost < file->n_lost ? event->lost : file->n_lost;
	file->n_lost -= known;
	event->lost -= known;
	return event->lost > 0;
}

static uint32_t file_event_of(const void *header, uint64_t id)
{
	return perf_header_event(header, id);
}

#define NEXT_PID_OFFSET 56 /* in the data of the tracepoint sched_switch; it has always been there */

/*
 * A switch by tracepoint: one thread leaves, and is sampled; another one comes back. An idle CPU does not
 * wait (its thread is 0, on every CPU), and a thread that has ended (-1) does not come back: in these cases
 * only the other thread counts. False: the event is now that thread's; its tid is 0 if there is none either.
 */
static bool file_read_switch(struct perf_file *file, struct bytes raw, struct event *event)
{
	struct reader r = reader_of(raw);

	reader_skip(&r, NEXT_PID_OFFSET);
	pid_t next = (pid_t)read_u32(&r);
	if (!r.failed && next > 0 && !file->header.has_switches)
		file->back = (struct event){
			.kind = EVENT_SWITCH, .time_ns = event->time_ns, .pid = next, .tid = next
		};
	if (event->tid > 0)
		return true;
	*event = file->back;
	file->back.tid = 0;
	return false;
}

/* Drops the frames of the BPF program that took the sample. */
static void file_drop_frames(struct perf_file *file, struct event *event)
{
	const struct source_info *info = &file->source.info;
	uint32_t number = event->sample.event;

	if (number >= info->events.n ||
	    (info->events.at[number].values == SOURCE_OFF_CPU && wakings_join(&file->wakings, event)))
		return;
	sample_drop_frames(&event->sample, info->events.at[number].n_own_frames);
}

/* True, and the event that a record stands for; false if there is none. */
static bool file_make_event(struct perf_file *file, struct bytes bytes, struct event *ret)
{
	const struct perf_layout *layout = perf_header_layout(&file->header, bytes);
	struct perf_record record;
	struct bytes next;

	if (perf_record_parse(bytes, layout, &file->scratch, &record) < 0) {
		file->n_damaged++;
		return false;
	}
	if (record.kind == PERF_KIND_MMAP && record.mmap.is_kernel)
		file_note_kernel(file, &record);
	if (!perf_record_event(&record, ret))
		return false;
	switch (ret->kind) {
	case EVENT_SAMPLE:
		if (ret->sample.event == PERF_NO_EVENT && file->source.info.has_timed_waits) {
			if (wakings_take(&file->wakings, record.sample.raw))
				return false;
			if (perf_waits_read(record.sample.raw, ret))
				return true;
		}
		if (ret->sample.event == PERF_NO_EVENT) {
			deep_stacks_take(file->deep, ret->tid, record.sample.raw);
			return false;
		}
		deep_stacks_join(file->deep, ret->tid, file->source.info.isa, &ret->sample);
		group_reads_apply(&file->group_reads, &record,
				  &(struct group_members){
					  file_event_of, &file->header,
					  source_event_counts_all(&file->source.info, ret->sample.event) },
				  &ret->sample);
		if (ret->sample.event == file->header.switch_event &&
		    !file_read_switch(file, record.sample.raw, ret))
			return ret->tid != 0;
		file_drop_frames(file, ret);
		ret->sample.round = (uint32_t)(ret->time_ns / ROUND_NS);
		if (order_peek(file->order, &next))
			perf_record_prefetch(next, perf_header_layout(&file->header, next),
					     &file->source.next);
		return true;
	case EVENT_MAPPING:
		perf_images_resolve(file->images, &record, &ret->mapping);
		return true;
	case EVENT_LOST:
		return file_count_lost(file, &record, ret);
	case EVENT_FORK:
	case EVENT_EXEC:
	case EVENT_COMM:
	case EVENT_EXIT:
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
	case EVENT_SWITCH:
	case EVENT_CODE:
		return true;
	}
	return true;
}

static bool file_is_round_end(struct bytes record)
{
	struct reader r = reader_of(record);

	return read_u32(&r) == TOOL_FINISHED_ROUND;
}

static bool file_is_of_kernel(struct bytes record)
{
	struct reader r = reader_of(record);

	return read_u32(&r) < TOOL_FIRST;
}

/* True if the record is an event that is handed out now. */
static bool file_take_record(struct perf_file *file, struct bytes record, struct event *ret)
{
	uint64_t time;

	if (file_is_round_end(record)) {
		order_round_begin(file->order, file->latest_ns);
		order_round_end(file->order);
		return false;
	}
	if (!file_is_of_kernel(record)) {
		perf_header_add_record(&file->header, record); /* build-ids come last in a stream */
		return false;
	}
	if (!perf_record_time(record, perf_header_layout(&file->header, record), &time) || time == 0 ||
	    time == UINT64_MAX)
		return !perf_input_is_gone(file->input, record) && file_make_event(file, record, ret);
	if (file->latest_ns < time)
		file->latest_ns = time;
	size_t *loan = perf_input_loan(file->input, record);
	if (loan)
		order_lend(file->order, time, record, loan);
	else
		order_add(file->order, time, record);
	return false;
}

/* The next record that is due and that its file still has. */
static bool file_next_due(struct perf_file *file, struct bytes *ret)
{
	uint64_t time;

	while (order_next(file->order, &time, ret)) {
		if (!perf_input_is_changed(file->input) || !perf_input_is_gone(file->input, *ret))
			return true;
		file->n_damaged++;
	}
	return false;
}

static void file_add_notes(struct perf_file *file)
{
	struct source_info *info = &file->source.info;

	if (file->has_notes)
		return;
	file->has_notes = true;
	if (perf_input_is_cut(file->input))
		vec_push(&info->notes, alloc_text("the recording is truncated"));
	if (file->n_damaged)
		vec_push(&info->notes, alloc_printf("%llu corrupt records were skipped",
						    (unsigned long long)file->n_damaged));
	perf_images_notes(file->images, info);
}

static int file_next(struct source *source, struct event *ret, int timeout_ms, struct diag *diag)
{
	struct perf_file *file = (struct perf_file *)source;
	struct bytes record;

	(void)timeout_ms;
	if (file->back.tid) {
		*ret = file->back;
		file->back.tid = 0;
		return 1;
	}
	for (;;) {
		while (file_next_due(file, &record))
			if (file_make_event(file, record, ret))
				return 1;
		if (file->is_at_end) {
			file_add_notes(file);
			return 0;
		}
		record = file->first;
		file->first = (struct bytes){ 0 };
		int status = record.len ? 1 : perf_input_next(file->input, &record, diag);
		if (status < 0)
			return status;
		file->is_at_end = status == 0;
		if (file->is_at_end)
			order_finish(file->order);
		else if (file_take_record(file, record, ret))
			return 1;
	}
}

static void file_close(struct source *source)
{
	struct perf_file *file = (struct perf_file *)source;

	order_free(file->order); /* before the lender of its records */
	perf_input_close(file->input);
	perf_images_free(file->images);
	perf_header_done(&file->header);
	deep_stacks_free(file->deep);
	group_reads_done(&file->group_reads);
	wakings_done(&file->wakings);
	source_info_done(&source->info);
	free(file->name);
	free(file);
}

static void file_closep(struct perf_file **file)
{
	if (*file)
		file_close(&(*file)->source);
}

static const struct source_ops ops = { .next = file_next, .close = file_close };

int perf_file_open_fd(int fd, const char *name, const struct perf_file_options *options,
		      struct images *images, struct source **ret, struct diag *diag)
{
	CLEANUP(file_closep) struct perf_file *file = alloc_zero(1, sizeof(*file));

	file->source.ops = &ops;
	file->source.images = images;
	file->name = alloc_text(name);
	file->order = order_new();
	file->deep = deep_stacks_new();
	int error = perf_input_open(fd, name, &file->input, diag);
	if (error < 0)
		return error;
	error = file_read_header(file, diag);
	if (error < 0)
		return error;
	file->images = perf_images_new(images, &file->header, file->source.info.isa,
				       options ? options->symfs : NULL);

	struct perf_file *done = TAKE(file);
	*ret = &done->source;
	return 0;
}

int perf_file_open(const char *path, const struct perf_file_options *options, struct images *images,
		   struct source **ret, struct diag *diag)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return diag_set(diag, -errno, "cannot open '%s'", path);
	return perf_file_open_fd(fd, is_stdin ? "standard input" : path, options, images, ret, diag);
}

struct perf_file_origin perf_file_origin(const struct source *source)
{
	const struct perf_file *file = (const struct perf_file *)source;
	const struct source_info *info = &source->info;
	struct perf_file_origin origin = { .has_stacks = perf_header_has_stacks(&file->header) };
	struct utsname here;

	if (uname(&here) < 0 || !info->host || !info->kernel)
		return origin;
	origin.is_this_host = strcmp(info->host, here.nodename) == 0;
	origin.is_this_kernel = origin.is_this_host && strcmp(info->kernel, here.release) == 0 &&
				file->kernel_start != 0 &&
				file->kernel_start == perf_kernel_address(file->kernel_symbol);
	return origin;
}
