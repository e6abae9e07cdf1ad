/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/perfdata/perf_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "collector/perfdata/perf_format.h"
#include "collector/perfdata/perf_window.h"
#include "collector/record/perf_record.h"

#define UNPACK_LIMIT (256u << 20) /* one compressed record holds part of one ring */
#define MIN_ATTR_ENTRY (64 + 16)  /* the oldest attr, and the place of its ids */
#define MAX_ATTR_ENTRY 4096

struct perf_input {
	char *name;
	struct perf_file_header header;
	struct perf_window window;
	bool is_cut;

	struct zstd_stream *zstd;
	struct buffer unpacked;
	size_t unpacked_at;
};

static void input_closep(struct perf_input **input)
{
	perf_input_close(*input);
}

void perf_input_close(struct perf_input *input)
{
	if (!input)
		return;
	perf_window_close(&input->window);
	zstd_stream_free(input->zstd);
	free(input->unpacked.at);
	free(input->name);
	free(input);
}

const struct perf_file_header *perf_input_header(const struct perf_input *input)
{
	return &input->header;
}

bool perf_input_is_cut(const struct perf_input *input)
{
	return input->is_cut || input->window.is_changed;
}

size_t *perf_input_loan(struct perf_input *input, struct bytes record)
{
	return perf_window_loan(&input->window, record);
}

bool perf_input_is_changed(const struct perf_input *input)
{
	return input->window.is_changed;
}

bool perf_input_is_gone(const struct perf_input *input, struct bytes record)
{
	return perf_window_is_gone(&input->window, record);
}

/* ---- the header ----------------------------------------------------------------------------- */

static int input_refuse(const struct perf_input *input, int error, const char *why, struct diag *diag)
{
	diag_set(diag, error, "cannot read '%s'", input->name);
	diag_why(diag, "%s", why);
	return error;
}

static struct perf_section input_read_section(struct reader *r)
{
	struct perf_section section;

	section.offset = read_u64(r);
	section.size = read_u64(r);
	return section;
}

static int input_check_magic(const struct perf_input *input, struct bytes start, struct diag *diag)
{
	if (start.len >= 8 && memcmp(start.at, PERF_MAGIC, 8) == 0)
		return 0;
	if (start.len >= 8 && memcmp(start.at, PERF_MAGIC_SWAPPED, 8) == 0)
		return input_refuse(input, -ENOTSUP, "it was recorded on a big-endian machine", diag);
	if (start.len >= 8 && memcmp(start.at, PERF_MAGIC_OLD, 8) == 0)
		return input_refuse(input, -ENOTSUP, "it was written by a perf older than Linux 3.2", diag);
	return input_refuse(input, -EBADMSG, start.len ? "it is not a perf.data file" : "it is empty", diag);
}

static int input_read_file_header(struct perf_input *input, struct diag *diag)
{
	struct perf_file_header *header = &input->header;
	struct reader r = reader_of(perf_window_bytes(&input->window));

	reader_skip(&r, 16);
	header->attr_entry_size = read_u64(&r);
	header->attrs = input_read_section(&r);
	header->data = input_read_section(&r);
	input_read_section(&r); /* event types: not used since Linux 3.1 */
	for (size_t i = 0; i < ARRAY_LEN(header->features); i++)
		header->features[i] = read_u64(&r);
	if (r.failed)
		return input_refuse(input, -EBADMSG, "its header is truncated", diag);
	if (header->attr_entry_size < MIN_ATTR_ENTRY || header->attr_entry_size > MAX_ATTR_ENTRY)
		return input_refuse(input, -EBADMSG, "its header is corrupt", diag);
	if (!input->window.is_seekable) {
		input_refuse(input, -ENOTSUP, "a recording in the file format cannot be read from a pipe",
			     diag);
		diag_hint(diag, "record with `perf record -o -` into the pipe, or save it to a file first");
		return -ENOTSUP;
	}
	return 0;
}

