/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filled: code that stands alone between fill (insn.is_fill), where each piece is exactly one function.
 *
 * Generators such as V8 write one function after the other and fill the space up to the next with a word
 * that is no instruction. Then nothing else starts or ends in between, whatever the code looks like: V8's
 * functions jump to each other with more on the stack than at an entry and with other values in registers
 * that callers rely on, and set up their frame in the middle.
 *
 * Only where instructions are aligned: on x86-64 linkers fill with traps, too, around several functions.
 */
#pragma once

#include "binary/functions/function_private.h"

struct filled {
	VEC(struct vaddr_range) pieces; /* sorted */
};

/* The pieces in the window that no symbol and no unwind entry covers. */
void filled_find(struct filled *filled, const struct functions *functions, struct vaddr_range window);
void filled_done(struct filled *filled);
/* Adds them to the starts. */
void filled_starts(const struct filled *filled, struct function_starts *starts);
/* The piece that contains vaddr; NULL if there is none. */
const struct vaddr_range *filled_piece(const struct filled *filled, uint64_t vaddr);
