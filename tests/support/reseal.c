/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/reseal.h"

#include <string.h>

#include "base/checksum.h"
#include "profile/container.h"

void profile_reseal(uint8_t *file, size_t len)
{
	uint32_t n, checksum;

	if (len < CONTAINER_HEADER)
		return;
	memcpy(&n, file + 12, 4);
	if (n > (len - CONTAINER_HEADER) / CONTAINER_ENTRY)
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *entry = file + CONTAINER_HEADER + i * CONTAINER_ENTRY;
		uint64_t offset, size;
		memcpy(&offset, entry + 8, 8);
		memcpy(&size, entry + 16, 8);
		checksum = crc32c(0, bytes_slice((struct bytes){ file, len }, offset, size));
		memcpy(entry + 32, &checksum, 4);
	}
	checksum = container_checksum((struct bytes){ file, CONTAINER_HEADER + n * CONTAINER_ENTRY });
	memcpy(file + CONTAINER_CHECKSUM_AT, &checksum, 4);
}
