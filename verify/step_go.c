/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/step_go.h"

#include <elf.h>

#define G_REGISTER 28
#define G_STACK_LOW 0 /* offsets in the descriptions of a goroutine (g) and of a thread (m) */
#define G_STACK_HIGH 8
#define G_THREAD 48
#define THREAD_G0 0
#define ENTRY_MAX \
	128 /* bytes of the entry point, whose functions call each other without keeping a return address */
#define END_AT (1ull << 62) /* the artificial end address of stacks */

void step_go_begin(struct step_go *go, struct image *image, uint64_t bias)
{
	step_go_done(go);
	if (image && image->elf_machine == EM_AARCH64)
		go->stacks = go_stacks_read(image);
	go->bias = bias;
	go->entry = image ? image->entry : 0;
}

void step_go_done(struct step_go *go)
{
	go_stacks_free(go->stacks);
	*go = (struct step_go){ 0 };
}

void step_go_place(struct step_go *go, const struct stepper *stepper, uint64_t *region, uint64_t *sp)
{
	uint64_t g = stepper->regs.value[G_REGISTER];

	if (!go->stacks || !g)
		return;
	uint64_t thread = stepper_word(stepper, g + G_THREAD);
	if (!thread || stepper_word(stepper, thread + THREAD_G0) == g)
		return;
	uint64_t low = stepper_word(stepper, g + G_STACK_LOW), high = stepper_word(stepper, g + G_STACK_HIGH);
	if (*sp >= low && *sp <= high) {
		go->region = g;
		go->sp = END_AT - (high - *sp);
	}
	/* Otherwise the register and sp are just being changed, one after the other. */
	*region = go->region;
	*sp = go->sp;
}

bool step_go_begins(const struct step_go *go, uint64_t pc)
{
	enum go_role role = go_stacks_role(go->stacks, pc - go->bias - 1);

	return role == GO_BEGIN || role == GO_EXIT || (go->stacks && pc - go->bias - go->entry < ENTRY_MAX);
}

bool step_go_is_whole(const struct step_go *go, const uint64_t *pcs, size_t n)
{
	return !go->stacks || (n && step_go_begins(go, pcs[n - 1]));
}
