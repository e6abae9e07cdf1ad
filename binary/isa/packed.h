/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed: whether an instruction is SIMD arithmetic, and its vector width in bytes, determined from its bytes
 * alone.
 */
#pragma once

#include <stdbool.h>

#include "base/bytes.h"

#define PACKED_SCALABLE 255 /* as wide as the processor's registers are */

/* 0 = it is not. */
unsigned a64_packed_width(struct bytes code);
unsigned x86_packed_width(struct bytes code);
/* movd, movq from a vector register to a general one. */
bool x86_takes_number(struct bytes code);
/* Of a store of a whole vector register to memory that is not the stack's: its bytes; 0 = it is none. */
unsigned a64_stored_width(struct bytes code);
unsigned x86_stored_width(struct bytes code);
/* Does it read and write memory in one step, as other processors see it, or a part of such a step? */
bool a64_is_atomic(struct bytes code);
bool x86_is_atomic(struct bytes code);
/* How many registers an instruction loads or stores; those of the stack may count. */
unsigned a64_accesses(struct bytes code);
unsigned x86_accesses(struct bytes code);
