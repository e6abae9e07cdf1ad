/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_point: where the code at an image's entry point ends.
 *
 * Its unwind entry may cover more. In static AArch64 programs, the entry of _start also covers __wrap_main, a
 * function whose address _start passes on, and marks both as outermost.
 */
#pragma once

#include "binary/elf/image.h"

/*
 * The first address after the entry point that its code forms and does not fall through to: another function
 * starts there. `limit` if there is none before it.
 */
uint64_t entry_point_end(const struct image *image, uint64_t limit);
