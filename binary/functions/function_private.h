/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_private: declarations shared by the files behind binary/functions/function.h. function.c keeps the
 * index, survey.c collects evidence, discover.c finds starts in the gaps, analyse.c analyses the whole image.
 */
#pragma once

#include "base/vec.h"
#include "binary/elf/relocs.h"
#include "binary/functions/function.h"
#include "binary/functions/plt.h"

struct vaddr_range {
	uint64_t start, end;
};

/* A direct jump from one interval into another. */
struct cross_jump {
	uint64_t to, from;
};

struct functions_private {
	VEC(struct function) list; /* functions.at points here */
	VEC(uint32_t) owned;       /* the functions that have a parent */
	size_t n_stated;           /* the number of functions before any was searched for */
	VEC(struct text_range) text;
	VEC(uint64_t) references;     /* facts.references */
	VEC(struct cross_jump) jumps; /* sorted by target */
	VEC(uint64_t) arrays; /* arrays of code blocks, the targets of computed jumps: the start of each */
	VEC(struct vaddr_range) seen;     /* text that was decoded for evidence */
	VEC(struct vaddr_range) inferred; /* windows whose gaps were searched for functions */
	struct relocs relocs;
	struct plt plt;
	VEC(uint64_t) pointed; /* for pieces: where pointers in data lead to in the text, sorted */
	VEC(uint32_t) ending;  /* for pieces: functions whose names say that they do not return */
	bool has_pointed, has_ending;
	struct functions_private
		*whole; /* this is a piece of it, and borrows its relocs and plt; otherwise NULL */
	struct function_options options;
	uint32_t *pages;         /* facts.pages */
	struct code_facts facts; /* the part of all this that the analysis of a function reads */
};

enum evidence { EVIDENCE_CALLED, EVIDENCE_TAKEN, EVIDENCE_JUMPED, EVIDENCE_POINTED, EVIDENCE_COVERED };
/* The range that contains vaddr; NULL if there is none. */
const struct text_range *functions_text(const struct functions *functions, uint64_t vaddr);
/* Does nothing for an address outside the text. */
void evidence_add(struct functions *functions, enum evidence what, uint64_t vaddr);
/* [start, end) within one range of text. */
void evidence_add_range(struct functions *functions, enum evidence what, uint64_t start, uint64_t end);
/* Removes EVIDENCE_COVERED from [start, end), which is within this range. */
void evidence_uncover(const struct text_range *range, uint64_t start, uint64_t end);
/* Its bitmap; NULL before the first evidence. */
uint64_t *evidence_bits(const struct text_range *range, enum evidence what);
bool evidence_has(const struct functions *functions, enum evidence what, uint64_t vaddr);

/* A start that may be new; sorted and merged by functions_merge. */
struct function_start {
	uint64_t vaddr, end; /* end 0 = up to the next start */
	const char *name;
	uint8_t kind;
	uint16_t sources;
	uint8_t preference; /* of two at one address, the one with the lower number determines end and name */
};
enum { PREFER_STUB, PREFER_FRAME, PREFER_SYMBOL, PREFER_LABEL, PREFER_OTHER };
struct function_starts {
	VEC(struct function_start) list;
};
/* The order that functions_merge expects: by address, then by preference. */
int function_start_compare(const struct function_start *a, const struct function_start *b);
void function_starts_sort(struct function_starts *starts);
/*
 * Rebuilds functions [first, end) of the index from sorted starts that are between their neighbours. What is
 * known about functions that remain is kept.
 */
void functions_merge(struct functions *functions, size_t first, size_t end, struct function_starts *starts);
/* The starts of functions [first, end) of the current index and `more`, sorted: input for functions_merge. */
void functions_starts(const struct functions *functions, size_t first, size_t end,
		      const struct function_starts *more, struct function_starts *ret);

/* starts.c: all starts that the image states, in that order. Needs relocs, plt and the borrowed tables of the
 * functions. */
enum { STATED_FRAME, STATED_SYMBOL, STATED_OTHER, STATED_N };
struct stated_starts {
	const struct functions *functions;
	size_t n_frames, n_symbols, n_others; /* read so far */
	struct cie_memo memo;
	struct function_starts others;        /* stubs and entry points */
	struct function_start next[STATED_N]; /* of each kind */
	bool has_next[STATED_N];
};
void stated_starts_init(struct stated_starts *starts, const struct functions *functions);
void stated_starts_done(struct stated_starts *starts);
/* An upper bound of their number. */
size_t stated_starts_count(const struct stated_starts *starts);
bool stated_starts_next(struct stated_starts *starts, struct function_start *ret);

/* function.c: functions without an index; NULL if the machine is unknown. */
struct functions *functions_begin(struct image *image, const struct frames *frames,
				  const struct function_options *options);
/* function.c: updates the facts after the list of functions has changed. */
void functions_make_pages(struct functions *functions);

/* returns.c: finds out whether the callees of an analysed function return; true if one was found that does
 * not. */
bool functions_learn_returns(struct functions *functions, const struct flow *flow);
/* analyse.c: functions_analyse for functions that were not analysed yet. */
struct analyse_options {
	bool only_inferred;        /* skip functions whose end is stated */
	bool skips_guesses;        /* unreached code gets no guessed state */
	struct vaddr_range window; /* only functions that start in it */
};
void functions_analyse_some(struct functions *functions, struct analyse_options options, flow_visitor visit,
			    void *context);
/* survey.c: collects evidence from this text, except where that was done before. */
void functions_gather(struct functions *functions, struct vaddr_range range);
/* pointers.c: adds EVIDENCE_POINTED; for pieces it needs pointers_sort of the whole. */
void pointers_gather(struct functions *functions);
void pointers_sort(const struct functions *whole);
/* survey.c: does an array of code blocks start here, into which a computed jump leads? That is not a
 * function. */
bool functions_is_array(const struct functions *functions, uint64_t vaddr);
/* survey.c: records the evidence for functions [first, end), after the index changed. */
void functions_apply_evidence(struct functions *functions, size_t first, size_t end);
/* discover.c: finds starts in the window, a part of the gap, in text that no symbol and no unwind entry
 * covers. */
void functions_discover(struct functions *functions, struct vaddr_range gap, struct vaddr_range window);
