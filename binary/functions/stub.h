/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub: the stubs that linkers create for calls to other images, recognised by their bytes.
 *
 * A stub jumps through a word of the GOT that the loader fills in; the first one (the head) jumps to the
 * loader's resolver. There are only a few forms of stubs, so section headers, unwind entries (AArch64 linkers
 * create none) and analysis are not needed.
 */
#pragma once

#include "binary/elf/image.h"

enum stub_kind {
	STUB_CALL,
	STUB_HEAD,   /* the common tail of lazy stubs: calls the resolver */
	STUB_VENEER, /* a far jump inserted by the linker; no GOT word */
};

struct stub {
	uint64_t start;
	uint64_t slot; /* vaddr of the GOT word it jumps through; 0 = none */
	uint32_t size;
	uint8_t kind;      /* enum stub_kind */
	uint8_t depth;     /* bytes between sp and the CFA at its start */
	uint8_t push_end;  /* offset after the instruction that pushes; 0 = nothing is pushed */
	uint8_t push_size; /* by how many bytes that decreases sp */
	uint8_t saves_ra;  /* the push saves the return address register at CFA - 8 (AArch64 head) */
};

/* The stub that contains vaddr, recognised by its bytes. */
bool stub_match(const struct image *image, uint64_t vaddr, struct stub *ret);

/*
 * An instruction that the linker moved out of its function to work around a CPU erratum (Cortex-A53): it was
 * replaced by a jump to it, and a jump back follows it. True if vaddr is such an instruction or the jump
 * after it; ret_home: the corresponding address in the function.
 */
bool stub_home(const struct image *image, uint64_t vaddr, uint64_t *ret_home);

/*
 * An outline-atomics helper of the compiler's library, which checks what the CPU supports and then does
 * one atomic operation (AArch64: __aarch64_ldadd4_acq and the like). Programs get it linked in without
 * debug information.
 */
bool stub_is_helper(const struct image *image, uint64_t vaddr);
