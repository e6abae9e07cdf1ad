/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of a merge share: merge.c adds a profile, merge_run, merge_time, merge_functions and
 * merge_spread do so for the parts of it that need more than a copy, merge_order puts the sum in order.
 */
#pragma once

#include "base/hash.h"
#include "profile/merge.h"

/* The timeline as it grows: packed, in bins of one width on the clock of the world. */
struct merge_times {
	uint64_t bin_ns;
	struct writer log;  /* by thread: thread, n, n times (step from the last bin, samples) */
	uint64_t end_ns[2]; /* the last bin's start: of the placed, of the others */
	size_t settled;     /* length of the log when it was put in order; of reduced ones */
	size_t n;           /* bins in the log */
};

/* By thread and by image: what was measured there (merge_digest.c). */
struct merge_digests {
	VEC(uint64_t) thread, image;
	bool is_made;
};

struct node_spread {
	struct profile_spread kinds[SPREAD_KIND_N];
};

struct merger {
	struct merge_options options;
	/* The result, in order of first sight. Times of placed processes count from 1970; the tree has no
	 * values, the timeline no bins. */
	struct profile *all;
	struct packed_values *values;
	struct merge_times times;
	struct merge_digests digests;
	size_t n_added;
	uint64_t n_shared; /* values of the shares that were added, which are with those who sent them */
	bool events_differ;
	struct map image_of, is_noted;    /* by hash_image; by string */
	struct map process_of, thread_of; /* joined: by a hash of what makes them the same */
	struct slots function_slots, structure_slots, code_slots;
	uint64_t n_ranks;
	VEC(struct merge_spreads { VEC(struct node_spread) nodes; }) spread; /* by metric */
	uint32_t *dense_of; /* by node: where in the list of one unit's nodes it may be */
	size_t n_dense_of;

	/* Of the profile that is being added: what its indices are in the result. */
	const struct profile *from;
	uint32_t *string, *image, *metric, *node, *thread;
};

static inline uint64_t merge_mix(uint64_t a, uint64_t b)
{
	return hash_u64(a * 0x9e3779b97f4a7c15u + b);
}

/* merge.c: adds all of a profile that fits; m->node and so on say what is where, until merge_forget. */
int merge_check(const struct merger *m, const struct profile *from, const char *name, struct diag *diag);
int merge_check_room(const struct merger *m, uint64_t n_values, uint64_t n_bins, uint64_t n_nodes,
		     const char *name, struct diag *diag);
void merge_add(struct merger *m, const struct profile *from);
void merge_forget(struct merger *m);

/* merge_run.c: the run, the quality tally, notes. */
void merge_run(struct merger *m);

/* merge_time.c */
void merge_times_init(struct merge_times *times);
void merge_times_add(struct merger *m);
/* What the log of another merger has, whose threads are thread[] here; after merge_run. */
void merge_times_add_log(struct merger *m, const struct merge_times *other, const uint32_t *thread,
			 size_t n_threads);
/* Sets the timeline of the result, whose start is known now; thread: what threads are called in it. */
void merge_times_finish(struct merger *m, const uint32_t *thread);
/* Is the process of this thread of `from` on the clock of the world? */
bool merge_is_placed(const struct profile *from, uint32_t process);

/* merge_join.c: rows of processes and threads that the result has already are used again. */
void merge_joined_tasks(struct merger *m);
/* Of the profile that is added, which images its tree refers to; by image. */
bool *merge_used_images(const struct profile *from);

/* merge_functions.c: afterwards every function is there once. Where several know one, the better source wins.
 */
void merge_functions(struct merger *m);
/* Sorted, in final numbers. */
void merge_functions_finish(struct profile *all);

/* merge_contest.c: less than 0: a is the one to keep; 0: they are the same. */
int merge_contest_maps(const struct intern *strings, const struct function_map *a,
		       const struct function_map *b);
int merge_contest_structures(const struct intern *strings, const struct structure *a,
			     const struct structure *b);
/* How well a map's source knows the function. */
int merge_goodness(const struct function_map *map);

/* merge_spread.c */
void merge_spread(struct merger *m);
/* node, metric: what those of the merge are called in the result. */
void merge_spread_finish(struct merger *m, const uint32_t *node, const uint32_t *metric);
void merge_spread_done(struct merger *m);

/* merge_digest.c: of the values that are here; once, before shares are added. */
void merge_digest(struct merger *m);
/* Room for all threads and images. */
void merge_digest_grow(struct merger *m);

/* merge_order.c: strings, images, processes, threads, nodes and all that refers to them. */
void merge_order(struct merger *m);
/* Times of processes and threads count from the start of the first run, as in any profile. */
void merge_order_times(struct profile *all);
