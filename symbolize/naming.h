/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naming: bounds and names of functions without DWARF.
 *
 * ELF: the best symbol (binary/elf/symbols.h states the order); a PLT stub is "name@plt"; other code has
 * the start that binary/function recovers and is called "image+0xstart", the same in every run.
 * Kernel code is named by kallsyms, JIT code by the map its process wrote.
 *
 * Compilers name the pieces and clones of a function after it: "f.cold", "f.constprop.0",
 * "f.isra.0.part.2". They are shown as "f [.cold]", and a piece leads back to its function.
 *
 * Several threads may use one naming at the same time.
 */
#pragma once

#include "base/intern.h"
#include "binary/elf/perfmap.h"
#include "binary/elf/symbols.h"
#include "binary/functions/function.h"
#include "symbolize/function_map.h"
#include "symbolize/kernel/kallsyms.h"

struct naming_options {
	image_id id;
	struct image *image;
	struct image *debug; /* a separate debug file whose symbols count too, or NULL */
	struct functions *(*functions)(
		void *context); /* gives its functions when one must be recovered; NULL: made here */
	void *context;
	const struct kallsyms *kernel; /* names of IMAGE_KERNEL, or NULL */
	const struct perfmap *jit;     /* names of IMAGE_JIT, or NULL */
	bool demangles;
};

struct naming;
/* Everything that options point to must outlive it. */
struct naming *naming_new(const struct naming_options *options);
void naming_free(struct naming *naming);
const struct image *naming_image(const struct naming *naming);
image_id naming_id(const struct naming *naming);

/* The function that covers vaddr, all but lines and inlined calls (JIT code has lines). Where nothing is
 * known, one byte. */
struct function_map naming_find(struct naming *naming, uint64_t vaddr, struct intern *strings);
/* Does beforehand what may take long: takes the functions, and looks for those without symbols at these
 * addresses, in order. */
void naming_prepare(struct naming *naming, const uint64_t *vaddrs, size_t n);

/*
 * Completes the names of a map that has its bounds: linkage (0 = take the symbol's) is what DWARF
 * calls it. Pieces and clones are told by the symbol at the map's start.
 */
void naming_complete(const struct naming *naming, struct function_map *map, struct intern *strings);
