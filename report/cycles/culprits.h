/* SPDX-License-Identifier: Apache-2.0 */
/*
 * culprits: possible causes why a block took longer than its best case: all those that its code does not rule
 * out (Anderson et al. 1997, 6.3). The result is a list of possibilities, not a single answer.
 */
#pragma once

#include "binary/elf/image.h"
#include "binary/flow/cfg.h"
#include "binary/isa/isa.h"
#include "structure/frequency.h"

/* What may have cost cycles: what cannot be excluded. Bits. */
enum culprit {
	CULPRIT_DATA = 1,    /* loads: a cache or the TLB missed */
	CULPRIT_STORE = 2,   /* stores: no room in the store buffer */
	CULPRIT_BRANCH = 4,  /* a branch that goes both ways, or a computed jump: foreseen wrongly */
	CULPRIT_CODE = 8,    /* code of another page, or behind a call: instruction cache or TLB */
	CULPRIT_DIVIDE = 16, /* takes longer for some values than for others */
	CULPRIT_MODEL = 32,  /* instructions that llvm-mca does not know */
};
#define CULPRITS 6
/* In words. */
const char *culprit_name(enum culprit culprit);

struct culprit_code {
	const struct cfg *cfg;
	const struct image *image;
	const struct isa *isa;
};
/* Of a block: bits of enum culprit. */
uint8_t culprits_find(const struct culprit_code *code, const struct frequency *frequency, uint32_t block);
