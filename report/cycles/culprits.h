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

/* Possible causes of lost cycles: those that cannot be excluded. Bits. */
enum culprit {
	CULPRIT_DATA = 1,    /* loads: cache or TLB misses */
	CULPRIT_STORE = 2,   /* stores: the store buffer is full */
	CULPRIT_BRANCH = 4,  /* a branch that goes both ways, or a computed jump: mispredicted */
	CULPRIT_CODE = 8,    /* code in another page, or after a call: instruction cache or TLB misses */
	CULPRIT_DIVIDE = 16, /* divisions: the latency depends on the values */
	CULPRIT_MODEL = 32,  /* instructions that are unknown to llvm-mca */
};
#define CULPRITS 6
/* As text. */
const char *culprit_name(enum culprit culprit);

struct culprit_code {
	const struct cfg *cfg;
	const struct image *image;
	const struct isa *isa;
};
/* For a block: bits of enum culprit. */
uint8_t culprits_find(const struct culprit_code *code, const struct frequency *frequency, uint32_t block);
