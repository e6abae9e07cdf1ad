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
	CALL_UNKNOWN, /* the code cannot be read */
};

#define VADDR_NONE UINT64_MAX

struct place {
	struct recipe_pair recipes;
	uint64_t function; /* vaddr where the function, or the part of one, starts; VADDR_NONE = not known */
	uint64_t call_target; /* vaddr; of a CALL_DIRECT */
	uint8_t call;         /* enum place_call; what ends right before the place */
	bool has_code;        /* the image has code of this machine that we can read */
	bool is_root;         /* the kernel starts here: there is no caller */
	bool is_between;      /* goes from one stack to another: no frame pointer says on which it is */
	bool ends_thread;     /* a return here ends the thread: if no step leads on, it is a root */
	bool is_trampoline; /* a signal handler, a coroutine or a probed function returns here: no call stands
			       before it */
	bool leaves_stack; /* its caller may be on another stack, of which nothing is known but where it is */
	bool has_wants; /* any; said here because all that every step looks at stands in the first 64 bytes of
			   a pc_entry */
	uint64_t wants; /* registers its recipes read that a callee need not keep */
	bool loses_regs; /* its function leaves by an exception: what its callers had in registers may be lost
			  */
	/* Its code was not looked at, because it was seldom asked for: the answer may be another later. */
	bool is_early;
	bool is_exact;      /* of such: its unwind entry tells where the frame is given back, too */
	bool has_goroutine; /* who is interrupted here has its goroutine in isa->goroutine; who returns here
			       ends it */
};

/* What is known when a question has been asked (knowledge.h). */
struct answer {
	uint64_t
		number; /* or a truth value; of a recipe: where its function starts, VADDR_NONE = not known */
	uint32_t recipe;    /* RECIPE_NONE if there is none, or none was asked for */
	struct place place; /* if that was asked for */
};
