/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/cfi/encoded.h"

enum { FORMAT_MASK = 0x0f, RELATIVE_MASK = 0x70, INDIRECT = 0x80 };
enum {
	FORM_ABSPTR = 0x0,
	FORM_ULEB = 0x1,
	FORM_U2 = 0x2,
	FORM_U4 = 0x3,
	FORM_U8 = 0x4,
	FORM_SLEB = 0x9,
	FORM_S2 = 0xa,
	FORM_S4 = 0xb,
	FORM_S8 = 0xc
};
enum { REL_ABSOLUTE = 0x00, REL_PC = 0x10, REL_DATA = 0x30, REL_FUNCTION = 0x40, REL_ALIGNED = 0x50 };

uint64_t read_encoded_value(struct reader *r, uint8_t encoding)
{
	switch (encoding & FORMAT_MASK) {
	case FORM_ABSPTR:
	case FORM_U8:
	case FORM_S8:
		return read_u64(r);
	case FORM_ULEB:
		return read_uleb(r);
	case FORM_SLEB:
		return (uint64_t)read_sleb(r);
	case FORM_U2:
		return read_u16(r);
	case FORM_U4:
		return read_u32(r);
	case FORM_S2:
		return (uint64_t)(int16_t)read_u16(r);
	case FORM_S4:
		return (uint64_t)(int32_t)read_u32(r);
	default:
		r->failed = true;
		return 0;
	}
}

static uint64_t encoded_relative_to(struct reader *r, uint8_t encoding, uint64_t here,
				    const struct encoded_base *base)
{
	switch (encoding & RELATIVE_MASK) {
	case REL_ABSOLUTE:
	case REL_ALIGNED:
		return 0;
	case REL_PC:
		return here;
	case REL_DATA:
		return base->data;
	case REL_FUNCTION:
		return base->function;
	default: /* text-relative has no meaning on the supported machines */
		r->failed = true;
		return 0;
	}
}

uint64_t read_encoded(struct reader *r, uint8_t encoding, const struct encoded_base *base)
{
	if (encoding == ENCODING_OMIT)
		return 0;

	uint64_t here = base->vaddr + reader_offset(r);
	if ((encoding & RELATIVE_MASK) == REL_ALIGNED)
		reader_skip(r, -here & 7);

	uint64_t value = read_encoded_value(r, encoding);
	if (value == 0 || r->failed)
		return 0;
	value += encoded_relative_to(r, encoding, here, base);
	if (!(encoding & INDIRECT))
		return value;
	if (!base->image) {
		r->failed = true;
		return 0;
	}
	struct reader target = reader_of(image_bytes(base->image, value));
	value = read_u64(&target);
	r->failed |= target.failed;
	return value;
}
