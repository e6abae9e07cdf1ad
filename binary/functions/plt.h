/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plt: the stubs that a linker creates for calls to other images, and the symbol of each.
 */
#pragma once

#include "base/vec.h"
#include "binary/elf/image.h"
#include "binary/elf/relocs.h"
#include "binary/isa/isa.h"

struct plt_stub {
	uint64_t start, end;
	uint64_t slot;    /* the GOT word it jumps through; 0 = unknown */
	const char *name; /* of the symbol; NULL = unknown; owned by the relocs */
	bool is_head;     /* the first entry of a lazy PLT: calls the resolver */
};

struct plt {
	VEC(struct plt_stub) stubs; /* sorted by start */
};

void plt_read(struct plt *plt, struct image *image, const struct isa *isa, const struct relocs *relocs);
void plt_done(struct plt *plt);
/* The symbol of the stub that starts at vaddr; NULL if there is none, or it is unknown. The name is in the
 * image. Reads only this stub. */
const char *plt_name_at(const struct image *image, const struct isa *isa, uint64_t vaddr);
