/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_text: one instruction as text, with the name of the function that it calls or jumps to.
 */
#pragma once

#include "base/text.h"
#include "binary/isa/isa.h"
#include "profile/profile.h"

/* Appends. The name is foreign text, as in the profile. */
void insn_text(const struct profile *profile, image_id image, const struct isa *isa, struct bytes code,
	       uint64_t vaddr, struct text *ret);
