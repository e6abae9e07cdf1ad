/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers: builds a profile from events, with one or several workers that unwind.
 *
 * A single worker has no thread: each sample is unwound when it arrives. Several workers have a thread, an
 * unwinder and a tree each. All samples of a target thread go to the same worker; changes of address spaces
 * are sent to all, in order. When the profile is requested, the workers are waited for, and their trees are
 * merged into the one that a single worker would have built: the profile is identical for any number of
 * workers, as long as nothing has to be folded.
 */
#pragma once

#include "recording/batch.h"
#include "recording/builder.h"
#include "recording/worker.h"

#define WORKERS_MAX 64

struct workers_options {
	/* 0 = by the number of CPUs: one up to 16 CPUs, then one for every eight, at most 8. Fewer if threads
	 * cannot be created. */
	unsigned n_workers;
	struct unwinder_options unwinding; /* except read_code */
	struct code_reader code;           /* called from any thread; NULL: JIT code is not read */
	/* Called when a sample's stack has been unwound: in the caller's thread, in workers_event or later,
	 * unless the sample's thread has ended by then. May be NULL. */
	void (*walked)(void *context, const struct event *event, const struct stack_use *use);
	void *walked_context;
	/* With one worker that records what walks depend on: reports where a sample was counted. May be NULL.
	 */
	void (*placed)(void *context, const struct event *event, struct builder_place place,
		       const struct depend *depend);
	void *placed_context;
	/* Limit on the memory of all calling context trees together; when it is reached, cold subtrees are
	 * folded (unwinder/cct_fold.h). 0 = none. */
	uint64_t max_memory;
	bool notes_writers; /* builder_note_writers */
};

struct workers;
struct workers *workers_new(struct images *images, const struct source_info *info,
			    const struct workers_options *options);
void workers_free(struct workers *workers);

/* Processes any event. What it points to is not needed afterwards. */
void workers_event(struct workers *workers, const struct event *event);
/* Where the sample after the next event was taken, as in struct source. */
void workers_expect(struct workers *workers, struct sample_place next);
/* Is something held back, to be sent to workers together with later events? In a pause, call workers_flush.
 */
bool workers_is_holding(const struct workers *workers);
void workers_flush(struct workers *workers);
/*
 * Is no batch in transit, and every worker waiting for the next? This is so from workers_profile,
 * workers_quality or workers_finish until the next event. Only then may a child be forked that accesses
 * images, recipes or the profile (base/child.h). The context is the struct workers.
 */
bool workers_are_idle(const void *workers);
/* At the end: ends waits that have not ended, at this time; 0 = that of the last event. */
void workers_cut_waits(struct workers *workers, uint64_t end_ns);
/* Marks the current contents of the profile as reported (cct_tell), so that later only the difference is
 * reported. */
void workers_mark_told(struct workers *workers);
/* For notes and command lines. */
struct builder *workers_builder(struct workers *workers);

/* Samples, losses and ends so far, without the cost of a profile. */
struct profile_quality workers_quality(struct workers *workers);
/* See builder_profile and builder_finish. */
struct profile *workers_profile(struct workers *workers);
struct profile *workers_finish(struct workers *workers);
/* See builder_next. */
struct profile *workers_next(struct workers *workers, uint64_t now_ns);
/*
 * The functions of an image, if a worker had to find them; otherwise NULL. They are lent, and may be used
 * only as long as the requested profile.
 */
struct functions *workers_functions(struct workers *workers, image_id image);
/* After workers_finish, and before functions are lent: adds the results about the code of images to the store
 * that was given for unwinding. */
void workers_save(struct workers *workers);
/* At the end, if it must come soon, at any time: see knowledge_hurry. */
void workers_hurry(struct workers *workers);
/* While they are idle: calls act for the unwinder of each. */
typedef void unwinder_act(struct unwinder *unwinder, void *context);
void workers_each(struct workers *workers, unwinder_act *act, void *context);
