/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function: where the functions of an image start and end, and what is known about each.
 *
 * functions_new makes the cheap index (symbols, unwind entries, PLT stubs, entry points): enough
 * to answer for a pc that a symbol or an unwind entry covers. functions_survey decodes the whole
 * text once for evidence (who is called, whose address is taken, which addresses are referenced at
 * all) and finds the functions in the gaps; functions_find searches only the one gap a pc falls into,
 * and no more than a bounded window of it.
 *
 * An interval that nothing enters as a function is a candidate part: cold code of a function
 * elsewhere. flow_analyse absorbs it into the function that jumps there; `parent` then says which.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/writer.h"
#include "binary/cfi/frames.h"
#include "binary/elf/image.h"
#include "binary/elf/symbols.h"
#include "binary/flow/facts.h"
#include "binary/isa/isa.h"

struct function_options {
	bool hide_symbols; /* .symtab and .gnu_debugdata */
	bool hide_dynamic; /* .dynsym too */
	bool hide_frames;  /* unwind entries: neither starts nor landing pads */
};

struct functions {
	struct function *at; /* sorted by start, not overlapping */
	size_t n;
	struct image *image;
	const struct isa *isa;
	const struct symbols *symbols;
	const struct frames *frames; /* NULL if hidden */
	bool is_surveyed;
	struct functions_private *private;
};

/* symbols and frames are borrowed. NULL if the machine of the image is unknown. options may be NULL. */
struct functions *functions_new(struct image *image, const struct symbols *symbols,
				const struct frames *frames, const struct function_options *options);
/*
 * The functions of a piece of a large text, searched for as if there were no more of it. What is known of
 * them in `whole` is known here, too; it must live longer. No piece of it may be one of a piece.
 */
struct functions *functions_piece(const struct functions *whole, uint64_t start, uint64_t end);
void functions_free(struct functions *functions);
/* What flow_init (binary/flow/flow.h) wants: always up to date, valid as long as the functions. */
const struct code_facts *functions_facts(const struct functions *functions);

#define FUNCTION_PACK_VERSION 3
/*
 * Serializes what functions_new has just made, so that it can be had again without reading symbols, which
 * takes longest. Empty if it is too large.
 */
void functions_pack(const struct functions *functions, struct writer *ret);
/*
 * Reads it back for the same image, except for names that the analysis does not use. The bytes, aligned to
 * 8, are borrowed; NULL if they do not fit.
 */
struct functions *functions_unpack(struct image *image, const struct frames *frames, struct bytes bytes);

/* The whole-image pass; a second call does nothing. */
void functions_survey(struct functions *functions);

/* Gathers the evidence of the survey around vaddr only, or in all of a small text. Infers nothing. */
void functions_look_around(struct functions *functions, uint64_t vaddr);

/* Index of the function, part or stub that holds vaddr; FUNCTION_NONE. Never infers. */
uint32_t functions_index(const struct functions *functions, uint64_t vaddr);
/* The same, after inferring the starts in the gap that holds vaddr. Indices found earlier may shift. */
uint32_t functions_find(struct functions *functions, uint64_t vaddr);
/* Is there so much text that functions_find would survey all of it? */
bool functions_find_takes_long(const struct functions *functions);
/* Is there so much text that functions_find searches only around the vaddr it is asked for? */
bool functions_find_is_partial(const struct functions *functions);
/* The i-th range of executable bytes; false if there are fewer. */
bool functions_text_range(const struct functions *functions, size_t i, uint64_t *ret_start,
			  uint64_t *ret_end);
/* Where the first function behind vaddr starts; UINT64_MAX if none does. */
uint64_t functions_next_start(const struct functions *functions, uint64_t vaddr);
/* The end of the last function before vaddr, or the start of the text that holds it. vaddr must be in no
 * function. */
uint64_t functions_last_end(const struct functions *functions, uint64_t vaddr);
/*
 * Narrows [*start, *end), in which no function is known, to the code around vaddr that stands between long
 * runs of traps. False, and nothing is changed, if no traps precede it.
 */
bool functions_between_traps(const struct functions *functions, uint64_t vaddr, uint64_t *start,
			     uint64_t *end);
/*
 * Where jumps into [start, end) from other intervals come from. Returns how many there are; writes at
 * most max. Empty before there is evidence.
 */
size_t functions_jumpers(const struct functions *functions, uint64_t start, uint64_t end, uint64_t *ret_from,
			 size_t max);
/* Does some instruction call it? False before there is evidence. */
bool functions_is_called(const struct functions *functions, uint64_t vaddr);
/* Does some instruction take its address? */
bool functions_is_taken(const struct functions *functions, uint64_t vaddr);
/* Registers that a call to the function at vaddr may change: exact for small functions whose callees are
 * small, too, else all. */
uint64_t functions_clobbers(struct functions *functions, uint64_t vaddr);
/* Registers that its own instructions write, callees not counted; all if that cannot be told. */
uint64_t functions_writes(struct functions *functions, uint64_t vaddr);
/* Does a call or jump to this address come back, as far as is known? */
bool functions_returns(const struct functions *functions, uint64_t vaddr);
/*
 * Analyses one function with what is known of others. What the analysis had to assume of a callee is looked
 * up and, if it was wrong, the function is analysed again. flow was made with functions_facts.
 */
struct flow;
void functions_analyse_one(struct functions *functions, uint32_t index, struct flow *flow);
/* The same for code that may be a function: nobody stated its end. */
void functions_analyse_range(struct functions *functions, uint64_t start, uint64_t end, struct flow *flow);
/* functions_analyse_one where there was no survey: whether the callees return is learnt on the way. */
void functions_analyse_alone(struct functions *functions, uint32_t index, struct flow *flow);

/*
 * Analyses every function of a surveyed image, parts within their functions. visit sees each flow
 * once or, when a callee turned out not to return, again: the last one counts.
 */
typedef void (*flow_visitor)(void *context, uint32_t function, struct flow *flow);
void functions_analyse(struct functions *functions, flow_visitor visit, void *context);
/*
 * Works out for every function what the analysis of its callers needs: whether it returns, and which
 * registers it changes. Afterwards, as long as nothing is inferred, any number of threads may analyse
 * functions, each with its own flow, and the results do not depend on the order.
 */
void functions_settle(struct functions *functions, unsigned n_threads);
