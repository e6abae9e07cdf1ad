/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate: a zlib stream unpacked from its beginning, and no further than is asked for.
 *
 * Compressed debug sections are large, and what is asked of one is often in its first half. A stream
 * cannot be entered in the middle, but it can be left there and gone on with later: what was unpacked stays
 * where it is, and may be read while more is added behind it.
 *
 * Written for this, because zlib takes nearly twice as long and faster libraries unpack all or nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Can `packed` bytes unpack to so many? A code of one bit stands for 258 bytes at most. */
bool inflate_is_possible(size_t packed, size_t unpacked);

/* Borrows the stream, and the room it is unpacked into: all of its bytes, no more and no fewer. */
struct inflater;
struct inflater *inflater_new(struct bytes stream, uint8_t *room, size_t size);
void inflater_free(struct inflater *inflater);

/*
 * Unpacks until there are `wanted` bytes or all; later calls go on from there. How many there are now: fewer
 * than wanted only at the end of the room. 0 if the stream is damaged, which for its last bytes includes a
 * wrong checksum.
 */
size_t inflater_run(struct inflater *inflater, size_t wanted);
