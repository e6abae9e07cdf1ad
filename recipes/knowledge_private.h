/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common declarations of knowledge.c (queries) and place.c (how ASK_PLACE is answered).
 */
#pragma once

#include <stdatomic.h>

#include "recipes/ahead.h"
#include "recipes/code.h"
#include "recipes/knowledge.h"

struct knowledge {
	struct images *images;
	const struct isa *isa;
	enum unwind_mode mode;
	struct store *store;
	unsigned patience;
	atomic_bool is_hurried; /* knowledge_hurry */
	struct recipes recipes;
	struct ahead *ahead;
	uint32_t frame_pointer;
	uint64_t n_compiled;
	VEC(struct code *) codes; /* by image; NULL = not seen, or without code */
};

/* Like knowledge_ask, for existing code. ret must be initialised to the answer for unknown code. */
void knowledge_ask_code(struct knowledge *knowledge, enum question question, struct code *code, uint64_t a,
			uint64_t b, struct answer *ret);
/* The same if the answer need not be computed; otherwise false. */
bool knowledge_find_answer(struct knowledge *knowledge, enum question question, struct code *code, uint64_t a,
			   uint64_t b, struct answer *ret);
/* Code of an image; the callback for ahead and behind. */
struct bytes knowledge_code(void *image, uint64_t vaddr);
/* Determines what is known about vaddr; ret must be initialised to what is known without the code. */
void place_find(struct knowledge *knowledge, struct code *code, uint64_t vaddr, bool is_return,
		struct place *ret);
