/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place: everything that the unwinder needs to know about an address of an image.
 */
#pragma once

#include "recipes/policy.h"
#include "recipes/recipe.h"

enum place_call {
	CALL_NONE,   /* no call instruction ends here */
	CALL_DIRECT, /* to call_target */
	CALL_INDIRECT,
	CALL_UNKNOWN,   /* the code cannot be read */
	CALL_CONTINUED, /* no call, but the start of code that continues in a frame set up before: someone
			   has put this address there, to be returned to (V8's deoptimizer) */
};

#define VADDR_NONE UINT64_MAX

struct place {
	struct recipe_pair recipes;
	uint64_t function; /* vaddr where the function, or the part of one, starts; VADDR_NONE = not known */
	uint64_t call_target; /* vaddr; of a CALL_DIRECT */
	uint8_t call;         /* enum place_call: the instruction that ends at this address */
	bool has_code;        /* the image has readable code of this machine */
	bool is_root;         /* execution starts here: there is no caller */
	bool is_between;  /* switches from one stack to another: a frame pointer does not say which one is in
			     use */
	bool ends_thread; /* a return to here ends the thread: if no further step is possible, it is a root */
	bool is_trampoline; /* a signal handler, a coroutine or a probed function returns here: no call
			       precedes it */
	bool leaves_stack;  /* its caller may be on another stack, of which only the location is known */
	bool has_wants;  /* `wants` is not 0; here because everything that each step reads is in the first 64
			    bytes of a pc_entry */
	uint64_t wants;  /* registers read by its recipes that a callee need not preserve */
	bool loses_regs; /* its function is left by an exception, or overwrites registers that it should keep:
			    those of its callers may be lost */
	/* Its code was not analysed, because it is a call or was rarely interrupted here: the answer may
	 * change later. */
	bool is_early;
	bool is_exact;      /* if is_early: its unwind entry also covers the epilogue */
	bool has_goroutine; /* if interrupted here, isa->goroutine contains the goroutine; a return to here
			       ends it */
};

/* The answer to a question (knowledge.h). */
struct answer {
	uint64_t number; /* a number or a truth value; for a recipe: the start of its function, VADDR_NONE =
			    not known */
	uint32_t recipe; /* RECIPE_NONE if there is none, or the question is a different one */
	struct place place; /* for ASK_PLACE */
};
