/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate: decompresses a zlib stream from its start, only as far as requested.
 *
 * Compressed debug sections are large, and often only their first half is needed. Decompression cannot start
 * in the middle, but it can be paused there and continued later: the output stays in place and may be read
 * while more is appended.
 *
 * It is our own implementation because zlib takes nearly twice as long, and faster libraries can only
 * decompress everything.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Whether `packed` bytes can decompress to that size: a code of one bit stands for at most 258 bytes. */
bool inflate_is_possible(size_t packed, size_t unpacked);

/* Borrows the stream and the output buffer, which must have exactly the decompressed size. */
struct inflater;
struct inflater *inflater_new(struct bytes stream, uint8_t *room, size_t size);
void inflater_free(struct inflater *inflater);

/*
 * Decompresses until there are `wanted` bytes or the end is reached; later calls continue from there. Returns
 * the number of bytes available: fewer than wanted only at the end. 0 if the stream is damaged; at the end
 * this includes a wrong checksum.
 */
size_t inflater_run(struct inflater *inflater, size_t wanted);
