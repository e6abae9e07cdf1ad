/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reseal: makes every checksum of a (damaged) profile file right again, so that damage gets past
 * them and reaches what is behind.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

void profile_reseal(uint8_t *file, size_t len);
