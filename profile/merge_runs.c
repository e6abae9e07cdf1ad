/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that adds profiles in several threads. What is small is added by one thread at a time;
 * the call paths become a run (path_run.h), and two runs of equally many profiles become one: so every value
 * is moved only as often as the number of profiles can be halved.
 */
#include "base/cleanup.h"
#include "profile/merge_private.h"
#include "profile/table.h"

/* Memory of earlier runs that is kept for new ones: new memory takes as much time as merging does. */
#define ROOM_MAX 3
#define FAR_MORE 4

void merge_runs_init(struct merge_runs *runs)
{
	pthread_mutex_init(&runs->lock, NULL);
	pthread_cond_init(&runs->is_idle, NULL);
}

static void runs_free_room(struct merge_runs *runs)
{
	for (size_t i = 0; i < runs->room.n; i++)
		path_run_free(runs->room.at[i]);
	vec_done(&runs->room);
}

void merge_runs_done(struct merge_runs *runs)
{
	for (size_t i = 0; i < runs->all.n; i++)
		path_run_free(runs->all.at[i]);
	vec_done(&runs->all);
	runs_free_room(runs);
	pthread_cond_destroy(&runs->is_idle);
	pthread_mutex_destroy(&runs->lock);
}

/* Returns memory, unless others have enough: then the smallest is freed. The caller has the lock. */
static void runs_give_room(struct merge_runs *runs, struct path_run *run)
{
	for (size_t i = 0; runs->room.n == ROOM_MAX && i < ROOM_MAX; i++)
		if (runs->room.at[i]->nodes_cap < run->nodes_cap) {
			struct path_run *smaller = runs->room.at[i];
			runs->room.at[i] = run;
			run = smaller;
		}
	if (runs->room.n == ROOM_MAX)
		path_run_free(run);
	else
		vec_push(&runs->room, run);
}

static struct path_run *runs_take(path_runs *list, size_t at)
{
	struct path_run *run = list->at[at];

	list->at[at] = list->at[--list->n];
	return run;
}

/* The smallest with enough room, but not far more; otherwise the largest; or NULL. The caller has the lock.
 */
static struct path_run *runs_take_room(struct merge_runs *runs, size_t n_nodes)
{
	size_t best = 0;

	if (!runs->room.n)
		return NULL;
	for (size_t i = 1; i < runs->room.n; i++) {
		size_t cap = runs->room.at[i]->nodes_cap, known = runs->room.at[best]->nodes_cap;
		if (known > n_nodes ? cap > n_nodes && cap < known : cap > known)
			best = i;
	}
	return runs->room.at[best]->nodes_cap > FAR_MORE * n_nodes ? NULL : runs_take(&runs->room, best);
}

/* Replaces two runs by one. The caller has the lock, which is released meanwhile if others may add. */
static struct path_run *runs_merge(struct merge_runs *runs, struct path_run *a, struct path_run *b,
				   bool is_last)
{
	struct path_run *room = runs_take_room(runs, a->n_nodes + b->n_nodes);

	if (!is_last)
		pthread_mutex_unlock(&runs->lock);
	struct path_run *run = path_run_merge(a, b, room);
	if (!is_last)
		pthread_mutex_lock(&runs->lock);
	runs->n_nodes = runs->n_nodes - a->n_nodes - b->n_nodes + run->n_nodes;
	runs->n_values = runs->n_values - a->n_values - b->n_values + run->n_values;
	runs_give_room(runs, a);
	runs_give_room(runs, b);
	return run;
}

/* Everything so far as one run, or NULL: the smallest first. The caller has the lock, and no other thread has
 * a run. */
static struct path_run *runs_take_all(struct merge_runs *runs)
{
	struct path_run *all = NULL;

	while (runs->all.n) {
		size_t least = 0;
		for (size_t i = 1; i < runs->all.n; i++)
			if (runs->all.at[i]->n_nodes < runs->all.at[least]->n_nodes)
				least = i;
		struct path_run *run = runs_take(&runs->all, least);
		all = all ? runs_merge(runs, all, run, true) : run;
	}
	return all;
}

