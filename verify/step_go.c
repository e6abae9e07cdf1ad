/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/step_go.h"

#include <elf.h>

#define G_REGISTER 28 /* AArch64 */
#define G_STORAGE 8   /* x86-64: bytes below the thread pointer */
#define G_STACK_LOW 0 /* offsets in Go's structures for a goroutine (g) and a thread (m) */
#define G_STACK_HIGH 8
#define G_THREAD 48
#define THREAD_G0 0
#define ENTRY_MAX \
	128 /* bytes of the entry point, whose functions call each other without saving a return address */
#define END_AT (1ull << 62) /* the artificial end address of stacks */

void step_go_begin(struct step_go *go, struct image *image, uint64_t bias)
{
	step_go_done(go);
	if (image)
		go->stacks = go_stacks_read(image);
	go->bias = bias;
	go->entry = image ? image->entry : 0;
}

void step_go_done(struct step_go *go)
{
	go_stacks_free(go->stacks);
	*go = (struct step_go){ 0 };
}

static uint64_t step_go_goroutine(const struct stepper *stepper)
{
	if (!stepper->isa->call_pushes_ra)
		return stepper->regs.value[G_REGISTER];
	return stepper->thread_pointer ? stepper_word(stepper, stepper->thread_pointer - G_STORAGE) : 0;
}

bool step_go_place(struct step_go *go, const struct stepper *stepper, uint64_t *region, uint64_t *sp)
{
	uint64_t g = go->stacks ? step_go_goroutine(stepper) : 0;

	if (!g)
		return false;
	uint64_t thread = stepper_word(stepper, g + G_THREAD);
	if (!thread || stepper_word(stepper, thread + THREAD_G0) == g) {
		go->away = 0;
		return false;
	}
	uint64_t low = stepper_word(stepper, g + G_STACK_LOW), high = stepper_word(stepper, g + G_STACK_HIGH);
	if (*sp >= low && *sp <= high) {
		go->region = g;
		go->sp = END_AT - (high - *sp);
		go->away = 0;
	} else if (!go->away) {
		go->away = *sp;
	}
	if (!go->region)
		return false;
	/*
	 * Otherwise g and sp are being changed, one after the other, or the clock is read on the thread's
	 * stack, which is treated as a continuation of the goroutine's.
	 */
	*region = go->region;
	*sp = go->away > *sp ? go->sp - (go->away - *sp) : go->sp;
	return true;
}

bool step_go_begins(const struct step_go *go, uint64_t pc)
{
	enum go_role role = go_stacks_role(go->stacks, pc - go->bias - 1);

	return role == GO_BEGIN || role == GO_EXIT || (go->stacks && pc - go->bias - go->entry < ENTRY_MAX);
}

bool step_go_is_whole(const struct step_go *go, const uint64_t *pcs, size_t n)
{
	if (!go->stacks)
		return true;
	/* The program's first function is reached by a jump, not by a call. */
	return n && (step_go_begins(go, pcs[n - 1]) ||
		     go_stacks_role(go->stacks, pcs[n - 1] - go->bias - 1) == GO_SWITCH);
}
