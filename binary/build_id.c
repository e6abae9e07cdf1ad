/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id: the name a linker gives to what it has made.
 */
#include <elf.h>
#include <string.h>

#include "binary/image.h"

struct build_id build_id_from_notes(struct bytes notes)
{
	struct reader r = reader_of(notes);
	struct build_id id = { 0 };

	while (reader_left(&r) >= 12) {
		uint32_t name_len = read_u32(&r), desc_len = read_u32(&r), type = read_u32(&r);
		struct bytes name = read_bytes(&r, name_len);
		reader_skip(&r, -name_len & 3u);
		struct bytes desc = read_bytes(&r, desc_len);
		if (r.failed)
			break;
		if (type == NT_GNU_BUILD_ID && name.len == 4 && memcmp(name.at, "GNU", 4) == 0 && desc.len) {
			id.len = (uint8_t)(desc.len < BUILD_ID_MAX ? desc.len : BUILD_ID_MAX);
			memcpy(id.bytes, desc.at, id.len);
			break;
		}
		reader_skip(&r, -desc_len & 3u);
	}
	return id;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

void build_id_format(const struct build_id *id, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < id->len; i++) {
		*text++ = digits[id->bytes[i] >> 4];
		*text++ = digits[id->bytes[i] & 15];
	}
	*text = '\0';
}
