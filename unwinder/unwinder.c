/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/unwinder.h"

#include <stdlib.h>

#include "unwinder/space.h"
#include "unwinder/walk.h"

struct unwinder {
	struct images *images;
	struct spaces *spaces;
	struct walker walker;
	image_id kernel; /* IMAGE_NONE until a kernel address is seen */
};

struct unwinder *unwinder_new(struct images *images, const struct isa *isa,
			      const struct unwinder_options *options)
{
	struct unwinder *unwinder = alloc_zero(1, sizeof(*unwinder));

	unwinder->images = images;
	unwinder->spaces = spaces_new();
	unwinder->kernel = IMAGE_NONE;
	walker_init(&unwinder->walker, images, isa, options);
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	walker_done(&unwinder->walker);
	spaces_free(unwinder->spaces);
	free(unwinder);
}

void unwinder_event(struct unwinder *unwinder, const struct event *event)
{
	spaces_event(unwinder->spaces, event);
	switch (event->kind) {
	case EVENT_CODE:
		code_pages_put(unwinder->walker.code, event->pid, event->code.addr, event->code.bytes);
		break;
	case EVENT_EXIT:
		if (unwinder->walker.recalls)
			recalls_forget(unwinder->walker.recalls, event->tid);
		break;
	case EVENT_SAMPLE: /* unwinder_walk */
	case EVENT_MAPPING:
	case EVENT_FORK:
	case EVENT_EXEC:
	case EVENT_COMM:
	case EVENT_LOST:
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
	case EVENT_SWITCH:
		break;
	}
}

static void unwinder_add_kernel_frames(struct unwinder *unwinder, const struct sample *sample,
				       struct stack *ret)
{
	if (sample->n_kernel_pc && unwinder->kernel == IMAGE_NONE)
		unwinder->kernel = images_add_pseudo(unwinder->images, IMAGE_KERNEL, "[kernel]", NULL);
	for (uint32_t i = 0; i < sample->n_kernel_pc && i < STACK_MAX_FRAMES; i++) {
		struct frame frame = { .pc = sample->kernel_pc[i],
				       .vaddr = sample->kernel_pc[i],
				       .image = unwinder->kernel,
				       .is_return = i > 0 };
		vec_push(&ret->frames, frame);
	}
	ret->n_kernel = (uint32_t)ret->frames.n;
}

/* A function that has just returned no longer has a frame; it is shown nevertheless. */
static void unwinder_add_callee(struct unwinder *unwinder, const struct event *event, struct stack *ret)
{
	struct frame frame = { .pc = event->sample.callee };

	frame.image = unwinder_locate(unwinder, event->pid, frame.pc, &frame.vaddr);
	if (frame.image == IMAGE_NONE)
		return;
	vec_push(&ret->frames, frame);
	ret->n_kernel = 1;
	ret->has_callee = true;
}

void unwinder_expect(struct unwinder *unwinder, struct sample_place next)
{
	unwinder->walker.next = next;
}

void unwinder_walk(struct unwinder *unwinder, const struct event *event, struct stack *ret)
{
	const struct sample *sample = &event->sample;
	struct space *space = spaces_find(unwinder->spaces, event->pid);

	stack_clear(ret);
	if (sample->callee)
		unwinder_add_callee(unwinder, event, ret);
	else
		unwinder_add_kernel_frames(unwinder, sample, ret);
	/* A chain from the kernel is second best: it exists only if no stack was copied. */
	if (sample->stack.len == 0 && sample->n_user_pc)
		walk_chain(&unwinder->walker, space, event, ret);
	else
		walk_sample(&unwinder->walker, space, event, ret);
	unwinder->walker.next = (struct sample_place){ 0 };
	unwinder->walker.stats.functions_compiled = knowledge_compiled(unwinder->walker.knowledge);
}

struct functions *unwinder_functions(struct unwinder *unwinder, image_id image)
{
	return knowledge_functions(unwinder->walker.knowledge, image);
}

void unwinder_save(struct unwinder *unwinder)
{
	knowledge_save(unwinder->walker.knowledge);
}

void unwinder_hurry(struct unwinder *unwinder)
{
	knowledge_hurry(unwinder->walker.knowledge);
}

void unwinder_forget(struct unwinder *unwinder, bool all)
{
	knowledge_forget(unwinder->walker.knowledge, all);
	jit_forget(unwinder->walker.jit);
	code_pages_forget(unwinder->walker.code);
}

void unwinder_mark_images(const struct unwinder *unwinder, bool *is_used)
{
	spaces_mark_images(unwinder->spaces, is_used);
}

void unwinder_forget_images(struct unwinder *unwinder, const bool *is_unused)
{
	spaces_forget_images(unwinder->spaces, is_unused);
	knowledge_forget_images(unwinder->walker.knowledge, is_unused);
	pc_table_clear(&unwinder->walker.pcs);
	hotspot_forget(unwinder->walker.hotspot);
	if (unwinder->walker.recalls)
		recalls_drop_all(unwinder->walker.recalls);
}

image_id unwinder_locate(struct unwinder *unwinder, pid_t pid, uint64_t pc, uint64_t *ret_vaddr)
{
	struct space *space = spaces_find(unwinder->spaces, pid);
	const struct space_map *map = space ? space_find(space, pc) : NULL;

	if (!map)
		return IMAGE_NONE;
	*ret_vaddr = pc - map->bias;
	return map->image;
}

const struct unwinder_stats *unwinder_stats(const struct unwinder *unwinder)
{
	return &unwinder->walker.stats;
}

void unwinder_observe(struct unwinder *unwinder, walk_observer observer, void *context)
{
	unwinder->walker.observer = observer;
	unwinder->walker.observer_context = context;
}

const struct depend *unwinder_depend(const struct unwinder *unwinder)
{
	return unwinder->walker.depend;
}
