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
/* Does it make room on the stack, or save the return address or a callee-saved register, as functions do
 * first? */
bool entry_is_prologue(const struct isa *isa, const struct insn *insn);
/* That, or a mark where indirect calls may land? */
bool entry_is_beginning(const struct isa *isa, const struct insn *insn);
