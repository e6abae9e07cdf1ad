/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry: whether a function can start at an address.
 */
#pragma once

#include "binary/elf/image.h"
#include "binary/isa/isa.h"

/*
 * False for code that uses (not only saves) a register before writing it although no caller passes
 * anything in it: that is a landing pad, a switch case or a cold part.
 */
bool entry_is_plausible(const struct isa *isa, const struct image *image, uint64_t vaddr);
/* Does the instruction allocate stack, or save the return address or a callee-saved register, as the first
 * instructions of functions do? */
bool entry_is_prologue(const struct isa *isa, const struct insn *insn);
/* Is it such an instruction, or the marker of a target of indirect calls (endbr64, bti)? */
bool entry_is_beginning(const struct isa *isa, const struct insn *insn);
/* Does it save the frame pointer at vaddr, and set up its own? */
bool entry_makes_frame(const struct isa *isa, const struct image *image, uint64_t vaddr);
