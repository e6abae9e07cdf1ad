/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knowledge: all that can be known about the code of images, worked out when it is first asked for.
 *
 * An answer is looked for in memory, then in the store; then it is worked out, and kept. Answers are the same
 * whether they were kept or not. Knows no process: a walk has its own table, by pc, in front of it.
 */
#pragma once

#include "base/store.h"
#include "binary/elf/image.h"
#include "recipes/place.h"
#include "recipes/recipe.h"

struct functions;

/* Questions about an address a of an image. To add one, add a row to the table in knowledge.c. */
enum question {
	ASK_RECIPE_BESIDE, /* the recipe of the analysis at a, where another witness speaks too; see
			      analysis.h */
	ASK_RECIPE_ALONE,  /* the same where none does */
	ASK_NEAR_RECIPE,   /* the recipe at a where there is too much code to search it all */
	ASK_KEPT, /* mask of registers that the function which starts at a does not write; 0 = not known */
	ASK_LEADS_ONLY_TO, /* does the function at a, where it does not return, lead to b and nowhere else? */
	ASK_NAME,       /* the name of the function at a that never returns by it, or of the stub, as a number
			   (analysis_name_number); 0 = none */
	ASK_STUB_NAME,  /* the name of the symbol that the stub at a goes to */
	ASK_HAS_NAME,   /* is there a symbol of the name b at a? */
	ASK_MAY_LEAVE,  /* may a call to a end up in another function without a frame of its own: a stub, a
			   tail     call, a jump to a cold part? True when that cannot be told */
	ASK_HOLDS,      /* does b lie in the function whose unwind entry starts at a? */
	ASK_SP_FROM_FP, /* how far sp lies from the frame pointer at a, behind a call; VADDR_NONE = not known.
			 * b: how far sp lies below the saved frame pointer; 0 = not known */
	ASK_PLACE, /* what a walk wants to know; b: is it a return address, so that the call before counts? */
	QUESTIONS_N
};

struct knowledge;
/* What the store knows of an image's code need not be worked out again; NULL = all is. Both are borrowed. */
struct knowledge *knowledge_new(struct images *images, const struct isa *isa, enum unwind_mode mode,
				struct store *store);
void knowledge_free(struct knowledge *knowledge);
/*
 * For those that see a whole machine, where most code is seen once and never again: where an unwind entry
 * speaks, it is taken at its word until its function was asked for so many times (up to 255), and its code is
 * not analysed before. Such places are is_early. 1, the default: at once.
 */
void knowledge_set_patience(struct knowledge *knowledge, unsigned n_looks);
/* What is new joins the store. */
void knowledge_save(struct knowledge *knowledge);
/*
 * For those that go on for weeks: images of which nothing had to be worked out since the last call, or all of
 * them, join the store and are forgotten. Whatever is asked of them then is read from there. Functions that
 * were lent are gone. Without a store nothing is forgotten.
 */
void knowledge_forget(struct knowledge *knowledge, bool all);

/* Images without code of this machine have an answer to every question, too: that nothing is known. */
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
 * Is there a stub at vaddr of `image` for a symbol by whose name the function that starts at `function` of
 * `callee` goes? False if that cannot be told.
 */
bool knowledge_stub_leads_to(struct knowledge *knowledge, image_id image, uint64_t vaddr, image_id callee,
			     uint64_t function);
/* ASK_KEPT for a call of `called` that has led to the function at vaddr: what neither has changed; 0 if it
 * need not have led straight there. */
uint64_t knowledge_kept_since(struct knowledge *knowledge, image_id image, uint64_t called, uint64_t vaddr);

/* The pool of all recipes that answers refer to, whatever the image. Others may add to it. */
struct recipes *knowledge_recipes(const struct knowledge *knowledge);
/* The frame-pointer recipe: the last resort. */
uint32_t knowledge_frame_pointer(const struct knowledge *knowledge);
/* As analysis_functions; NULL also where the store knew all, and for images that were not seen. */
struct functions *knowledge_functions(struct knowledge *knowledge, image_id image);
/* Unwind entries compiled, and functions analysed, so far. */
uint64_t knowledge_compiled(const struct knowledge *knowledge);
uint64_t knowledge_analysed(const struct knowledge *knowledge);
