/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_entry: Java methods that have not set up their frame yet (AArch64).
 *
 * A compiled caller of an interpreted method goes through an adapter, which moves the arguments to the stack
 * and jumps to the interpreter; this first allocates the method's variables, and only then sets up a frame.
 * During that time the return address and the caller's frame pointer are in their registers, and the caller's
 * sp is copied to another register before sp changes. The following code shows which register it is.
 */
#pragma once

#include "recipes/ahead.h"

/* The register that contains the caller's sp at pc; REG_NONE if the code sets up no such frame. */
unsigned hotspot_entry_sender(const struct isa *isa, ahead_code code, void *context, uint64_t pc);
