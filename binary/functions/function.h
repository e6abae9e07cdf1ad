/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function: where the functions of an image start and end, and what is known about each.
 *
 * functions_new makes the cheap index (symbols, unwind entries, PLT stubs, entry points): enough for a pc
 * that a symbol or an unwind entry covers. functions_survey decodes the whole text once for evidence (calls,
 * addresses taken, data references) and finds the functions in the gaps; functions_find searches only the gap
 * that contains a pc, and no more than a bounded window of it.
 *
 * An interval that nothing calls is a candidate part: cold code of another function. flow_analyse absorbs it
 * into the function that jumps there, which is then its `parent`.
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
 * The functions of a piece of a large text, searched as if there were no other text. Everything that `whole`
 * knows about them is known here as well; `whole` must outlive the piece, and must not be a piece itself.
 */
struct functions *functions_piece(const struct functions *whole, uint64_t start, uint64_t end);
void functions_free(struct functions *functions);
/* The facts for flow_init (binary/flow/flow.h): always up to date, valid as long as the functions. */
const struct code_facts *functions_facts(const struct functions *functions);

#define FUNCTION_PACK_VERSION 3
/*
 * Serializes functions that have just been made by functions_new, so that they can be restored without
 * reading symbols, which takes longest. Empty if they are too large.
 */
void functions_pack(const struct functions *functions, struct writer *ret);
/*
 * Reads it back for the same image, except for names that the analysis does not use. The bytes, aligned to
 * 8, are borrowed; NULL if they do not fit.
 */
struct functions *functions_unpack(struct image *image, const struct frames *frames, struct bytes bytes);

/* The whole-image pass; a second call does nothing. */
void functions_survey(struct functions *functions);

/* Collects the evidence of the survey only around vaddr, or in all of a small text. Infers nothing. */
void functions_look_around(struct functions *functions, uint64_t vaddr);

/* Index of the function, part or stub that contains vaddr, or FUNCTION_NONE. Never infers. */
uint32_t functions_index(const struct functions *functions, uint64_t vaddr);
/* The same, after inferring the starts in the gap that contains vaddr. Existing indices may change. */
uint32_t functions_find(struct functions *functions, uint64_t vaddr);
/* Is there so much text that functions_find would survey all of it? */
bool functions_find_takes_long(const struct functions *functions);
/* Is there so much text that functions_find searches only around the given vaddr? */
bool functions_find_is_partial(const struct functions *functions);
/* The i-th range of executable bytes; false if there are fewer. */
bool functions_text_range(const struct functions *functions, size_t i, uint64_t *ret_start,
			  uint64_t *ret_end);
/* The start of the first function after vaddr; UINT64_MAX if there is none. */
uint64_t functions_next_start(const struct functions *functions, uint64_t vaddr);
/* The end of the last function before vaddr, or the start of the text that contains it. vaddr must not be in
 * a function. */
uint64_t functions_last_end(const struct functions *functions, uint64_t vaddr);
/*
 * Narrows [*start, *end), in which no function is known, to the code around vaddr that stands between long
 * runs of traps. False, and nothing is changed, if no traps precede it.
 */
bool functions_between_traps(const struct functions *functions, uint64_t vaddr, uint64_t *start,
			     uint64_t *end);
/*
 * The sources of jumps into [start, end) from other intervals. Returns their number; writes at most max. None
 * before there is evidence.
 */
size_t functions_jumpers(const struct functions *functions, uint64_t start, uint64_t end, uint64_t *ret_from,
			 size_t max);
/* Is it, judging by its first instructions and its unwind entry, a part of a function rather than a whole
 * one? */
bool functions_looks_partial(const struct functions *functions, const struct function *function);
/* Does some instruction call it? False before there is evidence. */
bool functions_is_called(const struct functions *functions, uint64_t vaddr);
/*
 * The last and the first address in [start, end) where a function may start inside another: one that is
 * called, or that is taken and allocates stack. UINT64_MAX if there is none, and before there is evidence.
 */
uint64_t functions_last_inner(struct functions *functions, uint64_t start, uint64_t end);
uint64_t functions_first_inner(struct functions *functions, uint64_t start, uint64_t end);
/* Registers that a call to the function at vaddr may change: exact for small functions whose callees are also
 * small, otherwise all. */
uint64_t functions_clobbers(struct functions *functions, uint64_t vaddr);
/* Registers that its own instructions write, without its callees; all if that cannot be determined. */
uint64_t functions_writes(struct functions *functions, uint64_t vaddr);
/* Does a call or jump to this address return, as far as is known? */
bool functions_returns(const struct functions *functions, uint64_t vaddr);
/*
 * Analyses one function with what is known about others. Assumptions of the analysis about callees are
 * checked; if one was wrong, the function is analysed again. flow was initialised with functions_facts.
 */
struct flow;
void functions_analyse_one(struct functions *functions, uint32_t index, struct flow *flow);
/* The same for code that may be a function and whose end is not stated. */
void functions_analyse_range(struct functions *functions, uint64_t start, uint64_t end, struct flow *flow);
/* functions_analyse_one without a survey: also finds out whether the callees return. */
void functions_analyse_alone(struct functions *functions, uint32_t index, struct flow *flow);

/*
 * Analyses every function of a surveyed image, parts together with their functions. visit is called with each
 * flow, and again if a callee turned out not to return: the last call is valid.
 */
typedef void (*flow_visitor)(void *context, uint32_t function, struct flow *flow);
void functions_analyse(struct functions *functions, flow_visitor visit, void *context);
/*
 * Determines for every function what the analysis of its callers needs: whether it returns, and which
 * registers it changes. Afterwards, as long as nothing is inferred, any number of threads may analyse
 * functions, each with its own flow, and the results do not depend on the order.
 */
void functions_settle(struct functions *functions, unsigned n_threads);
