/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/perfdata/perf_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "collector/perfdata/perf_format.h"
#include "collector/perfdata/perf_kernel.h"
#include "collector/perfdata/perf_writer_private.h"

#define BUFFER_SIZE (1u << 20)
#define ROUND_BYTES (32u << 20) /* code may come after its sample, by what the walkers hold */
#define FIX_UP_BYTES (8u << 20) /* how much a recording may lose if it is cut off */
#define IDS_ROOM 4096 /* ids before the data; if there are more, all of them go after it at the end */
#define ENTRY_SIZE (WRITTEN_ATTR_SIZE + 16)

static uint64_t perf_writer_ids_offset(const struct perf_writer *writer)
{
	return PERF_FILE_HEADER_SIZE + writer->events.n * ENTRY_SIZE;
}

static uint64_t perf_writer_data_offset(const struct perf_writer *writer)
{
	return perf_writer_ids_offset(writer) + IDS_ROOM * 8;
}

static size_t perf_writer_count_ids(const struct perf_writer *writer)
{
	size_t n = 0;

	for (size_t i = 0; i < writer->events.n; i++)
		n += writer->events.at[i].ids.n;
	return n;
}

/* ---- bytes to the file ---------------------------------------------------------------------- */

static void perf_writer_write_at(struct perf_writer *writer, struct bytes bytes, uint64_t offset)
{
	while (bytes.len && !writer->error) {
		ssize_t n = pwrite(writer->fd, bytes.at, bytes.len, (off_t)offset);
		if (n < 0 && errno != EINTR)
			writer->error = -errno;
		if (n <= 0)
			continue;
		bytes = bytes_from(bytes, (uint64_t)n);
		offset += (uint64_t)n;
	}
}

static void perf_writer_put_header(struct writer *w, const struct perf_writer *writer, uint64_t features)
{
	write_bytes(w, (struct bytes){ (const uint8_t *)PERF_MAGIC, 8 });
	write_u64(w, PERF_FILE_HEADER_SIZE);
	write_u64(w, ENTRY_SIZE);
	write_u64(w, PERF_FILE_HEADER_SIZE);
	write_u64(w, writer->events.n * ENTRY_SIZE);
	write_u64(w, perf_writer_data_offset(writer));
	write_u64(w, writer->written - perf_writer_data_offset(writer));
	write_u64(w, 0); /* event types: not used since Linux 3.1 */
	write_u64(w, 0);
	write_u64(w, features);
	write_space(w, 24);
}

static void perf_writer_write_attrs(struct writer *w, const struct perf_writer *writer, uint64_t ids_at)
{
	for (size_t i = 0; i < writer->events.n; i++) {
		const struct written_event *event = &writer->events.at[i];
		write_bytes(w, (struct bytes){ (const uint8_t *)&event->attr, WRITTEN_ATTR_SIZE });
		write_u64(w, ids_at);
		write_u64(w, event->ids.n * 8);
		ids_at += event->ids.n * 8;
	}
}

static void perf_writer_write_ids(struct writer *w, const struct perf_writer *writer)
{
	for (size_t i = 0; i < writer->events.n; i++) {
		const struct written_event *event = &writer->events.at[i];
		write_bytes(w, (struct bytes){ (const uint8_t *)event->ids.at, event->ids.n * 8 });
	}
}

/* Updates the header to cover all data written so far. Ids that do not fit wait for the end. */
static void perf_writer_fix_up(struct perf_writer *writer)
{
	bool fits = perf_writer_count_ids(writer) <= IDS_ROOM;
	struct writer w = { 0 };

	perf_writer_put_header(&w, writer, 0);
	perf_writer_write_attrs(&w, writer, perf_writer_ids_offset(writer));
	if (fits)
		perf_writer_write_ids(&w, writer);
	perf_writer_write_at(writer, writer_bytes(&w), 0);
	writer->fixed_up = writer->written;
	writer_done(&w);
}

