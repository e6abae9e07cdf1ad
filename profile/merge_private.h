/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the parts of a merge: merge.c adds a profile; merge_run, merge_time, merge_functions
 * and merge_spread add those parts of it that need more than a copy; merge_order sorts the result.
 */
#pragma once

#include <pthread.h>

#include "base/hash.h"
#include "profile/merge.h"
#include "profile/path_run.h"

/* The timeline so far: packed, in bins of one width, in wall-clock time. */
struct merge_times {
	uint64_t bin_ns;
	struct writer log;  /* by thread: thread, n, n times (difference from the last bin, samples) */
	uint64_t end_ns[2]; /* start of the last bin: of placed threads, of others */
	size_t settled;     /* length of the log when it was last sorted; only if reduced */
	size_t n;           /* bins in the log */
};

/* By thread and by image: a hash of what was measured there (merge_digest.c). */
struct merge_digests {
	VEC(uint64_t) thread, image;
	bool is_made;
};

struct node_spread {
	struct profile_spread kinds[SPREAD_KIND_N];
};

/* Call paths that were added in several threads. */
typedef VEC(struct path_run *) path_runs;
struct merge_runs {
	pthread_mutex_t lock;       /* for the whole merger, except its options */
	path_runs all;              /* of different sizes */
	path_runs room;             /* for others */
	uint64_t n_nodes, n_values; /* of all runs, also of those that threads have */
	size_t n_busy;              /* threads that have any */
	pthread_cond_t is_idle;     /* none has */
};

struct merger {
	struct merge_options options;
	/* The result, in the order in which rows were first seen. Times of placed processes count from 1970;
	 * the tree has no values, the timeline no bins. */
	struct profile *all;
	struct packed_values *values;
	struct merge_times times;
	struct merge_digests digests;
	struct merge_runs runs; /* only with in_threads */
	size_t n_added;
	uint64_t n_shared; /* values of the added shares; they are still in the processes that sent them */
	bool events_differ;
	struct map image_of, is_noted;    /* by hash_image; by string */
	struct map process_of, thread_of; /* if joined: by a hash of what identifies them */
	struct slots function_slots, structure_slots, code_slots;
	uint64_t n_ranks;
	VEC(struct merge_spreads { VEC(struct node_spread) nodes; }) spread; /* by metric */
	uint32_t *dense_of; /* by node: its possible position in the list of one unit's nodes */
	size_t n_dense_of;

	/* Of the profile that is being added: its indices in the result. */
	const struct profile *from;
	uint32_t *string, *image, *metric, *node, *thread;
};

/* The number of a file in the list would depend on their order, and on the steps of the merge. */
#define MERGE_NOTE_NO_RANK                                                                                   \
	"profiles without an MPI rank were reduced: the imbalance is not known for them; cpprof stats --by " \
	"rank FILE... compares them"

static inline uint64_t merge_mix(uint64_t a, uint64_t b)
{
	return hash_u64(a * 0x9e3779b97f4a7c15u + b);
}

/* merge.c: adds a profile that was checked; m->node and so on map its indices until merge_forget. */
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
/* Adds the log of another merger, whose threads are thread[] here; after merge_run. */
void merge_times_add_log(struct merger *m, const struct merge_times *other, const uint32_t *thread,
			 size_t n_threads);
/* Sets the timeline of the result, whose start must be known; thread: the numbers of threads in it. */
void merge_times_finish(struct merger *m, const uint32_t *thread);
/* Are the times of this process of `from` known in wall-clock time? */
bool merge_is_placed(const struct profile *from, uint32_t process);

/* merge_join.c: reuses the rows of processes and threads that the result already has. */
void merge_joined_tasks(struct merger *m);
/* By image of the profile that is added: does its tree refer to it? */
bool *merge_used_images(const struct profile *from);

/* merge_runs.c: what is different with in_threads. */
void merge_runs_init(struct merge_runs *runs);
void merge_runs_done(struct merge_runs *runs);
int merge_runs_add(struct merger *m, const struct profile *from, const char *name, struct diag *diag);
/* Moves the call paths to the tree of the result. */
void merge_runs_finish(struct merger *m);

/* merge_functions.c: adds functions, each once. If several profiles have a function, the better source wins.
 */
void merge_functions(struct merger *m);
/* Sorts them, with final numbers. */
void merge_functions_finish(struct profile *all);

/* merge_contest.c: less than 0: a is the one to keep; 0: they are the same. */
int merge_contest_maps(const struct intern *strings, const struct function_map *a,
		       const struct function_map *b);
int merge_contest_structures(const struct intern *strings, const struct structure *a,
			     const struct structure *b);
/* The quality of a map's source. */
int merge_goodness(const struct function_map *map);

/* merge_spread.c */
void merge_spread(struct merger *m);
/* node, metric: the numbers of the merge's nodes and metrics in the result. */
void merge_spread_finish(struct merger *m, const uint32_t *node, const uint32_t *metric);
void merge_spread_done(struct merger *m);

/* merge_digest.c: computes the digests of the values in this process; once, before shares are added. */
void merge_digest(struct merger *m);
/* Room for all threads and images. */
void merge_digest_grow(struct merger *m);

/* merge_plain.c: gives the values of a joined merge their final numbers and order, after merge_order. */
void merge_plain(struct merger *m);

/* merge_order.c: sorts strings, images, processes, threads, nodes and everything that refers to them. */
void merge_order(struct merger *m);
/* The nodes of a tree in the order of a walk, children by image, vaddr and flags: their numbers. */
uint32_t *merge_order_walk(const struct cct *cct);
/* Times of processes and threads count from the start of the first run, as in any profile. */
void merge_order_times(struct profile *all);
