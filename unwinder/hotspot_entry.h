/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_entry: Java methods that have not made their frame yet (AArch64).
 *
 * A compiled caller of an interpreted method goes through an adapter, which moves the arguments to the stack
 * and jumps to the interpreter; that makes room for the method's variables, and only then a frame. All the
 * while the return address and the caller's frame pointer are in their registers, and before sp is moved
 * another register takes the caller's. What the code does next shows which.
 */
#pragma once

#include "recipes/ahead.h"

/* The register that holds the caller's sp at pc; REG_NONE if the code makes no such frame. */
unsigned hotspot_entry_sender(const struct isa *isa, ahead_code code, void *context, uint64_t pc);
