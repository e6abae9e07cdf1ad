/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack: one unwound stack, innermost frame first, and the reason why it ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "binary/elf/image.h"

enum stack_end {
	STACK_COMPLETE,       /* reached a known root, and every step was at least likely */
	STACK_NO_IMAGE,       /* the pc is in no mapping, or in one whose image could not be opened */
	STACK_NO_RECIPE,      /* there is no recipe for this code */
	STACK_BAD_READ,       /* a slot that is neither in the snapshot nor readable */
	STACK_NO_PROGRESS,    /* sp did not increase */
	STACK_INVALID_STEP,   /* the return address does not follow a call */
	STACK_SNAPSHOT_ENDED, /* the stack continues beyond the copied bytes */
	STACK_TOO_DEEP,       /* more than STACK_MAX_FRAMES */
	STACK_NO_USER_REGS,   /* the sample has no user registers (a kernel thread, a 32-bit task) */
	STACK_END_N,
};
/* JSON and report spelling: "complete", "snapshot_ended", ... */
const char *stack_end_name(enum stack_end end);

enum verdict { VERDICT_INVALID, VERDICT_LIKELY, VERDICT_VALID };
const char *verdict_name(enum verdict verdict);

#define STACK_MAX_FRAMES 65536 /* real programs are thousands of frames deep; a cycle of frames must end */

#define FRAME_OF_COROUTINE UINT64_MAX
struct frame {
	uint64_t pc;    /* run-time address; for a caller the return address */
	uint64_t vaddr; /* the corresponding address in the image */
	/* What distinguishes one call of a function from the next, see activations.h; 0 = not known. */
	uint64_t cfa;  /* FRAME_OF_COROUTINE: an outermost frame whose stack may move or change threads */
	uint64_t held; /* the values of the registers that the frame has saved and uses itself, combined into
			  one number; for the outermost frame of a coroutine: the goroutine */
	image_id image;
	bool is_return;  /* use vaddr - 1 for lookups: a call may be the last instruction of its function */
	uint8_t witness; /* of the step from this frame to its caller; WITNESS_NONE for the last one */
	uint8_t verdict; /* of the step from this frame to its caller */
};

struct stack {
	VEC(struct frame) frames; /* kernel frames first, if any, then user frames */
	uint32_t n_kernel;
	bool has_callee; /* the single frame before the user frames is not a kernel frame, but a function that
			    has just returned */
	enum stack_end end;
	/* If only a part of the stack was walked: how many of its outermost frames are the same as in stack
	 * shared_serial, and how many of them may still be the same calls. Serials are unique in one
	 * unwinder; 0 = not numbered. */
	uint32_t n_shared, n_same;
	bool is_new_inside; /* all calls inside these n_same frames are new */
	uint64_t serial, shared_serial;
	uint64_t reach;     /* end of the outermost word of memory that was needed */
	bool has_jit;       /* the part that was walked, not recalled, contains JIT code */
	uint64_t elsewhere; /* if the stack ended because memory was missing: the address of the saved sp of
			       the missing part, if that is another stack, which was interrupted by a signal
			       with an alternate stack; otherwise 0 */
};

void stack_clear(struct stack *stack);
void stack_done(struct stack *stack);
