/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge: merges any number of profiles: runs of one program, or programs of one run.
 *
 *     struct merger *merger = merger_new(&options);
 *     for each file: profile_read, merger_add, profile_free
 *     struct profile *all = merger_finish(merger);
 *
 * Images are the same if their build-ids are equal, or without build-ids if their paths are; events if name
 * and unit are equal; threads and processes never. If starts are known, times are converted to one clock.
 * Sums of the result are the sums of all profiles.
 *
 * It needs the memory of the result and of one profile. The result does not depend on the order of the
 * profiles, nor on whether merges are merged again: all parts are sorted, and conflicts are resolved by
 * content, not by origin.
 */
#pragma once

#include "profile/profile.h"

/*
 * Which processes and threads of two profiles are the same? Consecutive profiles of one machine have some in
 * common: those with the same pid, name and user, or after some time, when pids have been reused, those with
 * the same name and user. Images without references are then left out.
 */
enum merge_joins { MERGE_APART, MERGE_BY_NUMBER, MERGE_BY_NAME };

struct merge_options {
	enum merge_joins joins;
	/* With MERGE_BY_NUMBER: of a profile with more processes than that, those that began and ended in it
	 * are joined by name; and likewise threads, but for the first one of a process. 0 = none are. */
	size_t max_numbered;
	/* If processes are joined: a limit on the memory of the tree. Beyond it, rare call paths are thinned
	 * out (unwinder/cct_thin.h), and the result then depends on the order of the profiles. 0 = none. */
	size_t max_bytes;
	/* Ranks are not distinguished: all threads become one, and each node has statistics of the values of
	 * the ranks. */
	bool reduces;
	/* If processes are joined, without a limit: merger_add may be called by several threads. That takes
	 * more memory: that of the call paths several times. */
	bool in_threads;
};

struct merger;

struct merger *merger_new(const struct merge_options *options);
void merger_free(struct merger *merger);
static inline void merger_freep(struct merger **merger)
{
	merger_free(*merger);
}
/*
 * Adds a profile, which is not needed afterwards. -EINVAL if it cannot be added: it was merged without
 * --reduce and this merge reduces, or the other way round, or there is more than a file can contain. Then
 * nothing of it is added. name is only for messages.
 */
int merger_add(struct merger *merger, const struct profile *from, const char *name, struct diag *diag);
/*
 * Adds what a profile knows about the code of images that are already there, and nothing else.
 */
void merger_add_names(struct merger *merger, const struct profile *from);
/* The result so far, in no order and without values; with in_threads also without nodes. */
const struct profile *merger_so_far(const struct merger *merger);
/* The number of profiles that were added. */
size_t merger_count(const struct merger *merger);
/* Adds a sentence to the notes of the result. */
void merger_note(struct merger *merger, const char *text);
/* The result, with its values packed (profile_unpack). Frees the merger. An empty profile if nothing was
 * added. */
struct profile *merger_finish(struct merger *merger);
/* The same with its values in the tree. */
struct profile *merger_finish_plain(struct merger *merger);

/*
 * A merge by several processes. Each adds its share of the files to a merger of its own. Then all except the
 * first send what they have, without the values, to another process, and so on, until the first has
 * everything:
 *
 *     sender: merger_pack_share            receiver: merger_add_share
 *
 * The first determines the final order, and the numbers of nodes, threads and metrics are sent back along the
 * same way. Finally each process renumbers its values, and all together make the tables (value_blocks.h). No
 * files may be added after a share, and nothing is reduced or joined.
 */
enum merge_number { NUMBER_NODE, NUMBER_THREAD, NUMBER_METRIC, NUMBER_KINDS };

/* The numbers of a merger's nodes, threads and metrics elsewhere. Empty: it contributes nothing to the
 * result. */
struct merge_numbers {
	VEC(uint32_t) of[NUMBER_KINDS];
	uint32_t n_nodes; /* of the result */
};
void merge_numbers_done(struct merge_numbers *numbers);
/* Composes two mappings: `numbers` lead to where `next` starts, and afterwards to where `next` leads. */
void merge_numbers_follow(struct merge_numbers *numbers, const struct merge_numbers *next);
void merge_numbers_pack(const struct merge_numbers *numbers, struct writer *ret);
int merge_numbers_parse(struct bytes bytes, struct merge_numbers *ret);

/* To be called when all files have been added: does work that would otherwise be done later. */
void merger_close(struct merger *merger);
/* Writes nothing if nothing was added to the merger. */
void merger_pack_share(struct merger *merger, struct writer *ret);
/* ret: the numbers of the sender's rows here. Errors as in merger_add and profile_parse. */
int merger_add_share(struct merger *merger, struct bytes share, const char *name, struct merge_numbers *ret,
		     struct diag *diag);
/* The result without its values; ret: the numbers of the merger's own rows in it. */
struct profile *merger_settle(struct merger *merger, struct merge_numbers *ret);
/* The values of the merger's own files, with the numbers of the result; takes `numbers`. Frees the merger. */
struct packed_values *merger_take_values(struct merger *merger, struct merge_numbers *numbers);

/* Merges both into `into`. */
void profile_merge(struct profile *into, const struct profile *from);
