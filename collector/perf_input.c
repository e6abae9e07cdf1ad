/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/perf_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "collector/perf_format.h"
#include "collector/perf_record.h"

#define WINDOW_SIZE (256u << 10)  /* a few of the largest records */
#define UNPACK_LIMIT (256u << 20) /* one compressed record holds a part of one ring */
#define MIN_ATTR_ENTRY (64 + 16)  /* the first attr there was, and where its ids are */
#define MAX_ATTR_ENTRY 4096

struct perf_input {
	int fd;
	char *name;
	struct perf_file_header header;
	bool is_seekable, is_cut, is_at_eof;

	uint8_t *window;
	size_t start, end; /* of what was read and not yet used */
	uint64_t read_at;  /* file offset of what is read next */
	uint64_t data_end; /* no record lies behind; UINT64_MAX: until the file ends */

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
	close_fd(&input->fd);
	zstd_stream_free(input->zstd);
	free(input->unpacked.at);
	free(input->window);
	free(input->name);
	free(input);
}

const struct perf_file_header *perf_input_header(const struct perf_input *input)
{
	return &input->header;
}

bool perf_input_is_cut(const struct perf_input *input)
{
	return input->is_cut;
}

/* ---- the window ----------------------------------------------------------------------------- */

static ssize_t read_some(struct perf_input *input, void *to, size_t len)
{
	for (;;) {
		ssize_t n = input->is_seekable ? pread(input->fd, to, len, (off_t)input->read_at)
					       : read(input->fd, to, len);
		if (n >= 0 || errno != EINTR)
			return n < 0 ? -errno : n;
	}
}

/* Makes at least `want` bytes available, if the data goes on for as long; want <= WINDOW_SIZE. */
static int fill(struct perf_input *input, size_t want)
{
	while (input->end - input->start < want && !input->is_at_eof) {
		if (input->start + want > WINDOW_SIZE || input->start == input->end) {
			memmove(input->window, input->window + input->start, input->end - input->start);
			input->end -= input->start;
			input->start = 0;
		}
		uint64_t left = input->data_end - input->read_at;
		size_t room = WINDOW_SIZE - input->end;
		ssize_t n = read_some(input, input->window + input->end, room < left ? room : (size_t)left);
		if (n < 0)
			return (int)n;
		input->is_at_eof = n == 0;
		input->end += (size_t)n;
		input->read_at += (uint64_t)n;
	}
	return 0;
}

static struct bytes window_bytes(const struct perf_input *input)
{
	return (struct bytes){ input->window + input->start, input->end - input->start };
}

static int skip(struct perf_input *input, uint64_t len)
{
	while (len > 0) {
		size_t have = input->end - input->start;
		size_t step = len < have ? (size_t)len : have;
		input->start += step;
		len -= step;
		if (len == 0)
			break;
		if (input->is_seekable) {
			uint64_t left = input->data_end - input->read_at;
			input->is_cut |= len > left;
			input->read_at += len < left ? len : left;
			break;
		}
		int error = fill(input, 1);
		if (error < 0)
			return error;
		if (input->start == input->end) {
			input->is_cut = true;
			break;
		}
	}
	return 0;
}

/* ---- the header ----------------------------------------------------------------------------- */

static int refuse(const struct perf_input *input, int error, const char *why, struct diag *diag)
{
	diag_set(diag, error, "cannot read '%s'", input->name);
	diag_why(diag, "%s", why);
	return error;
}

static struct perf_section read_section(struct reader *r)
{
	struct perf_section section;

	section.offset = read_u64(r);
	section.size = read_u64(r);
	return section;
}

static int check_magic(const struct perf_input *input, struct bytes start, struct diag *diag)
{
	if (start.len >= 8 && memcmp(start.at, PERF_MAGIC, 8) == 0)
		return 0;
	if (start.len >= 8 && memcmp(start.at, PERF_MAGIC_SWAPPED, 8) == 0)
		return refuse(input, -ENOTSUP, "it was recorded on a big-endian machine", diag);
	if (start.len >= 8 && memcmp(start.at, PERF_MAGIC_OLD, 8) == 0)
		return refuse(input, -ENOTSUP, "its format is of a perf older than Linux 3.2", diag);
	return refuse(input, -EBADMSG, start.len ? "it is no perf.data file" : "it is empty", diag);
}