/* Runs have many nodes in common: only one run shows how many the result has. */
static void runs_settle(struct merge_runs *runs)
{
	while (runs->n_busy)
		pthread_cond_wait(&runs->is_idle, &runs->lock);
	struct path_run *all = runs_take_all(runs);
	if (all)
		vec_push(&runs->all, all);
}

/* One of about the same size, or NULL. */
static struct path_run *runs_take_alike(struct merge_runs *runs, const struct path_run *run)
{
	for (size_t i = 0; i < runs->all.n; i++) {
		size_t n = runs->all.at[i]->n_nodes;
		if (n <= run->n_nodes + run->n_nodes / 2 && run->n_nodes <= n + n / 2)
			return runs_take(&runs->all, i);
	}
	return NULL;
}

static void runs_add_tree(struct merge_runs *runs, const struct cct *from, const struct path_maps *maps)
{
	pthread_mutex_lock(&runs->lock);
	struct path_run *room = runs_take_room(runs, from->nodes.n);
	pthread_mutex_unlock(&runs->lock);
	struct path_run *run = path_run_make(from, maps, room);
	pthread_mutex_lock(&runs->lock);
	runs->n_nodes = runs->n_nodes - from->nodes.n + run->n_nodes;
	runs->n_values = runs->n_values - from->values.n + run->n_values;
	for (struct path_run *other; (other = runs_take_alike(runs, run));)
		run = runs_merge(runs, run, other, false);
	vec_push(&runs->all, run);
	runs->n_busy--;
	pthread_cond_broadcast(&runs->is_idle);
	pthread_mutex_unlock(&runs->lock);
}

/* By image of the profile that is added. */
static struct path_image *runs_images(const struct merger *m)
{
	struct path_image *images = alloc_zero(m->from->images.n, sizeof(*images));

	for (size_t i = 0; i < m->from->images.n; i++) {
		images[i].id = m->image[i];
		if (m->image[i] == IMAGE_NONE)
			continue;
		images[i].about = m->all->images.at[m->image[i]];
		images[i].path = intern_text(&m->all->strings, images[i].about.path);
	}
	return images;
}

/* All but the call paths. ret: what they refer to. The caller has the lock. */
static int runs_add_rest(struct merger *m, const struct profile *from, const char *name,
			 struct path_maps *ret, struct diag *diag)
{
	struct merge_runs *runs = &m->runs;

	if (runs->n_nodes + from->cct.nodes.n > TABLE_ROWS_MAX ||
	    runs->n_values + from->cct.values.n > UINT32_MAX)
		runs_settle(runs);
	int error = merge_check(m, from, name, diag);
	if (error < 0)
		return error;
	merge_add(m, from);
	ret->images = runs_images(m);
	ret->n_images = from->images.n;
	ret->thread = TAKE(m->thread);
	ret->metric = TAKE(m->metric);
	merge_forget(m);
	runs->n_nodes += from->cct.nodes.n;
	runs->n_values += from->cct.values.n;
	runs->n_busy++;
	return 0;
}

int merge_runs_add(struct merger *m, const struct profile *from, const char *name, struct diag *diag)
{
	struct path_maps maps = { 0 };

	pthread_mutex_lock(&m->runs.lock);
	int error = runs_add_rest(m, from, name, &maps, diag);
	pthread_mutex_unlock(&m->runs.lock);
	if (error < 0)
		return error;
	runs_add_tree(&m->runs, &from->cct, &maps);
	free(maps.images);
	free(maps.thread);
	free(maps.metric);
	return 0;
}

void merge_runs_finish(struct merger *m)
{
	struct path_run *all = runs_take_all(&m->runs);

	runs_free_room(&m->runs);
	if (all)
		path_run_unpack(all, &m->all->cct);
	path_run_free(all);
}
