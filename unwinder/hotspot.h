/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot: unwinds frames of compiled Java methods by the frame size that the runtime records.
 *
 * For code that cannot be unwound by analysis: a loop compiled while it ran (on-stack replacement) goes back
 * to the interpreter instead of returning.
 */
#pragma once

#include "binary/elf/image.h"
#include "recipes/recipe.h"
#include "unwinder/code_pages.h"
#include "unwinder/space.h"

struct hotspot;
/* All are borrowed. */
struct hotspot *hotspot_new(const struct isa *isa, struct images *images, struct code_pages *pages,
			    struct recipes *recipes);
void hotspot_free(struct hotspot *hotspot);

/* A place in code that is in no file. */
struct hotspot_place {
	pid_t pid;
	uint64_t pc;
	bool is_return;
};

/*
 * How to leave the frame of compiled code at a place. RECIPE_NONE where the process has no
 * HotSpot, or that does not say. Code that was interrupted (not is_return) may be about to leave its frame:
 * ask only if analysis finds no way out. is_anew: after what was known led nowhere; the runtime's tables are
 * read again, which may have changed since.
 */
uint32_t hotspot_recipe(struct hotspot *hotspot, struct space *space, const struct hotspot_place *place,
			bool is_anew);

/* How to leave a method that was interrupted before it had made its frame; RECIPE_NONE where the code does
 * not show that. */
uint32_t hotspot_entry_recipe(struct hotspot *hotspot, struct space *space,
			      const struct hotspot_place *place);