/* A recording that was killed states no size: its data reach to the end of the file. */
static int input_go_to_data(struct perf_input *input, struct diag *diag)
{
	const struct perf_section *data = &input->header.data;

	if (data->offset > INT64_MAX || data->size > INT64_MAX - data->offset)
		return input_refuse(input, -EBADMSG, "its header is corrupt", diag);
	input->is_cut = data->size == 0;
	perf_window_go(&input->window, data->offset, data->size ? data->offset + data->size : UINT64_MAX);
	return 0;
}

static int input_read_header(struct perf_input *input, struct diag *diag)
{
	int error = perf_window_fill(&input->window, PERF_STREAM_HEADER_SIZE);
	if (error < 0)
		return diag_set(diag, error, "cannot read '%s'", input->name);

	struct bytes start = perf_window_bytes(&input->window);
	error = input_check_magic(input, start, diag);
	if (error < 0)
		return error;

	struct reader r = reader_of(bytes_from(start, 8));
	uint64_t size = read_u64(&r);
	if (r.failed)
		return input_refuse(input, -EBADMSG, "its header is truncated", diag);
	if (size == PERF_STREAM_HEADER_SIZE) {
		input->header.is_stream = true;
		perf_window_use(&input->window, size);
		return 0;
	}
	error = perf_window_fill(&input->window, PERF_FILE_HEADER_SIZE);
	if (error < 0)
		return diag_set(diag, error, "cannot read '%s'", input->name);
	error = input_read_file_header(input, diag);
	return error < 0 ? error : input_go_to_data(input, diag);
}

static int input_open_window(struct perf_input *input, int fd, struct diag *diag)
{
	int error = perf_window_open(&input->window, fd);

	if (error == -EISDIR && faccessat(fd, "data", F_OK, 0) == 0) { /* as perf lays them out */
		input_refuse(input, -ENOTSUP, "it is a directory of recordings, one per thread of perf",
			     diag);
		diag_hint(diag, "record again without `--threads`");
		return -ENOTSUP;
	}
	return error < 0 ? diag_set(diag, error, "cannot read '%s'", input->name) : 0;
}

int perf_input_open(int fd, const char *name, struct perf_input **ret, struct diag *diag)
{
	CLEANUP(input_closep) struct perf_input *input = alloc_zero(1, sizeof(*input));

	input->name = alloc_text(name);
	int error = input_open_window(input, fd, diag);
	if (error == 0)
		error = input_read_header(input, diag);
	if (error < 0)
		return error;
	*ret = TAKE(input);
	return 0;
}

int perf_input_section(struct perf_input *input, struct perf_section section, size_t limit,
		       struct buffer *ret)
{
	struct stat st;

	*ret = (struct buffer){ 0 };
	if (section.size > limit)
		return -EFBIG;
	if (fstat(input->window.fd, &st) < 0)
		return -errno;
	if (section.offset >= (uint64_t)st.st_size)
		return 0;

	uint64_t left = (uint64_t)st.st_size - section.offset;
	size_t len = (size_t)(section.size < left ? section.size : left);
	struct buffer out = { alloc_resize(NULL, len ? len : 1, 1), 0 };
	while (out.len < len) {
		ssize_t n = pread(input->window.fd, out.at + out.len, len - out.len,
				  (off_t)(section.offset + out.len));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		out.len += (size_t)n;
	}
	*ret = out;
	return 0;
}

/* ---- records -------------------------------------------------------------------------------- */

static int input_damaged(const struct perf_input *input, const char *why, struct diag *diag)
{
	diag_set(diag, -EBADMSG, "cannot read '%s'", input->name);
	diag_why(diag, "%s at offset %llu", why, (unsigned long long)perf_window_offset(&input->window));
	return -EBADMSG;
}

/* The end, expected or not. */
static int input_end(struct perf_input *input)
{
	struct perf_window *window = &input->window;

	input->is_cut |= window->start < window->end ||
			 (window->limit != UINT64_MAX && window->read_at < window->limit);
	perf_window_use(window, window->end - window->start);
	return 0;
}