static void perf_writer_flush(struct perf_writer *writer)
{
	perf_writer_write_at(writer, writer_bytes(&writer->buffer), writer->written);
	writer->written += writer->buffer.len;
	writer_clear(&writer->buffer);
}

/* Records come nearly in time order, so a round may end anywhere after a while; without rounds, perf would
 * hold the whole file in memory. */
static void perf_writer_end_round(struct perf_writer *writer)
{
	write_u32(&writer->buffer, TOOL_FINISHED_ROUND);
	write_u16(&writer->buffer, 0);
	write_u16(&writer->buffer, 8);
}

static void perf_writer_flush_if_full(struct perf_writer *writer)
{
	if (writer->buffer.len < BUFFER_SIZE)
		return;
	if (writer->written + writer->buffer.len - writer->round_at >= ROUND_BYTES) {
		perf_writer_end_round(writer);
		writer->round_at = writer->written + writer->buffer.len;
	}
	perf_writer_flush(writer);
	if (writer->written - writer->fixed_up >= FIX_UP_BYTES)
		perf_writer_fix_up(writer);
}

/* ---- records -------------------------------------------------------------------------------- */

static void perf_writer_note_time(struct perf_writer *writer, struct bytes record)
{
	struct reader r = reader_of(record);
	uint64_t time;

	if (read_u32(&r) != PERF_RECORD_SAMPLE || !perf_record_time(record, &writer->layout, &time))
		return;
	writer->first_ns = writer->first_ns ? writer->first_ns : time;
	writer->last_ns = time;
}

void perf_writer_record(struct perf_writer *writer, struct bytes record)
{
	write_bytes(&writer->buffer, record);
	perf_writer_note_time(writer, record);
	perf_writer_flush_if_full(writer);
}

void perf_writer_sample(struct perf_writer *writer, const struct perf_layout *layout, struct bytes record,
			uint64_t weight)
{
	const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
	uint64_t type = layout->sample_type;
	size_t at = sizeof(struct perf_event_header) + 8 * (size_t)__builtin_popcountll(type & before);
	struct writer *w = &writer->buffer;
	size_t start = w->len;

	write_bytes(w, record);
	if (type & PERF_SAMPLE_PERIOD && at + sizeof(weight) <= record.len)
		memcpy(w->at + start + at, &weight, sizeof(weight));
	perf_writer_note_time(writer, record);
	perf_writer_flush_if_full(writer);
}

void perf_writer_add_id(struct perf_writer *writer, size_t event, uint64_t id)
{
	vec_push(&writer->events.at[event].ids, id);
}

static size_t perf_writer_start_record(struct writer *w, uint32_t type, uint16_t misc)
{
	size_t at = w->len;

	write_u32(w, type);
	write_u16(w, misc);
	write_u16(w, 0);
	return at;
}

static void perf_writer_write_padded(struct writer *w, const char *text, size_t limit)
{
	size_t len = strnlen(text, limit);

	memcpy(write_space(w, (len + 8) & ~(size_t)7), text, len);
}

static void perf_writer_end_record(struct perf_writer *writer, size_t at, const struct event *event)
{
	struct writer *w = &writer->buffer;
	uint64_t type = writer->layout.sample_type;
	const uint64_t others =
		PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	if (writer->layout.sample_id_all) {
		if (type & PERF_SAMPLE_TID) {
			write_u32(w, (uint32_t)event->pid);
			write_u32(w, (uint32_t)event->tid);
		}
		if (type & PERF_SAMPLE_TIME)
			write_u64(w, event->time_ns);
		write_space(w, 8 * (size_t)__builtin_popcountll(type & others));
	}
	uint16_t size = (uint16_t)(w->len - at);
	memcpy(w->at + at + 6, &size, sizeof(size));
}

static void perf_writer_write_comm(struct perf_writer *writer, const struct event *event)
{
	struct writer *w = &writer->buffer;
	size_t at = perf_writer_start_record(w, PERF_RECORD_COMM,
					     event->kind == EVENT_EXEC ? PERF_RECORD_MISC_COMM_EXEC : 0);

	write_u32(w, (uint32_t)event->pid);
	write_u32(w, (uint32_t)event->tid);
	perf_writer_write_padded(w, event->comm, 15);
	perf_writer_end_record(writer, at, event);
}

