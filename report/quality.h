/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality: how reliable a profile is, in one line and as a number. Every recording and every report ends with
 * the line.
 */
#pragma once

#include "base/text.h"
#include "profile/profile.h"
#include "report/style.h"

/* Are its samples calls of traced functions, which were measured? */
bool quality_is_traced(const struct profile *profile);
/* What its samples are: "sample", or "call" for traced functions. */
const char *quality_unit(const struct profile *profile);

/*
 * Complete stacks among all samples there should have been, in percent: lost samples count against it. 0 if
 * there are no samples. --min-quality is compared with this.
 */
double quality_percent(const struct profile_quality *quality);

/*
 * What the kernel has counted of event 0, which is time or not: counted = sampled + lost + between. A lost
 * sample is assumed to represent as much as others do on average. Negative between: samples represent more
 * than was counted.
 */
struct quality_account {
	bool is_time;
	bool has_kernel; /* between contains time in the kernel, which this clock counts but does not sample
			  */
	uint64_t counted, sampled, lost;
	uint64_t idle, others; /* in samples of idle CPUs, and of processes that are not recorded */
	uint64_t ours;         /* counted, without these two */
	int64_t between;
	double chance; /* of idle CPUs only time may be known: then between may be that much by chance */
};

/* False if it is not known what was counted, as in recordings by other tools. */
bool quality_account(const struct profile *profile, struct quality_account *ret);
/* Of the time that threads waited, the part whose place is not known at all, in percent. */
double quality_unplaced(const struct profile *profile);
/* What event 0 counts: "CPU time", "cycles". An event's name may come from a foreign file: it is made safe to
 * print. */
void quality_add_what(struct text *ret, const struct profile *profile);
/* The share of what was counted that samples represent, in percent; negative if that is not known. */
double quality_seen(const struct profile *profile);

/* What --min-quality requires, in percent; 0 = nothing. */
struct quality_bar {
	double complete, seen;
};

/* Is it met? If not, why gets the reason. */
bool quality_meets(const struct profile *profile, const struct quality_bar *bar, struct text *why);

/* Samples per second of CPU time if the event is a clock, otherwise per second of the recording; 0 = unknown.
 */
double quality_rate(const struct profile *profile);

/*
 * How much of the CPU time of the run, or of what else event 0 counts, is not represented by samples, apart
 * from lost ones, in percent; 0 if that is little or not known. The clock starts again with each process and
 * thread: the last part of an interval, and all of processes that end before their first sample, fall between
 * samples. So do the delay of a late timer, and the kernel's time if it is excluded.
 */
double quality_between(const struct profile *profile);
/* The reason for that; NULL if nothing is missing. */
const char *quality_missing(const struct profile *profile);

/*
 * Appends, without a line end: "quality: 12,345 samples, 98.7% complete (1.1% snapshot ended, 0.2% no
 * recipe), 0 lost, ..." Reasons that did not occur and parts that are not known are left out.
 */
void quality_line(const struct profile *profile, struct text *ret);

struct scope_tree;
struct costs;
/* The same in full, one line each: every reason why stacks ended, where they ended (if tree and costs are not
 * NULL), every witness, cost, what was changed on the machine, notes. */
void quality_table(const struct profile *profile, const struct scope_tree *tree, const struct costs *costs,
		   const struct style *style, struct text *ret);

/* Incomplete stacks, by the module of their outermost frame (NULL: none), the most frequent first. */
void quality_ends_each(const struct profile *profile, const struct scope_tree *tree,
		       const struct costs *costs,
		       void (*put)(void *context, const char *module, uint64_t samples), void *context);

/* An estimate of what the recording took from the target, and what it changed on the machine; nothing for an
 * import. */
void quality_changes_each(const struct profile *profile,
			  void (*put)(void *context, const char *name, uint64_t value), void *context);
/* The same for programs: put(context, "by_end.complete", 85) for each fact, in a fixed order. */
void quality_each(const struct profile *profile, void (*put)(void *context, const char *name, double value),
		  void *context);

/* If many samples or complete stacks are missing: how to get more. One sentence, static; NULL = none. */
const char *quality_hint(const struct profile *profile);

/* Why a recording has no samples, as far as that is known: one sentence, static. */
const char *quality_no_samples(const struct profile *profile);

/* "snapshot_ended" as words. */
void quality_add_words(struct text *ret, const char *name);
