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
/* For a store of a whole vector register to memory other than the stack: its size in bytes; otherwise 0. */
unsigned a64_stored_width(struct bytes code);
unsigned x86_stored_width(struct bytes code);
/* Is it an atomic read-modify-write instruction, or part of such a sequence? */
bool a64_is_atomic(struct bytes code);
bool x86_is_atomic(struct bytes code);
/* The number of registers that an instruction loads or stores; stack accesses may be included. */
unsigned a64_accesses(struct bytes code);
unsigned x86_accesses(struct bytes code);