static void perf_writer_write_fork(struct perf_writer *writer, const struct event *event)
{
	struct writer *w = &writer->buffer;
	size_t at = perf_writer_start_record(w, PERF_RECORD_FORK, 0);

	write_u32(w, (uint32_t)event->pid);
	write_u32(w, (uint32_t)event->fork.parent_pid);
	write_u32(w, (uint32_t)event->tid);
	write_u32(w, (uint32_t)event->fork.parent_tid);
	write_u64(w, 0);
	perf_writer_end_record(writer, at, event);
}

static void perf_writer_write_mapping(struct perf_writer *writer, const struct images *images,
				      const struct event *event)
{
	const struct mapping *mapping = &event->mapping;
	const struct image *image = images_peek(images, mapping->image);
	const struct build_id *id = image && image->build_id.len ? &image->build_id : NULL;
	uint16_t misc = PERF_RECORD_MISC_USER | (id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0);
	struct writer *w = &writer->buffer;
	size_t at = perf_writer_start_record(w, PERF_RECORD_MMAP2, misc);

	write_u32(w, (uint32_t)event->pid);
	write_u32(w, (uint32_t)event->tid);
	write_u64(w, mapping->start);
	write_u64(w, mapping->len);
	write_u64(w, mapping->file_offset);
	uint8_t *identity = write_space(w, 24); /* device and inode, or the build-id and its length */
	if (id) {
		identity[0] = id->len;
		memcpy(identity + 4, id->bytes, id->len);
	}
	write_u32(w, (uint32_t)(PROT_READ | (mapping->is_executable ? PROT_EXEC : 0)));
	write_u32(w, MAP_PRIVATE);
	perf_writer_write_padded(w, mapping->path && mapping->path[0] ? mapping->path : "//anon", 4096);
	perf_writer_end_record(writer, at, event);
}

#define CODE_MAX 32768 /* bytes: a record has less than 64 KiB */

/* Changed code, in the record type that the kernel uses for its own code; perf ignores those of user mode. */
static void perf_writer_write_code(struct perf_writer *writer, const struct event *event)
{
	struct writer *w = &writer->buffer;
	struct bytes code = bytes_slice(event->code.bytes, 0,
					event->code.bytes.len < CODE_MAX ? event->code.bytes.len : CODE_MAX);
	size_t at = perf_writer_start_record(w, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_USER);

	write_u64(w, event->code.addr);
	write_u16(w, 0);
	write_u16(w, (uint16_t)code.len);
	write_bytes(w, code);
	write_space(w, -(12 + code.len) % 8); /* records end at a multiple of eight */
	perf_writer_end_record(writer, at, event);
}

void perf_writer_event(struct perf_writer *writer, const struct images *images, const struct event *event)
{
	switch (event->kind) {
	case EVENT_COMM:
	case EVENT_EXEC:
		perf_writer_write_comm(writer, event);
		break;
	case EVENT_FORK:
		perf_writer_write_fork(writer, event);
		break;
	case EVENT_MAPPING:
		perf_writer_write_mapping(writer, images, event);
		break;
	case EVENT_CODE:
		perf_writer_write_code(writer, event);
		break;
	case EVENT_SAMPLE: /* samples are records already: perf_writer_record */
	case EVENT_EXIT:
	case EVENT_LOST:
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
	case EVENT_SWITCH:
		return;
	}
	perf_writer_flush_if_full(writer);
}

void perf_writer_known(struct perf_writer *writer, const struct images *images, const struct event *event)
{
	struct event known = *event;

	known.time_ns = 0; /* it existed before the recording began */
	perf_writer_event(writer, images, &known);
}

