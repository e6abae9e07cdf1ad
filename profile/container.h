/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container: a header, a table of sections, the sections (FORMAT.md "The container").
 *
 *     header   magic[8]  u16 major  u16 minor  u32 n_sections  u64 file_size  u32 zero  u32 checksum
 *     entry    u32 number  u32 flags  u64 offset  u64 size  u64 unpacked_size  u32 checksum  u32 zero
 */
#pragma once

#include "base/bytes.h"

#define CONTAINER_MAGIC "cpprof\n" /* eight bytes with its zero */
#define CONTAINER_MAJOR 1          /* files of any other major version cannot be read */
#define CONTAINER_MINOR 8          /* a later one only adds */

#define CONTAINER_HEADER 32
#define CONTAINER_ENTRY 40
#define CONTAINER_SECTIONS_MAX 4096

#define SECTION_ZSTD 1u
#define SECTION_NEEDED 2u /* a reader that does not know the section must refuse the file */

struct container_entry {
	uint32_t number, flags;
	uint64_t offset, size, unpacked_size;
	uint32_t checksum; /* of the bytes as they are stored */
};

/* A hostile file must not make us unpack without bound; the writer observes the same limit. */
static inline uint64_t container_unpacked_max(uint64_t size)
{
	return (UINT64_C(1) << 20) + size * 64;
}

/* Over the header and all entries, except for the four bytes of the checksum itself. */
#define CONTAINER_CHECKSUM_AT 28
uint32_t container_checksum(struct bytes header_and_entries);
