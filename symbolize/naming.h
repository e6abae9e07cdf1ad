/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naming: bounds and names of functions without DWARF.
 *
 * ELF: the best symbol (binary/elf/symbols.h defines the order); a PLT stub is "name@plt"; other code starts
 * where binary/functions found a function and is called "image+0xstart", which is the same in every run.
 * Kernel code is named by kallsyms, JIT code by the map its process wrote.
 *
 * Compilers name the pieces and clones of a function after it: "f.cold", "f.constprop.0", "f.isra.0.part.2".
 * They are shown as "f [.cold]", and a piece refers to its function.
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
	struct image *debug; /* a separate debug file whose symbols are used as well, or NULL */
	struct functions *(*functions)(
		void *context); /* returns its functions when one must be recovered; NULL: created here */
	void *context;
	const struct kallsyms *kernel; /* names of IMAGE_KERNEL, or NULL */
	const struct perfmap *jit;     /* names of IMAGE_JIT, or NULL */
	bool demangles;
};

struct naming;
/* Everything that options point to must outlive it. */
struct naming *naming_new(const struct naming_options *options);
void naming_free(struct naming *naming);
struct image *naming_image(const struct naming *naming);
image_id naming_id(const struct naming *naming);

/* The function that covers vaddr, without lines and inlined calls (but JIT code has lines). A map of one byte
 * if nothing is known. */
struct function_map naming_find(struct naming *naming, uint64_t vaddr, struct intern *strings);
/* Does beforehand what may take long: gets the functions, and searches those without symbols at these
 * addresses, in order. */
void naming_prepare(struct naming *naming, const uint64_t *vaddrs, size_t n);

/*
 * Completes the names of a map whose bounds are set; its linkage is the name from DWARF (0 = take the
 * symbol's). Pieces and clones are recognised by the symbol at the map's start.
 */
void naming_complete(const struct naming *naming, struct function_map *map, struct intern *strings);
