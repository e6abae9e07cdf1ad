/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_cache: everything a walk wants to know about a place in an image, found out on first use:
 * its recipes, by the policy; the function that holds it; whether it follows a call, and to where.
 *
 * Per image it keeps the unwind entries and the rows of the functions that were asked for. Knows no
 * process: the walk keeps its own small table in front, keyed by pc.
 */
#pragma once

#include "base/store.h"
#include "binary/elf/image.h"
#include "recipes/place.h"
#include "recipes/recipe.h"

struct recipe_cache;
/* What the store knows of an image's code need not be found out again; NULL = all is. */
struct recipe_cache *recipe_cache_new(struct images *images, const struct isa *isa, enum unwind_mode mode,
				      struct store *store);
void recipe_cache_free(struct recipe_cache *cache);
/* What was found out joins the store. */
/* As findings_functions; NULL for images that were not seen, too. */
struct functions *recipe_cache_functions(struct recipe_cache *cache, image_id image);
void recipe_cache_save(struct recipe_cache *cache);

/* What is known of vaddr; is_return: it is a return address, so that the call before it counts. */
void recipe_cache_place(struct recipe_cache *cache, image_id image, uint64_t vaddr, bool is_return,
			struct place *ret);
/* The recipes that places refer to; all images share them. */
const struct recipes *recipe_cache_recipes(const struct recipe_cache *cache);
/* The same, for others to add to. */
struct recipes *recipe_cache_store(struct recipe_cache *cache);
/* The frame-pointer recipe: the last resort. */
uint32_t recipe_cache_frame_pointer(const struct recipe_cache *cache);

/*
 * May a call to this address end up in another function without a frame of its own: a stub, a tail
 * call, a jump to a cold part? True when that cannot be told.
 */
bool recipe_cache_may_leave(struct recipe_cache *cache, image_id image, uint64_t vaddr);
/*
 * Is there a stub at vaddr of `image` for a symbol by whose name the function that starts at `function` of
 * `callee` goes? False if that cannot be told.
 */
bool recipe_cache_stub_leads_to(struct recipe_cache *cache, image_id image, uint64_t vaddr, image_id callee,
				uint64_t function);
/* Registers that the function which starts at vaddr does not write itself; 0 if that is not known. */
uint64_t recipe_cache_kept(struct recipe_cache *cache, image_id image, uint64_t vaddr);
/* The same for a call of `called` that has led to the function at vaddr: what neither has changed; 0 if it
 * need not have led straight there. */
uint64_t recipe_cache_kept_since(struct recipe_cache *cache, image_id image, uint64_t called, uint64_t vaddr);
/* Does vaddr lie in the function whose unwind entry starts at `function`? */
bool recipe_cache_holds(struct recipe_cache *cache, image_id image, uint64_t function, uint64_t vaddr);
/* Functions compiled so far. */
uint64_t recipe_cache_compiled(const struct recipe_cache *cache);
