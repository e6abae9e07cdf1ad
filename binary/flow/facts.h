/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts: what is known about the code of an image when one of its functions is analysed: where functions
 * start and end, which of them return, which registers they change, and the evidence for this.
 *
 * The abstract interpreter only reads these facts. What it finds out is part of its result (struct flow);
 * binary/functions/ owns the facts, adds what was found, and analyses again what depends on it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binary/cfi/frames.h"
#include "binary/elf/image.h"
#include "binary/elf/relocs.h"
#include "binary/isa/isa.h"

enum function_source { /* bits: what says that a function starts here */
		       FROM_SYMBOL = 1,
		       FROM_FRAME = 2,    /* an unwind entry starts here: a function or a part */
		       FROM_ENTRY = 4,    /* e_entry, init and fini */
		       FROM_CALL = 8,     /* some instruction calls it */
		       FROM_ADDRESS = 16, /* code takes its address */
		       FROM_POINTER = 32, /* a pointer in data: weak, it may be an entry of a jump table */
		       FROM_GAP = 64,     /* inferred */
		       FROM_STUB = 128,   /* PLT */
		       FROM_TRAPS = 256,  /* inferred: traps fill the space in front of it, so nothing runs
					     into it */
		       FROM_FILL = 512,   /* inferred: it is all the code between two runs of fill, on a
					     machine where nothing else is filled like that */
};
#define FROM_SURE (FROM_SYMBOL | FROM_ENTRY | FROM_CALL | FROM_ADDRESS | FROM_FILL)

enum function_kind {
	FUNCTION_WHOLE,
	FUNCTION_PART,      /* of `parent`, or of no function known yet */
	FUNCTION_STUB,      /* a PLT entry; name is that of the symbol it goes to */
	FUNCTION_STUB_HEAD, /* the first PLT entry, which calls the resolver */
};

enum function_return { RETURNS_UNKNOWN, RETURNS, RETURNS_NEVER };

#define FUNCTION_NONE UINT32_MAX
struct function {
	uint64_t start, end;
	const char *name;  /* NULL = nameless; owned by the symbols or by the functions */
	uint64_t clobbers; /* registers a call to it may change; 0 = not computed */
	uint64_t writes;   /* registers its own instructions write; 0 = not computed */
	uint32_t parent;   /* of a part */
	uint16_t sources;
	uint8_t kind, returns;
	bool is_analysed;
	bool holds_return; /* the survey saw a return, or a jump with unknown target, in it */
};

/* Is there reliable evidence that a function starts here? False for a part. */
bool function_is_sure(const struct function *function);
/* Is it an entry of the PLT? */
bool function_is_stub(const struct function *function);
/* Is its end only inferred: stated by neither a sized symbol nor an unwind entry? */
bool function_is_inferred(const struct function *function);

/* A range of executable bytes with one bit per possible instruction for each kind of evidence. */
struct text_range {
	uint64_t start, end;
	unsigned shift; /* instructions start at multiples of 1 << shift */
	/* Bitmaps; NULL before the first evidence. frameless: see functions_last_inner. */
	uint64_t *called, *taken, *jumped, *pointed, *covered, *frameless;
};
/* The number of the bit for an address, and back. */
static inline uint64_t text_bit(const struct text_range *range, uint64_t vaddr)
{
	return (vaddr >> range->shift) - (range->start >> range->shift);
}
static inline uint64_t text_vaddr(const struct text_range *range, uint64_t bit)
{
	return ((range->start >> range->shift) + bit) << range->shift;
}
/* Is vaddr not aligned to an instruction? */
static inline bool text_is_between(const struct text_range *range, uint64_t vaddr)
{
	return vaddr & ((1u << range->shift) - 1);
}

/* Everything is borrowed from the owner of the facts, who keeps it up to date. */
struct code_facts {
	const struct image *image;
	const struct isa *isa;
	const struct frames *frames; /* NULL if hidden */
	const struct relocs *relocs;
	const struct function *at; /* sorted by start, not overlapping */
	size_t n;
	const uint32_t *pages; /* for each page of code (1 << page_shift bytes) from the first start on: the
				  first function that starts in it or after it */
	size_t n_pages;        /* one more entry follows: the number of functions */
	unsigned page_shift;
	const struct text_range *text;
	size_t n_text;
	const uint64_t *references; /* sorted: data addresses that some instruction forms */
	size_t n_references;
};

/* Index of the function, part or stub that contains vaddr, or FUNCTION_NONE. */
uint32_t facts_index(const struct code_facts *facts, uint64_t vaddr);
/* The start of the first function after vaddr; UINT64_MAX if there is none. */
uint64_t facts_next_start(const struct code_facts *facts, uint64_t vaddr);
/* The range that contains vaddr; NULL if there is none. */
const struct text_range *facts_text(const struct code_facts *facts, uint64_t vaddr);
/* Does a call or jump to vaddr return, as far as is known? index: the function that contains vaddr, or
 * FUNCTION_NONE. */
bool facts_returns(const struct code_facts *facts, uint32_t index, uint64_t vaddr);
/* The same for a call through the GOT word `slot`. */
bool facts_slot_returns(const struct code_facts *facts, uint64_t slot);
/* The code that the GOT word `slot` points to, if only the loader writes that word; otherwise false. */
bool facts_slot_target(const struct code_facts *facts, uint64_t slot, uint64_t *ret);
/* Does a call through the GOT word `slot` go to a stack probe, judging by its name? */
bool facts_slot_is_probe(const struct code_facts *facts, uint64_t slot);
/* Registers that a call to vaddr may change: UINT64_MAX if that cannot be determined, 0 if it was not
 * computed yet. */
uint64_t facts_clobbers(const struct code_facts *facts, uint32_t index, uint64_t vaddr);
/* Does some instruction elsewhere jump there? False before there is evidence. */
bool facts_is_jumped_to(const struct code_facts *facts, uint64_t vaddr);
/* The first address above vaddr that some instruction refers to; UINT64_MAX if none is known. */
uint64_t facts_next_reference(const struct code_facts *facts, uint64_t vaddr);
