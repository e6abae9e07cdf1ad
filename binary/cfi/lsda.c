/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lsda: the call-site table of a function's exception data. Each row gives the landing pad for a range of
 * calls.
 */
#include "binary/cfi/encoded.h"
#include "binary/cfi/frames.h"
#include "binary/cfi/frames_private.h"

/* Header: base of the landing pads, position of the types (skipped), encoding of call sites. */
static struct bytes lsda_call_sites(const struct image *image, const struct fde *fde, uint64_t *ret_pad_base,
				    uint8_t *ret_encoding)
{
	struct encoded_base base = { image, fde->lsda, 0, fde->start };
	struct reader r = reader_of(image_bytes(image, fde->lsda));

	uint8_t pad_encoding = read_u8(&r);
	uint64_t pad_base =
		pad_encoding == ENCODING_OMIT ? fde->start : read_encoded(&r, pad_encoding, &base);
	if (read_u8(&r) != ENCODING_OMIT)
		read_uleb(&r);
	*ret_encoding = read_u8(&r);
	*ret_pad_base = pad_base;
	struct bytes sites = read_bytes(&r, read_uleb(&r));
	return r.failed ? (struct bytes){ 0 } : sites;
}

size_t frames_landing_pads(const struct frames *frames, const struct fde *fde, struct landing_site *ret,
			   size_t max)
{
	uint64_t pad_base;
	uint8_t encoding;
	size_t n = 0;

	if (!fde->lsda)
		return 0;
	struct reader r = reader_of(lsda_call_sites(frames_image(frames), fde, &pad_base, &encoding));
	/* Each row is about at least one byte of the function: any number of functions may share a long
	 * table. */
	for (uint64_t rows = 0; reader_left(&r) && rows < fde->size; rows++) {
		uint64_t start = read_encoded_value(&r, encoding), len = read_encoded_value(&r, encoding);
		uint64_t pad = read_encoded_value(&r, encoding);
		read_uleb(&r); /* the action: which types it catches */
		if (r.failed)
			break;
		if (pad == 0 || start > fde->size || len > fde->size - start)
			continue;
		if (n < max)
			ret[n] = (struct landing_site){ fde->start + start, fde->start + start + len,
							pad_base + pad };
		n++;
	}
	return n;
}
