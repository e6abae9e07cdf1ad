/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum: CRC-32C (Castagnoli polynomial), to detect damaged files.
 */
#pragma once

#include <stdint.h>

#include "base/bytes.h"

/* Of bytes that follow those whose checksum is `before`; 0 at the start. */
uint32_t crc32c(uint32_t before, struct bytes bytes);
