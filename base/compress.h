/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress: zlib, xz and zstd, with a limit on the size of the output.
 *
 * Outputs are malloc'ed and belong to the caller.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"

struct buffer {
	uint8_t *at;
	size_t len;
};

/* 0, or -EBADMSG for damaged input, -EFBIG for more than `limit` bytes. */
int decompress_zlib(struct bytes in, size_t limit, struct buffer *ret);
int decompress_xz(struct bytes in, size_t limit, struct buffer *ret);
int decompress_zstd(struct bytes in, size_t limit, struct buffer *ret);
int compress_gzip(struct bytes in, struct buffer *ret);
int compress_zstd(struct bytes in, int level, struct buffer *ret);

/*
 * A stream that compresses what is written to it and writes the result to `to`. Closing it completes the
 * output and leaves `to` open; fclose fails if not everything could be written.
 */
enum compress_kind { COMPRESS_GZIP, COMPRESS_DEFLATE };
FILE *compress_stream(FILE *to, enum compress_kind kind);
/*
 * A stream that decompresses a gzip or zlib stream, which may have several members. Damaged or truncated
 * input is a read error (ferror). Closing it leaves `from` open.
 */
FILE *decompress_stream(FILE *from);

/* The CRC-32 of gzip, which debug links use too. */
uint32_t compress_crc32(struct bytes in);

/* A zstd stream whose frames arrive in pieces (compressed perf.data). */
struct zstd_stream;
struct zstd_stream *zstd_stream_new(void);
void zstd_stream_free(struct zstd_stream *stream);
/* Appends the decompressed data of `in`; ret grows and belongs to the caller. */
int zstd_stream_unpack(struct zstd_stream *stream, struct bytes in, size_t limit, struct buffer *ret);
