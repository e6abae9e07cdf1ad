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
/* Everything is looked for again: ids of images have another meaning. */
void hotspot_forget(struct hotspot *hotspot);

/* A place in code that is in no file. */
struct hotspot_place {
	pid_t pid;
	uint64_t pc;
	bool is_return;
};

/*
 * The recipe for the frame of compiled code at a place. RECIPE_NONE if the process has no HotSpot, or the
 * runtime does not describe it. Code that was interrupted (not is_return) may be about to leave its frame:
 * use this only if analysis finds no recipe. is_anew: the previous result led nowhere; the runtime's tables
 * may have changed since, and are read again.
 */
uint32_t hotspot_recipe(struct hotspot *hotspot, struct space *space, const struct hotspot_place *place,
			bool is_anew);

/* The recipe for a method that was interrupted before it had set up its frame; RECIPE_NONE if the code does
 * not show that. */
uint32_t hotspot_entry_recipe(struct hotspot *hotspot, struct space *space,
			      const struct hotspot_place *place);