static int read_file_header(struct perf_input *input, struct diag *diag)
{
	struct perf_file_header *header = &input->header;
	struct reader r = reader_of(window_bytes(input));

	reader_skip(&r, 16);
	header->attr_entry_size = read_u64(&r);
	header->attrs = read_section(&r);
	header->data = read_section(&r);
	read_section(&r); /* event types: not used since Linux 3.1 */
	for (size_t i = 0; i < ARRAY_LEN(header->features); i++)
		header->features[i] = read_u64(&r);
	if (r.failed)
		return refuse(input, -EBADMSG, "its header is cut off", diag);
	if (header->attr_entry_size < MIN_ATTR_ENTRY || header->attr_entry_size > MAX_ATTR_ENTRY)
		return refuse(input, -EBADMSG, "its header is damaged", diag);
	if (!input->is_seekable) {
		refuse(input, -ENOTSUP, "the file's header needs a file, not a pipe", diag);
		diag_hint(diag, "record with `perf record -o -` into the pipe, or save it to a file first");
		return -ENOTSUP;
	}
	return 0;
}

/* A recording that was killed states no size: its data goes as far as the file. */
static int go_to_data(struct perf_input *input, struct diag *diag)
{
	const struct perf_section *data = &input->header.data;

	if (data->offset > INT64_MAX || data->size > INT64_MAX - data->offset)
		return refuse(input, -EBADMSG, "its header is damaged", diag);
	input->start = input->end = 0;
	input->is_at_eof = false;
	input->read_at = data->offset;
	input->is_cut = data->size == 0;
	input->data_end = data->size ? data->offset + data->size : UINT64_MAX;
	return 0;
}

static int read_header(struct perf_input *input, struct diag *diag)
{
	int error = fill(input, PERF_STREAM_HEADER_SIZE);
	if (error < 0)
		return diag_set(diag, error, "cannot read '%s'", input->name);

	struct bytes start = window_bytes(input);
	error = check_magic(input, start, diag);
	if (error < 0)
		return error;

	struct reader r = reader_of(bytes_from(start, 8));
	uint64_t size = read_u64(&r);
	if (r.failed)
		return refuse(input, -EBADMSG, "its header is cut off", diag);
	if (size == PERF_STREAM_HEADER_SIZE) {
		input->header.is_stream = true;
		return skip(input, size);
	}
	error = fill(input, PERF_FILE_HEADER_SIZE);
	if (error < 0)
		return diag_set(diag, error, "cannot read '%s'", input->name);
	error = read_file_header(input, diag);
	return error < 0 ? error : go_to_data(input, diag);
}

static int check_kind(struct perf_input *input, struct diag *diag)
{
	struct stat st;

	if (fstat(input->fd, &st) < 0)
		return diag_set(diag, -errno, "cannot read '%s'", input->name);
	if (S_ISDIR(st.st_mode)) {
		refuse(input, -ENOTSUP, "it is a directory of recordings, one per thread of perf", diag);
		diag_hint(diag, "record again without `--threads`");
		return -ENOTSUP;
	}
	input->is_seekable = S_ISREG(st.st_mode) || S_ISBLK(st.st_mode);
	return 0;
}

