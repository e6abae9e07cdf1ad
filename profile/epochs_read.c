/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs_read: a range of time as one profile: its epochs merged, with symbols.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pool.h"
#include "profile/epochs_private.h"
#include "profile/keep_process.h"
#include "profile/resolve.h"

#define KEEP_BYTES (32 << 20)
#define LARGE_BYTES (8 << 20)

static bool read_wants(const struct epochs *epochs, const struct epochs_query *query,
		       const struct epoch *epoch)
{
	if (epoch->end_ms <= query->since_ms || (query->until_ms && epoch->start_ms >= query->until_ms))
		return false;
	return !query->process || epochs_index_may_have(epochs, epoch, query->process);
}

/* Epochs are read and added in parallel: the sum does not depend on the order. */
struct read_job {
	const struct epochs *epochs;
	const struct epochs_query *query;
	const struct epoch *all;
	VEC(size_t) wanted; /* of all */
	struct merger *merger;
	pthread_mutex_t lock; /* for what follows */
	size_t n_bad;
	struct diag *why;
};

static void read_one(void *context, unsigned worker, size_t index)
{
	struct read_job *job = context;
	CLEANUP(freep) char *path = epochs_path(job->epochs, "epochs", job->all[job->wanted.at[index]].name);
	CLEANUP(profile_freep) struct profile *profile = NULL;
	struct diag diag = { 0 };
	int error = profile_read(path, &profile, &diag);

	(void)worker;
	if (!error && job->query->process)
		profile_keep_process(profile, job->query->process);
	if (!error)
		error = merger_add(job->merger, profile, path, &diag);
	if (!error)
		return;
	pthread_mutex_lock(&job->lock);
	job->n_bad++;
	*job->why = diag;
	pthread_mutex_unlock(&job->lock);
}

/* Memory is kept from one epoch to the next: returning it to the system costs a sixth of the time. What is
 * large is kept by the merger, so that it does not leave gaps that are too small for the next. */
static void read_keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
#endif
}

static size_t read_epochs(struct epochs *epochs, const struct epochs_query *query, struct merger *merger,
			  struct diag *why)
{
	struct read_job job = { .epochs = epochs, .query = query, .merger = merger, .why = why };
	size_t n;

	job.all = epochs_list(epochs, &n);
	for (size_t i = 0; i < n; i++)
		if (read_wants(epochs, query, &job.all[i]))
			vec_push(&job.wanted, i);
	read_keep_memory();
	pthread_mutex_init(&job.lock, NULL);
	pool_run(pool_threads(0), job.wanted.n, read_one, &job);
	pthread_mutex_destroy(&job.lock);
	vec_done(&job.wanted);
	return job.n_bad;
}

static void read_names(struct epochs *epochs, struct merger *merger, const struct profile *plain)
{
	for (size_t i = 0; i < plain->images.n; i++) {
		CLEANUP(profile_freep) struct profile *names = NULL;
		struct diag diag = { 0 };
		char key[128];
		if (!epochs_image_key(plain, &plain->images.at[i], key))
			continue;
		CLEANUP(freep) char *path = epochs_path(epochs, "images", key);
		if (profile_read(path, &names, &diag) == 0)
			merger_add_names(merger, names);
	}
}

static int read_nothing(const struct epochs *epochs, const struct epochs_query *query, size_t n_bad,
			const struct diag *why, struct diag *diag)
{
	struct diag last = *why;

	if (n_bad) {
		*diag = last;
		return diag->error ? diag->error : -EBADMSG;
	}
	diag_set(diag, -ENOENT, "nothing was recorded in this time%s%s%s in '%s'",
		 query->process ? " of '" : "", query->process ? query->process : "",
		 query->process ? "'" : "", epochs->directory);
	diag_hint(diag, "cpprof epochs %s lists the epochs", epochs->directory);
	return -ENOENT;
}

/* Processes and threads that existed before the range count from its start. */
static void read_cut_starts(struct profile *all)
{
	for (size_t i = 0; i < all->processes.n; i++)
		if ((int64_t)all->processes.at[i].start_ns < 0)
			all->processes.at[i].start_ns = 0;
	for (size_t i = 0; i < all->threads.n; i++)
		if ((int64_t)all->threads.at[i].start_ns < 0)
			all->threads.at[i].start_ns = 0;
}

int epochs_read(struct epochs *epochs, const struct epochs_query *query, struct profile **ret,
		size_t *ret_n_bad, struct diag *diag)
{
	struct merger *merger =
		merger_new(&(struct merge_options){ .joins = MERGE_BY_NUMBER, .in_threads = true });
	struct diag why = { 0 };
	size_t n_bad = read_epochs(epochs, query, merger, &why);

	if (!merger_count(merger)) {
		merger_free(merger);
		return read_nothing(epochs, query, n_bad, &why, diag);
	}
	if (!query->without_names)
		read_names(epochs, merger, merger_so_far(merger));
	struct profile *all = merger_finish_plain(merger);
	read_cut_starts(all);
	if (!query->without_names)
		resolve_count(all);
	*ret = all;
	*ret_n_bad = n_bad;
	return 0;
}
