/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwinder: events in, stacks out.
 *
 * It keeps one address space per process from the mapping, fork, exec and exit events, one recipe
 * cache per image, and walks each sample's copied stack with them. Pure but for the memory callback.
 */
#pragma once

#include "base/store.h"
#include "collector/event.h"
#include "recipes/policy.h"
#include "recipes/recipe.h"
#include "unwinder/memory.h"
#include "unwinder/stack.h"

struct unwinder_options {
	enum unwind_mode mode;
	memory_reader
		read_memory;     /* only if the target stands still from the sample to the walk; else NULL */
	memory_reader read_code; /* code that is in no file, whenever it is asked for; may be NULL */
	void *read_context;
	struct store
		*store; /* where findings about the code of images are kept from run to run; NULL = nowhere */
	bool walks_in_full; /* nothing is taken from the thread's last stack, no step is made plainly: same
			       result, slower */
};

struct unwinder;
struct unwinder *unwinder_new(struct images *images, const struct isa *isa,
			      const struct unwinder_options *options);
void unwinder_free(struct unwinder *unwinder);

/* Mappings, forks, execs and exits; other kinds are ignored. */
void unwinder_event(struct unwinder *unwinder, const struct event *event);
/* A hint: where the sample after the one that is walked next was taken. What it needs is prefetched
 * meanwhile. */
void unwinder_expect(struct unwinder *unwinder, struct sample_place next);
/* Fills ret (cleared first; reuse it from sample to sample). The event must be an EVENT_SAMPLE. */
void unwinder_walk(struct unwinder *unwinder, const struct event *event, struct stack *ret);

/* The functions of an image, if they had to be found out; NULL if not. They are the unwinder's: no event may
 * come while they are used. */
struct functions *unwinder_functions(struct unwinder *unwinder, image_id image);
/* What was found out about the code of images joins the store. */
void unwinder_save(struct unwinder *unwinder);

/* Where a run-time address lies: IMAGE_NONE if nowhere. */
image_id unwinder_locate(struct unwinder *unwinder, pid_t pid, uint64_t pc, uint64_t *ret_vaddr);

/* What was done, for the quality line and the benchmark. */
struct unwinder_stats {
	uint64_t steps_by_witness[WITNESS_N];
	uint64_t frames, cache_hits, cache_misses, functions_compiled;
};
const struct unwinder_stats *unwinder_stats(const struct unwinder *unwinder);

/* Called before every step of a walk when set: registers, recipe, verdict. For `inspect stacks --explain`. */
struct walk_step {
	const struct regs *regs;
	struct frame frame;
	const struct recipes *recipes;
	uint32_t recipe; /* RECIPE_NONE = none found */
	uint64_t cfa, ra;
	enum verdict verdict;
	const char *note; /* why, in words */
};
typedef void (*walk_observer)(void *context, const struct walk_step *step);
void unwinder_observe(struct unwinder *unwinder, walk_observer observer, void *context);
