/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew: events in, a profile out; the unwinding done by one or several workers.
 *
 * One worker is no thread at all: each sample is walked where it comes in. Several have a thread, an unwinder
 * and a tree each. The samples of a thread all go to one of them; what happens to address spaces is told to
 * all, in order. Whenever the profile is asked for they are waited for, and their trees are woven into the
 * one that a single worker would have grown: the profile is the same, byte for byte, whatever their number.
 */
#pragma once

#include "recording/batch.h"
#include "recording/builder.h"

#define CREW_MAX 64

struct crew_options {
	/* 0 = by the number of CPUs: one up to 16 CPUs, then one for every eight, at most 8. Where threads
	 * cannot be had there are fewer. */
	unsigned n_workers;
	/* read_code must bear to be called from any thread; what it is given may be the id of any thread of
	 * the process. */
	struct unwinder_options unwinding;
	/* A sample's stack has been walked: told on the caller's thread, in crew_event or later, unless the
	 * sample's thread has ended by then. May be NULL. */
	void (*walked)(void *context, const struct event *event, const struct stack_use *use);
	void *walked_context;
};

struct crew;
struct crew *crew_new(struct images *images, const struct source_info *info,
		      const struct crew_options *options);
void crew_free(struct crew *crew);

/* Any event. What it points to may go afterwards. */
void crew_event(struct crew *crew, const struct event *event);
/* Where the sample after the next event was taken, as struct source has it. */
void crew_expect(struct crew *crew, struct sample_place next);
/* Is something held back, to be sent to workers together with what follows? When there is a pause: flush. */
bool crew_is_holding(const struct crew *crew);
void crew_flush(struct crew *crew);
/* For notes and command lines. */
struct builder *crew_builder(struct crew *crew);

/* Samples, losses and ends so far, without the cost of a profile. */
struct profile_quality crew_quality(struct crew *crew);
/* As builder_profile and builder_finish. */
struct profile *crew_profile(struct crew *crew);
struct profile *crew_finish(struct crew *crew);
/*
 * The functions of an image, if somebody had to find them out; NULL if not. They are the crew's: only while
 * the profile that was asked for is used.
 */
struct functions *crew_functions(struct crew *crew, image_id image);
/* After crew_finish, and before functions are lent: what was found out about the code of images joins the
 * store that was given for unwinding. */
void crew_save(struct crew *crew);
