/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knowledge: the interface for all queries about the code of images. Answers are computed on first use.
 *
 * An answer is looked up in memory, then in the store; otherwise it is computed and cached. Caching never
 * changes an answer. Processes do not appear here: the unwinder has its own table, by pc, in front of this.
 */
#pragma once

#include "base/store.h"
#include "binary/elf/image.h"
#include "recipes/place.h"
#include "recipes/recipe.h"

struct functions;

/* Questions about an address a of an image. To add one, add a row to the table in knowledge.c. */
enum question {
	ASK_RECIPE_BESIDE, /* the recipe of the analysis at a, if another witness also has one; see analysis.h
			    */
	ASK_RECIPE_ALONE,  /* the same if no other witness has one */
	ASK_NEAR_RECIPE,   /* the recipe at a in an image that is too large to search completely */
	ASK_KEPT, /* mask of registers that the function which starts at a does not write; 0 = not known */
	ASK_LEADS_ONLY_TO, /* whether the function at a, where it does not return, leads only to b */
	ASK_NAME,      /* the name of the stub at a, or of the function there that never returns, as a number
			  (analysis_name_number); 0 = none */
	ASK_STUB_NAME, /* the name of the symbol that the stub at a goes to */
	ASK_HAS_NAME,  /* is there a symbol of the name b at a? */
	ASK_MAY_LEAVE, /* whether a call to a may lead to another function without creating a frame: a stub, a
			  tail call, a jump to a cold part. True if that is not known */
	ASK_HOLDS,     /* is b in the function whose unwind entry starts at a? */
	ASK_SP_FROM_FP, /* the distance from the frame pointer to sp at a, after a call; VADDR_NONE = not
			   known. b: the distance from sp to the saved frame pointer; 0 = not known */
	ASK_CONTINUED,  /* the recipe at a if its code continues in a frame that was set up before, instead of
			   being called; b: whether a was returned to (analysis.h) */
	ASK_PLACE, /* everything that the unwinder needs; b: whether a is a return address, so that the call
		      before it matters */
	QUESTIONS_N
};

struct knowledge;
/* Results in the store are not computed again; NULL = no store. Both are borrowed. */
struct knowledge *knowledge_new(struct images *images, const struct isa *isa, enum unwind_mode mode,
				struct store *store);
void knowledge_free(struct knowledge *knowledge);
/*
 * For recordings of a whole machine, where most code is sampled only once: unwind entries are trusted, and
 * code is not analysed, until a function was interrupted this many times (up to 255); at calls they are
 * always trusted. Such places are marked is_early. 1, the default: analyse at once.
 */
void knowledge_set_patience(struct knowledge *knowledge, unsigned n_looks);
/*
 * From any thread: from now on no code is analysed. What would have to be worked out is not known, and is not
 * kept either; unwind entries are still used.
 */
void knowledge_hurry(struct knowledge *knowledge);
/* Adds new answers to the store. */
void knowledge_save(struct knowledge *knowledge);
/*
 * For recordings that run for weeks: images for which nothing was computed since the last call, or all of
 * them, are written to the store and dropped from memory. Later queries are answered from the store.
 * Functions that were returned become invalid. Without a store nothing is dropped.
 */
void knowledge_forget(struct knowledge *knowledge, bool all);
/* Before images_forget. */
void knowledge_forget_images(struct knowledge *knowledge, const bool *is_unused);

/* For images of another architecture, the answer to every query is that nothing is known. */
struct answer knowledge_ask(struct knowledge *knowledge, enum question question, image_id image, uint64_t a,
			    uint64_t b);
/* For questions that are answered by a number, and for the one that is answered by a place. */
static inline uint64_t knowledge_number(struct knowledge *knowledge, enum question question, image_id image,
					uint64_t a, uint64_t b)
{
	return knowledge_ask(knowledge, question, image, a, b).number;
}
void knowledge_place(struct knowledge *knowledge, image_id image, uint64_t vaddr, bool is_return,
		     struct place *ret);
/* The same without patience. */
void knowledge_place_now(struct knowledge *knowledge, image_id image, uint64_t vaddr, bool is_return,
			 struct place *ret);
/*
 * Is there a stub at vaddr of `image` for a symbol that names the function which starts at `function` of
 * `callee`? False if that is not known.
 */
bool knowledge_stub_leads_to(struct knowledge *knowledge, image_id image, uint64_t vaddr, image_id callee,
			     uint64_t function);
/* ASK_KEPT for a call of `called` that has led to the function at vaddr: the registers that neither has
 * changed; 0 if it may not have led there directly. */
uint64_t knowledge_kept_since(struct knowledge *knowledge, image_id image, uint64_t called, uint64_t vaddr);

/* The pool of the recipes that answers refer to, for all images. Callers may add to it. */
struct recipes *knowledge_recipes(const struct knowledge *knowledge);
/* The frame-pointer recipe: the last resort. */
uint32_t knowledge_frame_pointer(const struct knowledge *knowledge);
/* Like analysis_functions; also NULL if the store had all answers, and for images that were not seen. */
struct functions *knowledge_functions(struct knowledge *knowledge, image_id image);
/* Unwind entries compiled, and functions analysed, so far. */
uint64_t knowledge_compiled(const struct knowledge *knowledge);
uint64_t knowledge_analysed(const struct knowledge *knowledge);
