/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_inflate: our own zlib reader and zlib itself give the same result.
 *
 * input: u8 how many bytes are requested at a time; the rest is the stream
 */
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/inflate.h"

#define LIMIT (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads everything, a piece at a time; 0 if the stream is damaged. */
static size_t unpack(struct bytes stream, size_t step, uint8_t *room, size_t size)
{
	struct inflater *inflater = inflater_new(stream, room, size);
	size_t n = 0, last = 1;

	for (size_t wanted = step; n < size && last; wanted += step) {
		last = inflater_run(inflater, wanted);
		if (last && last < wanted && last < size)
			abort();
		n = last;
	}
	n = inflater_run(inflater, size);
	inflater_free(inflater);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer plain = { 0 };

	if (size < 3 || (data[1] == 0x1f && data[2] == 0x8b)) /* gzip, which zlib reads too */
		return 0;
	struct bytes stream = { data + 1, size - 1 };
	size_t step = (size_t)data[0] * 17 + 1;
	bool is_good = decompress_zlib(stream, LIMIT, &plain) == 0;
	size_t room = is_good ? plain.len : LIMIT;
	uint8_t *out = malloc(room + 1);
	size_t n = unpack(stream, step, out, room);
	if (is_good && (n != plain.len || (n && memcmp(out, plain.at, n) != 0)))
		abort();
	if (!is_good && n)
		abort();
	free(out);
	free(plain.at);
	return 0;
}
