/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge: any number of profiles as one: runs of one program, or programs of one run.
 *
 *     struct merger *merger = merger_new(&options);
 *     for each file: profile_read, merger_add, profile_free
 *     struct profile *all = merger_finish(merger);
 *
 * Images are the same if their build-ids are, or without those their paths; events if name and unit are;
 * threads and processes never. Times are put on one clock where starts are known. Sums of the result are the
 * sums of all.
 *
 * It needs the memory of the result and of one profile. The result does not depend on the order of the
 * profiles, nor on whether merges are merged again: all parts are sorted, and conflicts are resolved by
 * content, not by origin.
 */
#pragma once

#include "profile/profile.h"

/*
 * Are processes and threads of two profiles the same? Profiles of one machine that follow each other have
 * them in common: those of one number, name and user, or after a while, when numbers say nothing any more,
 * those of one name and user. Images that nothing refers to are left out then.
 */
enum merge_joins { MERGE_APART, MERGE_BY_NUMBER, MERGE_BY_NAME };

struct merge_options {
	enum merge_joins joins;
	/* With MERGE_BY_NUMBER: of a profile with more processes than that, those that began and ended in it
	 * are joined by name; and likewise threads, but for the first one of a process. 0 = none are. */
	size_t max_numbered;
	/* Of joined ones: a bound on the memory of the tree. What is cold beyond it is folded
	 * (unwinder/cct_fold.h), and then the order in which profiles come counts. 0 = none. */
	size_t max_bytes;
	/* Ranks are not told apart: threads become one, and each node keeps how its values are spread. */
	bool reduces;
};

struct merger;

struct merger *merger_new(const struct merge_options *options);
void merger_free(struct merger *merger);
static inline void merger_freep(struct merger **merger)
{
	merger_free(*merger);
}
/*
 * Adds all of a profile, which is not needed afterwards. -EINVAL for one that does not fit: merged without
 * reducing where that is asked for, or the other way round, or more than a file can hold. Nothing of it is
 * added then. name is only for messages.
 */
int merger_add(struct merger *merger, const struct profile *from, const char *name, struct diag *diag);
/*
 * Adds what a profile knows of code, of images that are there already; nothing else of it.
 */
void merger_add_names(struct merger *merger, const struct profile *from);
/* What there is of the result, in no order and without values. */
const struct profile *merger_so_far(const struct merger *merger);
/* How many were added. */
size_t merger_count(const struct merger *merger);
/* A sentence for the notes of the result. */
void merger_note(struct merger *merger, const char *text);
/* The result, with its values packed (profile_unpack). Ends the merger. Nothing added: an empty profile. */
struct profile *merger_finish(struct merger *merger);

/*
 * One merge by several processes. Each adds its share of the files to a merger of its own. Then all but the
 * first send what they have, but for the values, to another, and so on, until the first has all:
 *
 *     sender: merger_pack_share            receiver: merger_add_share
 *
 * The first settles in which order everything is, and numbers of nodes, threads and metrics go the same way
 * back. Last, each numbers its values, and all of them together make the tables (value_blocks.h). No files
 * are added after a share, and nothing is reduced or joined.
 */
enum merge_number { NUMBER_NODE, NUMBER_THREAD, NUMBER_METRIC, NUMBER_KINDS };

/* What the nodes and so on of a merger are called elsewhere. None: what it has is not part of the result. */
struct merge_numbers {
	VEC(uint32_t) of[NUMBER_KINDS];
	uint32_t n_nodes; /* of the result */
};
void merge_numbers_done(struct merge_numbers *numbers);
/* Goes on from where they are numbers of: afterwards they are those of the result. */
void merge_numbers_follow(struct merge_numbers *numbers, const struct merge_numbers *next);
void merge_numbers_pack(const struct merge_numbers *numbers, struct writer *ret);
int merge_numbers_parse(struct bytes bytes, struct merge_numbers *ret);

/* All files have been added. What that takes need not be waited for later. */
void merger_close(struct merger *merger);
/* Nothing for a merger to which nothing was added. */
void merger_pack_share(struct merger *merger, struct writer *ret);
/* ret: what the sender's are here. Errors as of merger_add and of profile_parse. */
int merger_add_share(struct merger *merger, struct bytes share, const char *name, struct merge_numbers *ret,
		     struct diag *diag);
/* The result, but for its values; ret: what the merger's own are there. */
struct profile *merger_settle(struct merger *merger, struct merge_numbers *ret);
/* The values of the merger's own files, by the numbers of the result, which are taken. Ends the merger. */
struct packed_values *merger_take_values(struct merger *merger, struct merge_numbers *numbers);

/* Both as one, in `into`. */
void profile_merge(struct profile *into, const struct profile *from);
