/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checksum.h"

#include <string.h>

#define STEP 8     /* bytes at a time */
#define MANY 4096u /* from this many bytes on, building the tables pays off */

/* What four bits do to the remainder; the polynomial 0x1edc6f41, bits reversed, is entry 8. */
static const uint32_t nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static uint32_t add_byte(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	crc = crc >> 4 ^ nibble[crc & 15];
	return crc >> 4 ^ nibble[crc & 15];
}

/* tables[k][byte]: what a byte does to the remainder when k more follow it. */
static void make_tables(uint32_t tables[STEP][256])
{
	for (uint32_t byte = 0; byte < 256; byte++)
		tables[0][byte] = add_byte(0, (uint8_t)byte);
	for (size_t k = 1; k < STEP; k++)
		for (uint32_t byte = 0; byte < 256; byte++)
			tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 255];
}

/* Whole steps; the rest is left in bytes. */
static uint32_t add_many(uint32_t crc, struct bytes *bytes)
{
	uint32_t tables[STEP][256];

	make_tables(tables);
	for (; bytes->len >= STEP; *bytes = bytes_from(*bytes, STEP)) {
		uint64_t next;
		memcpy(&next, bytes->at, STEP);
		next ^= crc;
		crc = 0;
		for (size_t k = 0; k < STEP; k++)
			crc ^= tables[STEP - 1 - k][next >> 8 * k & 255];
	}
	return crc;
}

uint32_t crc32c(uint32_t before, struct bytes bytes)
{
	uint32_t crc = ~before;

	if (bytes.len >= MANY)
		crc = add_many(crc, &bytes);
	for (size_t i = 0; i < bytes.len; i++)
		crc = add_byte(crc, bytes.at[i]);
	return ~crc;
}
