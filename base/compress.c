/* SPDX-License-Identifier: Apache-2.0 */
#include "base/compress.h"

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

#define FIRST_ROOM (64 * 1024)

/* Doubles the buffer, up to one byte more than the limit, so that "too big" can be told from "full". */
static int more_room(struct buffer *out, size_t *room, size_t limit)
{
	if (*room > limit)
		return -EFBIG;

	size_t want = *room ? *room * 2 : FIRST_ROOM;
	*room = want > limit ? limit + 1 : want;
	out->at = alloc_resize(out->at, *room, 1);
	return 0;
}

static int compress_finish(int error, struct buffer *out, size_t limit, struct buffer *ret)
{
	if (error == 0 && out->len > limit)
		error = -EFBIG;
	if (error < 0) {
		free(out->at);
		return error;
	}
	*ret = *out;
	return 0;
}

int decompress_zlib(struct bytes in, size_t limit, struct buffer *ret)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)in.at };
	struct buffer out = { 0 };
	size_t room = 0, fed = 0;
	int status = Z_OK, error = 0;

	if (inflateInit2(&z, 15 + 32) != Z_OK) /* 32: accept a zlib or a gzip header */
		return -ENOMEM;
	while (error == 0 && status != Z_STREAM_END) {
		if (out.len == room && (error = more_room(&out, &room, limit)) < 0)
			break;
		if (z.avail_in == 0) {
			size_t chunk = in.len - fed > UINT32_MAX ? UINT32_MAX : in.len - fed;
			z.avail_in = (uInt)chunk;
			fed += chunk;
		}
		size_t space = room - out.len > UINT32_MAX ? UINT32_MAX : room - out.len;
		z.next_out = out.at + out.len;
		z.avail_out = (uInt)space;
		status = inflate(&z, Z_NO_FLUSH);
		out.len += space - z.avail_out;
		bool starved = z.avail_in == 0 && fed == in.len && z.avail_out > 0;
		if ((status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) ||
		    (starved && status != Z_STREAM_END))
			error = -EBADMSG;
	}
	inflateEnd(&z);
	return compress_finish(error, &out, limit, ret);
}

int decompress_xz(struct bytes in, size_t limit, struct buffer *ret)
{
	lzma_stream z = LZMA_STREAM_INIT;
	struct buffer out = { 0 };
	size_t room = 0;
	lzma_ret status = LZMA_OK;
	int error = 0;

	if (lzma_stream_decoder(&z, 256u << 20, 0) != LZMA_OK)
		return -ENOMEM;
	z.next_in = in.at;
	z.avail_in = in.len;
	while (error == 0 && status != LZMA_STREAM_END) {
		if (out.len == room && (error = more_room(&out, &room, limit)) < 0)
			break;
		z.next_out = out.at + out.len;
		z.avail_out = room - out.len;
		status = lzma_code(&z, LZMA_FINISH);
		out.len = room - z.avail_out;
		if (status != LZMA_OK && status != LZMA_STREAM_END)
			error = -EBADMSG;
	}
	lzma_end(&z);
	return compress_finish(error, &out, limit, ret);
}

struct zstd_stream {
	ZSTD_DStream *zstd;
};

struct zstd_stream *zstd_stream_new(void)
{
	struct zstd_stream *stream = alloc_zero(1, sizeof(*stream));

	stream->zstd = alloc_checked(ZSTD_createDStream());
	return stream;
}

void zstd_stream_free(struct zstd_stream *stream)
{
	if (stream)
		ZSTD_freeDStream(stream->zstd);
	free(stream);
}

int zstd_stream_unpack(struct zstd_stream *stream, struct bytes in, size_t limit, struct buffer *ret)
{
	ZSTD_inBuffer from = { in.at, in.len, 0 };
	size_t room = ret->len;

	for (;;) {
		int error = ret->len == room ? more_room(ret, &room, limit) : 0;
		if (error < 0)
			return error;
		ZSTD_outBuffer to = { ret->at, room, ret->len };
		size_t status = ZSTD_decompressStream(stream->zstd, &to, &from);
		ret->len = to.pos;
		if (ZSTD_isError(status))
			return -EBADMSG;
		if (ret->len > limit)
			return -EFBIG;
		if (from.pos == from.size && to.pos < to.size)
			return 0;
	}
}

#define FRAME_RATIO 64 /* data that claims a higher ratio is unpacked step by step */

/* A single frame that states its unpacked size, as ours do: unpacked without intermediate buffers. */
static bool unpack_frame(struct bytes in, size_t limit, struct buffer *ret)
{
	unsigned long long size = ZSTD_getFrameContentSize(in.at, in.len);

	if (size == 0 || size >= ZSTD_CONTENTSIZE_ERROR || size > limit || size / FRAME_RATIO > in.len ||
	    ZSTD_findFrameCompressedSize(in.at, in.len) != in.len)
		return false;
	uint8_t *at = malloc((size_t)size);
	size_t len = at ? ZSTD_decompress(at, (size_t)size, in.at, in.len) : 0;
	if (!at || ZSTD_isError(len)) {
		free(at);
		return false;
	}
	*ret = (struct buffer){ at, len };
	return true;
}

int decompress_zstd(struct bytes in, size_t limit, struct buffer *ret)
{
	struct buffer out = { 0 };

	if (unpack_frame(in, limit, ret))
		return 0;
	struct zstd_stream *stream = zstd_stream_new();
	int error = zstd_stream_unpack(stream, in, limit, &out);

	zstd_stream_free(stream);
	return compress_finish(error, &out, limit, ret);
}

