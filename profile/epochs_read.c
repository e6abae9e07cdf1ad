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

static bool read_wants(const struct epochs *epochs, const struct epochs_query *query,
		       const struct epoch *epoch)
{
	if (epoch->end_ms <= query->since_ms || (query->until_ms && epoch->start_ms >= query->until_ms))
		return false;
	return !query->process || epochs_index_may_have(epochs, epoch, query->process);
}

/* An epoch that was read, or why it could not be. */
struct read_epoch {
	char *path;
	struct profile *profile;
	struct diag diag;
};

/*
 * Epochs are read in parallel and added one at a time: the sum does not depend on the order. While one thread
 * adds, another one leaves its epoch to it and reads the next; but only one such epoch is kept.
 */
struct read_job {
	const struct epochs *epochs;
	const struct epochs_query *query;
	const struct epoch *all;
	VEC(size_t) wanted;   /* of all */
	pthread_mutex_t lock; /* for is_adding and left */
	pthread_cond_t is_free;
	bool is_adding;         /* the thread that has set it may use what follows */
	struct read_epoch left; /* for the thread that adds; without a path: none */
	struct merger *merger;
	size_t n_bad;
	struct diag *why;
};

static void read_epoch_done(struct read_epoch *one)
{
	free(one->path);
	profile_free(one->profile);
	*one = (struct read_epoch){ 0 };
}

static void read_add(struct read_job *job, struct read_epoch *one)
{
	int error = one->profile ? merger_add(job->merger, one->profile, one->path, &one->diag) : -EBADMSG;

	if (error < 0) {
		job->n_bad++;
		*job->why = one->diag;
	}
	read_epoch_done(one);
}

/* Adds an epoch, and all that other threads leave meanwhile; or leaves it to the thread that adds. */
static void read_add_or_leave(struct read_job *job, struct read_epoch *one)
{
	pthread_mutex_lock(&job->lock);
	while (job->is_adding && job->left.path)
		pthread_cond_wait(&job->is_free, &job->lock);
	if (job->is_adding) {
		job->left = *one;
		pthread_mutex_unlock(&job->lock);
		return;
	}
	job->is_adding = true;
	while (one->path) {
		pthread_mutex_unlock(&job->lock);
		read_add(job, one);
		pthread_mutex_lock(&job->lock);
		*one = job->left;
		job->left = (struct read_epoch){ 0 };
		pthread_cond_broadcast(&job->is_free);
	}
	job->is_adding = false;
	pthread_mutex_unlock(&job->lock);
}

static void read_one(void *context, unsigned worker, size_t index)
{
	struct read_job *job = context;
	struct read_epoch one = { .path = epochs_path(job->epochs, "epochs",
						      job->all[job->wanted.at[index]].name) };

	(void)worker;
	if (profile_read(one.path, &one.profile, &one.diag) == 0 && job->query->process)
		profile_keep_process(one.profile, job->query->process);
	read_add_or_leave(job, &one);
}

/* Memory is kept from one epoch to the next: returning it to the system costs a sixth of the time. */
static void read_keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, KEEP_BYTES);
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
	pthread_cond_init(&job.is_free, NULL);
	pool_run(pool_threads(0), job.wanted.n, read_one, &job);
	pthread_cond_destroy(&job.is_free);
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
	struct merger *merger = merger_new(&(struct merge_options){ .joins = MERGE_BY_NUMBER });
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
