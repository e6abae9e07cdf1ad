/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwinder: turns events into stacks.
 *
 * It maintains one address space per process from the mapping, fork, exec and exit events, and one recipe
 * cache per image, and unwinds each sample's copied stack with them. It has no side effects except through
 * the memory callback.
 */
#pragma once

#include "collector/event.h"
#include "unwinder/stack.h"
#include "unwinder/walk_types.h"

struct unwinder;
struct unwinder *unwinder_new(struct images *images, const struct isa *isa,
			      const struct unwinder_options *options);
void unwinder_free(struct unwinder *unwinder);

/* Mappings, forks, execs and exits; other kinds are ignored. */
void unwinder_event(struct unwinder *unwinder, const struct event *event);
/* A hint: where the sample after the one that is walked next was taken. Its data is prefetched meanwhile. */
void unwinder_expect(struct unwinder *unwinder, struct sample_place next);
/* Fills ret (cleared first; reuse it from sample to sample). The event must be an EVENT_SAMPLE. */
void unwinder_walk(struct unwinder *unwinder, const struct event *event, struct stack *ret);

/* The functions of an image, if they were needed; otherwise NULL. They belong to the unwinder: no event may
 * be processed while they are used. */
struct functions *unwinder_functions(struct unwinder *unwinder, image_id image);
/* Adds the findings about the code of images to the store. */
void unwinder_save(struct unwinder *unwinder);
/* See knowledge_forget, and for JIT code code_pages_forget. */
void unwinder_forget(struct unwinder *unwinder, bool all);
/* Sets is_used for each image that is mapped in a process. */
void unwinder_mark_images(const struct unwinder *unwinder, bool *is_used);
/* Before images_forget. */
void unwinder_forget_images(struct unwinder *unwinder, const bool *is_unused);
/* From any thread: see knowledge_hurry. */
void unwinder_hurry(struct unwinder *unwinder);

/* The image that contains a run-time address; IMAGE_NONE if there is none. */
image_id unwinder_locate(struct unwinder *unwinder, pid_t pid, uint64_t pc, uint64_t *ret_vaddr);

/* What was done so far. */
const struct unwinder_stats *unwinder_stats(const struct unwinder *unwinder);

/* NULL: stop observing. */
void unwinder_observe(struct unwinder *unwinder, walk_observer observer, void *context);

/* Everything that the last walk depended on; NULL = this is not recorded. */
struct depend;
const struct depend *unwinder_depend(const struct unwinder *unwinder);
