/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code in the file: a table of whose it is and how long, then the bytes of all.
 */
#include <stdlib.h>

#include "profile/section.h"

static const struct column code_columns[] = {
	COLUMN(struct profile_code, image, CODE_DELTA, TO(IMAGE)),
	COLUMN(struct profile_code, vaddr, CODE_IN_IMAGE),
	COLUMN(struct profile_code, len, CODE_PLAIN),
};
static const struct table code_table = TABLE(struct profile_code, code_columns, .image_column = 0);

void codes_encode(const struct profile *profile, struct writer *ret)
{
	if (profile->codes.n == 0)
		return;
	section_write_table(&code_table, profile->codes.at, profile->codes.n, ret);
	for (size_t i = 0; i < profile->codes.n; i++)
		write_bytes(ret, (struct bytes){ profile->code_bytes.at + profile->codes.at[i].offset,
						 profile->codes.at[i].len });
}

/* Where each piece lies, and that they are in order and all there. */
static int place(const struct decoder *decoder, struct profile *profile, size_t n_bytes)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < profile->codes.n; i++) {
		struct profile_code *code = &profile->codes.at[i], *last = code - 1;
		if (i > 0 &&
		    (code->image < last->image || (code->image == last->image && code->vaddr <= last->vaddr)))
			return decoder_refuse(decoder, "code %zu is out of order", i);
		code->offset = (uint32_t)offset;
		offset += code->len;
		if (offset > n_bytes)
			return decoder_refuse(decoder, "the code of function %zu is truncated", i);
	}
	return offset == n_bytes ? 0 : decoder_refuse(decoder, "code that belongs to no function");
}

int codes_decode(struct decoder *decoder, struct profile *profile)
{
	struct reader r = reader_of(decoder->bytes);
	void *rows;
	int error = section_read_table(decoder, &r, &code_table, &rows, &profile->codes.n);

	if (error < 0)
		return error;
	profile->codes.at = rows;
	profile->codes.cap = profile->codes.n;
	struct bytes bytes = read_bytes(&r, reader_left(&r));
	if (bytes.len > UINT32_MAX)
		return decoder_refuse(decoder, "more code than a profile can hold");
	vec_reserve(&profile->code_bytes, bytes.len);
	if (bytes.len)
		memcpy(profile->code_bytes.at, bytes.at, bytes.len);
	profile->code_bytes.n = bytes.len;
	return place(decoder, profile, bytes.len);
}
