/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality: how reliable a profile is, in one line and as a number. Every recording and every report ends with
 * the line.
 */
#pragma once

#include "base/text.h"
#include "profile/profile.h"
#include "report/style.h"

/* Every call was measured: nothing of it is an estimate. */
bool quality_is_exact(const struct profile *profile);
/* What its samples are: "sample", or "call" of a function that was traced. */
const char *quality_unit(const struct profile *profile);

/*
 * Complete stacks among all samples there should have been, in percent: lost samples count against
 * it. 0 if there are no samples. This is what --min-quality is held against.
 */
double quality_percent(const struct profile_quality *quality);

/*
 * Where the time of event 0 went, as the kernel counted it: counted = sampled + lost + between. Lost samples
 * stand for as much as others do on average. Negative between: samples stand for more than was counted.
 */
struct quality_account {
	uint64_t counted, sampled, lost;
	int64_t between;
};

/* False if it is not known what was counted: recordings of others, events that leave the kernel out. */
bool quality_account(const struct profile *profile, struct quality_account *ret);
/* The share of what was counted that samples stand for, in percent; negative if that is not known. */
double quality_seen(const struct profile *profile);

/* What --min-quality asks for, in percent; 0 = whatever it is. */
struct quality_bar {
	double complete, seen;
};

/* Is it met? If not, why says what is missing. */
bool quality_meets(const struct profile *profile, const struct quality_bar *bar, struct text *why);

/* Samples per second of CPU time where the event is a clock, else per second of the recording; 0 = unknown.
 */
double quality_rate(const struct profile *profile);

/*
 * How much of the CPU time of the run no sample stands for, lost ones apart, in percent; 0 if that is little
 * or not known. A clock starts anew with each process and thread: the last part of an interval, and all of
 * those that end before their first, fall between samples. So does what a late timer was late by.
 */
double quality_between(const struct profile *profile);
/* Why that is so; NULL if nothing is missing. */
const char *quality_missing(const struct profile *profile);

/*
 * Appends, without a line end: "quality: 12,345 samples, 98.7% complete (1.1% snapshot ended, 0.2% no
 * recipe), 0 lost, ..." Ends that did not happen and parts that are not known are left out.
 */
void quality_line(const struct profile *profile, struct text *ret);

struct scope_tree;
struct costs;
/* The same in full, a line each: every end, where stacks ended (if tree and costs are not NULL), every
 * witness, cost, what was changed on the machine, notes. */
void quality_table(const struct profile *profile, const struct scope_tree *tree, const struct costs *costs,
		   const struct style *style, struct text *ret);

/* Stacks that are not complete, by the module of their outermost frame (NULL: none), the most first. */
void quality_ends_each(const struct profile *profile, const struct scope_tree *tree,
		       const struct costs *costs,
		       void (*put)(void *context, const char *module, uint64_t samples), void *context);

/* What recording took from the target, about, and changed on the machine; nothing of an import. */
void quality_changes_each(const struct profile *profile,
			  void (*put)(void *context, const char *name, uint64_t value), void *context);
/* The same for programs: put(context, "by_end.complete", 85) for each fact, in a fixed order. */
void quality_each(const struct profile *profile, void (*put)(void *context, const char *name, double value),
		  void *context);

/* What would get more samples, or more stacks to their root, if many are missing: one sentence, static; NULL
 * = nothing to say. */
const char *quality_hint(const struct profile *profile);

/* Why a recording has no samples, as far as can be told: one sentence, static. */
const char *quality_no_samples(const struct profile *profile);

/* "snapshot_ended" as people write it. */
void quality_add_words(struct text *ret, const char *name);
