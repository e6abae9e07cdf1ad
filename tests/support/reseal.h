/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reseal: corrects all checksums of a (damaged) profile file, so that the damage gets past them and
 * reaches the code behind.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

void profile_reseal(uint8_t *file, size_t len);