static int input_next_raw(struct perf_input *input, struct bytes *ret, struct diag *diag)
{
	struct perf_window *window = &input->window;
	int error = perf_window_fill(window, 8);
	if (error < 0)
		return diag_set(diag, error, "cannot read '%s'", input->name);

	struct reader r = reader_of(perf_window_bytes(window));
	reader_skip(&r, 6);
	size_t size = read_u16(&r);
	if (r.failed)
		return input_end(input);
	if (size < 8) /* or the file has just been truncated there */
		return perf_window_distrust(window) ? input_next_raw(input, ret, diag)
						    : input_damaged(input, "a record of length 0", diag);
	error = perf_window_fill(window, size);
	if (error < 0)
		return diag_set(diag, error, "cannot read '%s'", input->name);
	if (window->end - window->start < size)
		return input_end(input);
	*ret = bytes_slice(perf_window_bytes(window), 0, size);
	__builtin_prefetch(ret->at +
			   2 * size); /* most samples have the same size: the next but one starts there */
	perf_window_use(window, size);
	return 1;
}

/* What follows a record without being counted in its size. */
static uint64_t input_payload_of(struct bytes record)
{
	struct reader r = reader_of(record);
	uint32_t type = read_u32(&r);

	reader_skip(&r, 4);
	if (type == TOOL_AUXTRACE)
		return read_u64(&r);
	return type == TOOL_TRACING_DATA ? read_u32(&r) : 0;
}

/* The compressed bytes of a record; empty if it is not compressed. */
static struct bytes input_packed_part(struct bytes record)
{
	struct reader r = reader_of(record);
	uint32_t type = read_u32(&r);

	reader_skip(&r, 4);
	if (type == TOOL_COMPRESSED2)
		return read_bytes(&r, read_u64(&r));
	return type == TOOL_COMPRESSED ? bytes_from(record, 8) : (struct bytes){ 0 };
}

static int input_unpack(struct perf_input *input, struct bytes packed, struct diag *diag)
{
	struct buffer *buffer = &input->unpacked;
	size_t left = buffer->len - input->unpacked_at;

	if (!input->zstd)
		input->zstd = zstd_stream_new();
	if (left) /* a record may continue in the next piece */
		memmove(buffer->at, buffer->at + input->unpacked_at, left);
	buffer->len = left;
	input->unpacked_at = 0;
	if (zstd_stream_unpack(input->zstd, packed, UNPACK_LIMIT, buffer) == 0)
		return 0;
	if (!perf_window_is_gone(&input->window, packed))
		return input_damaged(input, "a compressed record that cannot be decompressed", diag);
	input->is_cut = true; /* just now; the end comes next */
	buffer->len = 0;
	return 0;
}

static int input_next_unpacked(struct perf_input *input, struct bytes *ret, struct diag *diag)
{
	struct bytes left =
		bytes_from((struct bytes){ input->unpacked.at, input->unpacked.len }, input->unpacked_at);
	size_t size = perf_record_size(left);

	if (size == 0) {
		struct reader r = reader_of(left);
		reader_skip(&r, 6);
		if (read_u16(&r) < 8 && !r.failed)
			return input_damaged(input, "a compressed record of length 0", diag);
		return 0;
	}
	*ret = bytes_slice(left, 0, size);
	input->unpacked_at += size;
	return 1;
}

int perf_input_next(struct perf_input *input, struct bytes *ret, struct diag *diag)
{
	for (;;) {
		int status = input_next_unpacked(input, ret, diag);
		if (status != 0)
			return status;
		status = input_next_raw(input, ret, diag);
		if (status == 0)
			input->is_cut |= input->unpacked_at < input->unpacked.len;
		if (status <= 0)
			return status;

		struct bytes packed = input_packed_part(*ret);
		uint64_t payload = input_payload_of(*ret);
		if (packed.len) {
			status = input_unpack(input, packed, diag);
		} else if (payload) {
			status = perf_window_skip(&input->window, payload);
			if (status < 0)
				diag_set(diag, status, "cannot read '%s'", input->name);
			input->is_cut |= status > 0;
		} else {
			return 1;
		}
		if (status < 0)
			return status;
	}
}
