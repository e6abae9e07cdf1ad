/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_stub: HotSpot's code that has no frame of its own yet, or no longer, or never makes one (x86-64).
 *
 * Stubs that look up a method, and adapters between compiled and interpreted code, end in a jump to the
 * method through a word of its description, with the return address on top of the stack. The interpreter's
 * entry to a method takes it into a register, makes room for the method's variables, and only then makes a
 * frame. A method that it leaves has its caller's sp in a register, and jumps to the return address. The code
 * that follows shows which of these it is.
 */
#pragma once

#include "recipes/ahead.h"

/* Where an interrupted one has what leads to its caller. */
struct hotspot_stub {
	uint8_t ra;     /* the register that holds the return address; REG_NONE: it is on top of the stack */
	uint8_t sender; /* the register that holds the caller's sp; REG_NONE: it is sp, without the address */
};

/* False if the code at pc is none of them. */
bool hotspot_stub_find(const struct isa *isa, ahead_code code, void *context, uint64_t pc,
		       struct hotspot_stub *ret);