/* The location of the kernel's code, in the form perf expects; nothing if the address is hidden from us. */
static void perf_writer_write_kernel_mapping(struct perf_writer *writer)
{
	const struct event nobody = { .pid = -1 };
	struct writer *w = &writer->buffer;
	const char *symbol;
	uint64_t addr = perf_kernel_start(&symbol);

	if (addr == 0)
		return;

	CLEANUP(freep) char *path = alloc_printf(KERNEL_MAPPING "%s", symbol);
	size_t at = perf_writer_start_record(w, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	write_u32(w, UINT32_MAX);
	write_u32(w, 0);
	write_u64(w, addr);
	write_u64(w, UINT64_MAX - addr);
	write_u64(w, addr);
	perf_writer_write_padded(w, path, 128);
	perf_writer_end_record(writer, at, &nobody);
}

/* ---- beginning and end ---------------------------------------------------------------------- */

void perf_writer_free(struct perf_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->events.n; i++) {
		free(writer->events.at[i].name);
		vec_done(&writer->events.at[i].ids);
	}
	vec_done(&writer->events);
	writer_done(&writer->buffer);
	close_fd(&writer->fd);
	free(writer->name);
	free(writer);
}

static void perf_writer_freep(struct perf_writer **writer)
{
	perf_writer_free(*writer);
}

static void perf_writer_add_event(struct perf_writer *writer, const struct perf_writer_event *event)
{
	struct written_event written = { .attr = *event->attr, .name = alloc_text(event->name) };

	written.attr.size = WRITTEN_ATTR_SIZE;
	vec_push(&writer->events, written);
}

int perf_writer_open(int fd, const char *name, const struct perf_writer_event *events, size_t n_events,
		     struct perf_writer **ret, struct diag *diag)
{
	CLEANUP(perf_writer_freep) struct perf_writer *writer = alloc_zero(1, sizeof(*writer));

	writer->fd = fd;
	writer->name = alloc_text(name);
	if (lseek(fd, 0, SEEK_CUR) < 0)
		return diag_set(diag, -errno, "cannot write raw samples to '%s', which is not a regular file",
				name);
	for (size_t i = 0; i < n_events; i++)
		perf_writer_add_event(writer, &events[i]);
	writer->layout = perf_layout_of(&writer->events.at[0].attr, NULL, 0);
	writer->written = perf_writer_data_offset(writer);
	perf_writer_fix_up(writer);
	if (writer->error)
		return diag_set(diag, writer->error, "cannot write raw samples to '%s'", name);
	perf_writer_write_kernel_mapping(writer);
	*ret = TAKE(writer);
	return 0;
}

/* Features after the data, then the ids again if they did not fit before it, and the header last. */
static void perf_writer_complete(struct perf_writer *writer, const struct images *images,
				 const char *command_line)
{
	struct writer end = { 0 }, start = { 0 };
	uint64_t features, ids_at = perf_writer_ids_offset(writer);

	perf_writer_end_round(writer);
	perf_writer_flush(writer);
	perf_features_write(writer, images, command_line, writer->written, &end, &features);
	if (perf_writer_count_ids(writer) > IDS_ROOM) {
		ids_at = writer->written + end.len;
		perf_writer_write_ids(&end, writer);
	}
	perf_writer_write_at(writer, writer_bytes(&end), writer->written);
	perf_writer_put_header(&start, writer, features);
	perf_writer_write_attrs(&start, writer, ids_at);
	if (ids_at == perf_writer_ids_offset(writer))
		perf_writer_write_ids(&start, writer);
	perf_writer_write_at(writer, writer_bytes(&start), 0);
	writer_done(&start);
	writer_done(&end);
}

int perf_writer_close(struct perf_writer *writer, const struct images *images, const char *command_line,
		      struct diag *diag)
{
	perf_writer_complete(writer, images, command_line);

	int error = writer->error;
	if (error == 0 && close(TAKE_FD(writer->fd)) < 0)
		error = -errno;
	if (error < 0)
		diag_set(diag, error, "cannot write raw samples to '%s'", writer->name);
	perf_writer_free(writer);
	return error;
}