int perf_input_open(int fd, const char *name, struct perf_input **ret, struct diag *diag)
{
	CLEANUP(input_closep) struct perf_input *input = alloc_zero(1, sizeof(*input));

	input->fd = fd;
	input->name = alloc_text(name);
	input->window = alloc_resize(NULL, WINDOW_SIZE, 1);
	input->data_end = UINT64_MAX;
	int error = check_kind(input, diag);
	if (error == 0)
		error = read_header(input, diag);
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
	if (fstat(input->fd, &st) < 0)
		return -errno;
	if (section.offset >= (uint64_t)st.st_size)
		return 0;

	uint64_t left = (uint64_t)st.st_size - section.offset;
	size_t len = (size_t)(section.size < left ? section.size : left);
	struct buffer out = { alloc_resize(NULL, len ? len : 1, 1), 0 };
	while (out.len < len) {
		ssize_t n =
			pread(input->fd, out.at + out.len, len - out.len, (off_t)(section.offset + out.len));
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

static int damaged(const struct perf_input *input, const char *why, struct diag *diag)
{
	uint64_t offset = input->read_at - (input->end - input->start);

	diag_set(diag, -EBADMSG, "cannot read '%s'", input->name);
	diag_why(diag, "%s at offset %llu", why, (unsigned long long)offset);
	return -EBADMSG;
}

static int next_raw(struct perf_input *input, struct bytes *ret, struct diag *diag)
{
	int error = fill(input, 8);
	if (error < 0)
		return diag_set(diag, error, "cannot read '%s'", input->name);
	if (input->start == input->end)
		return 0;

	struct reader r = reader_of(window_bytes(input));
	reader_skip(&r, 6);
	size_t size = read_u16(&r);
	if (!r.failed && size < 8)
		return damaged(input, "a record of no length", diag);
	error = fill(input, size);
	if (error < 0)
		return diag_set(diag, error, "cannot read '%s'", input->name);
	if (r.failed || input->end - input->start < size) {
		input->is_cut = true;
		input->start = input->end;
		return 0;
	}
	*ret = bytes_slice(window_bytes(input), 0, size);
	input->start += size;
	return 1;
}

/* What follows a record and is not counted in its size. */
static uint64_t payload_of(struct bytes record)
{
	struct reader r = reader_of(record);
	uint32_t type = read_u32(&r);

	reader_skip(&r, 4);
	if (type == TOOL_AUXTRACE)
		return read_u64(&r);
	return type == TOOL_TRACING_DATA ? read_u32(&r) : 0;
}

/* The compressed bytes of a record; empty if it is no compressed one. */
static struct bytes packed_part(struct bytes record)
{
	struct reader r = reader_of(record);
	uint32_t type = read_u32(&r);

	reader_skip(&r, 4);
	if (type == TOOL_COMPRESSED2)
		return read_bytes(&r, read_u64(&r));
	return type == TOOL_COMPRESSED ? bytes_from(record, 8) : (struct bytes){ 0 };
}

static int unpack(struct perf_input *input, struct bytes packed, struct diag *diag)
{
	struct buffer *buffer = &input->unpacked;
	size_t left = buffer->len - input->unpacked_at;

	if (!input->zstd)
		input->zstd = zstd_stream_new();
	if (left) /* a record may go on in the next piece */
		memmove(buffer->at, buffer->at + input->unpacked_at, left);
	buffer->len = left;
	input->unpacked_at = 0;
	if (zstd_stream_unpack(input->zstd, packed, UNPACK_LIMIT, buffer) < 0)
		return damaged(input, "a compressed record that does not unpack", diag);
	return 0;
}

static int next_unpacked(struct perf_input *input, struct bytes *ret, struct diag *diag)
{
	struct bytes left =
		bytes_from((struct bytes){ input->unpacked.at, input->unpacked.len }, input->unpacked_at);
	size_t size = perf_record_size(left);

	if (size == 0) {
		struct reader r = reader_of(left);
		reader_skip(&r, 6);
		if (read_u16(&r) < 8 && !r.failed)
			return damaged(input, "a compressed record of no length", diag);
		return 0;
	}
	*ret = bytes_slice(left, 0, size);
	input->unpacked_at += size;
	return 1;
}

int perf_input_next(struct perf_input *input, struct bytes *ret, struct diag *diag)
{
	for (;;) {
		int status = next_unpacked(input, ret, diag);
		if (status != 0)
			return status;
		status = next_raw(input, ret, diag);
		if (status == 0)
			input->is_cut |= input->unpacked_at < input->unpacked.len;
		if (status <= 0)
			return status;

		struct bytes packed = packed_part(*ret);
		uint64_t payload = payload_of(*ret);
		if (packed.len) {
			status = unpack(input, packed, diag);
		} else if (payload) {
			status = skip(input, payload);
			if (status < 0)
				diag_set(diag, status, "cannot read '%s'", input->name);
		} else {
			return 1;
		}
		if (status < 0)
			return status;
	}
}