int compress_zstd(struct bytes in, int level, struct buffer *ret)
{
	size_t room = ZSTD_compressBound(in.len);
	struct buffer out = { alloc_resize(NULL, room, 1), 0 };
	size_t len = ZSTD_compress(out.at, room, in.at, in.len, level);

	if (ZSTD_isError(len)) {
		free(out.at);
		return -EIO;
	}
	out.len = len;
	*ret = out;
	return 0;
}

/* window: 15 zlib, 15 + 16 gzip, -15 raw deflate */
static int deflate_all(struct bytes in, int window, struct buffer *ret)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)in.at };
	struct buffer out = { 0 };
	size_t room = 0, fed = 0;
	int status = Z_OK;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	while (status != Z_STREAM_END) {
		if (out.len == room)
			more_room(&out, &room, SIZE_MAX - 1);
		if (z.avail_in == 0) {
			size_t chunk = in.len - fed > UINT32_MAX ? UINT32_MAX : in.len - fed;
			z.avail_in = (uInt)chunk;
			fed += chunk;
		}
		size_t space = room - out.len > UINT32_MAX ? UINT32_MAX : room - out.len;
		z.next_out = out.at + out.len;
		z.avail_out = (uInt)space;
		status = deflate(&z, fed == in.len ? Z_FINISH : Z_NO_FLUSH);
		out.len += space - z.avail_out;
	}
	deflateEnd(&z);
	*ret = out;
	return 0;
}

int compress_gzip(struct bytes in, struct buffer *ret)
{
	return deflate_all(in, 15 + 16, ret);
}

/* ---- a stream --------------------------------------------------------------------------------- */

#define STREAM_CHUNK (64u << 10)

struct compressor {
	z_stream z;
	FILE *to;
	uint8_t out[STREAM_CHUNK];
};

/* False if the output could not be written. */
static bool push_out(struct compressor *c, int flush)
{
	int status;

	do {
		c->z.next_out = c->out;
		c->z.avail_out = sizeof(c->out);
		status = deflate(&c->z, flush);
		size_t len = sizeof(c->out) - c->z.avail_out;
		if (fwrite(c->out, 1, len, c->to) != len)
			return false;
	} while (c->z.avail_out == 0 || (flush == Z_FINISH && status == Z_OK));
	return true;
}

static ssize_t compressor_write(void *cookie, const char *bytes, size_t len)
{
	struct compressor *c = cookie;

	c->z.next_in = (uint8_t *)(uintptr_t)bytes;
	c->z.avail_in = (uInt)len; /* no more than the stream's buffer at a time */
	return push_out(c, Z_NO_FLUSH) ? (ssize_t)len : 0;
}

static int compressor_close(void *cookie)
{
	struct compressor *c = cookie;
	bool is_written = push_out(c, Z_FINISH);

	deflateEnd(&c->z);
	free(c);
	return is_written ? 0 : EOF;
}

FILE *compress_stream(FILE *to, enum compress_kind kind)
{
	struct compressor *c = alloc_zero(1, sizeof(*c));
	const cookie_io_functions_t functions = { .write = compressor_write, .close = compressor_close };

	c->to = to;
	if (deflateInit2(&c->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kind == COMPRESS_GZIP ? 15 + 16 : -15, 9,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(c);
		return NULL;
	}
	FILE *stream = fopencookie(c, "w", functions);
	if (stream)
		setvbuf(stream, NULL, _IOFBF, STREAM_CHUNK);
	return stream;
}

struct decompressor {
	z_stream z;
	FILE *from;
	bool is_between; /* between members: the input may end here */
	uint8_t in[STREAM_CHUNK];
};

/* False if there is nothing more to unpack. */
static bool pull_in(struct decompressor *d)
{
	if (d->z.avail_in == 0) {
		d->z.next_in = d->in;
		d->z.avail_in = (uInt)fread(d->in, 1, sizeof(d->in), d->from);
	}
	return d->z.avail_in > 0;
}

static ssize_t decompressor_read(void *cookie, char *bytes, size_t len)
{
	struct decompressor *d = cookie;

	d->z.next_out = (uint8_t *)bytes;
	d->z.avail_out = (uInt)(len < STREAM_CHUNK ? len : STREAM_CHUNK);
	for (uInt room = d->z.avail_out; d->z.avail_out == room;) {
		if (!pull_in(d))
			return d->is_between && !ferror(d->from) ? 0 : -1;
		if (d->is_between && inflateReset(&d->z) != Z_OK)
			return -1;
		int status = inflate(&d->z, Z_NO_FLUSH);
		if (status != Z_OK && status != Z_STREAM_END)
			return -1;
		d->is_between = status == Z_STREAM_END;
	}
	return (ssize_t)((uint8_t *)d->z.next_out - (uint8_t *)bytes);
}

static int decompressor_close(void *cookie)
{
	struct decompressor *d = cookie;

	inflateEnd(&d->z);
	free(d);
	return 0;
}

FILE *decompress_stream(FILE *from)
{
	struct decompressor *d = alloc_zero(1, sizeof(*d));
	const cookie_io_functions_t functions = { .read = decompressor_read, .close = decompressor_close };

	d->from = from;
	if (inflateInit2(&d->z, 15 + 32) != Z_OK) { /* 32: accept a zlib or a gzip header */
		free(d);
		return NULL;
	}
	return fopencookie(d, "r", functions);
}

uint32_t compress_crc32(struct bytes in)
{
	return (uint32_t)crc32_z(0, in.at, in.len);
}
