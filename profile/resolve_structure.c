/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_structure.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/search.h"
#include "binary/flow/cfg.h"
#include "structure/structure_store.h"

#define ROUND_BYTES \
	(32u << 10) /* of code, whose control flow is recovered while use is made of what was before */

/* A structure, and the owner of its strings. */
struct found {
	struct structure structure;
	bool is_stored; /* those of the entry; otherwise the profile's */
};

/* Control flow from which a structure is to be made. */
struct pending {
	size_t index; /* in found */
	struct cfg cfg;
};
typedef VEC(struct pending) pending_list;

/*
 * The structures of one image. Its control flow is recovered by one thread at a time, because functions
 * depend on each other; any thread can make structures from it. Otherwise threads share only the profile,
 * which they do not change.
 */
struct job {
	image_id id;
	struct structured_image *image; /* NULL: its code is not available */
	struct structure_source source;
	struct bytes stored;
	struct structure_entry *entry; /* NULL: nothing is stored */
	struct map by_function;        /* start of a function to its number in the entry */
	VEC(struct found)
	found;             /* by address; one with a single scope means that there is nothing to store */
	size_t next;       /* map whose flow is to be recovered */
	VEC(size_t) parts; /* in found: known only when all functions are */
	pending_list fresh, ready; /* recovered in this round and in the last */
	bool has_new, is_done;
};

/* In each round, more control flow of each image is recovered, and structures are made from what the last
 * round recovered. */
struct task {
	struct job *job;
	size_t ready; /* index into job->ready, or RECOVER_MORE */
};
#define RECOVER_MORE SIZE_MAX

struct jobs {
	VEC(struct job) list;
	VEC(struct task) tasks; /* of this round */
};

/* Only whole functions: a part's code belongs to its function's structure. */
static bool has_structure(const struct function_map *map)
{
	return map->parent_vaddr == map->vaddr && map->size > 1;
}

/* ---- one image ------------------------------------------------------------------------------ */

static void open_entry(struct job *job)
{
	job->stored = store_get(job->image->store, &job->image->key);
	job->entry = job->stored.len ? structure_entry_open(job->stored) : NULL;
	for (size_t i = 0; job->entry && i < structure_entry_count(job->entry); i++)
		map_put(&job->by_function, structure_entry_function(job->entry, i), (uint32_t)i);
}

/* The result of an earlier run for the same maps. */
static bool resolve_structure_recall(const struct job *job, uint64_t vaddr, struct structure *ret)
{
	uint32_t index = map_find(&job->by_function, vaddr);

	*ret = (struct structure){ 0 };
	if (index == MAP_NONE)
		return false;
	structure_entry_get(job->entry, index, ret);
	if (ret->basis == structurer_basis(job->image->structurer, ret, &job->source))
		return true;
	structure_done(ret);
	return false;
}

/* For functions without structure. */
static void leave_bare(uint64_t vaddr, struct structure *ret)
{
	*ret = (struct structure){ .function = vaddr };
	vec_push(&ret->scopes, (struct static_scope){ .kind = SCOPE_FUNCTION, .vaddr = vaddr });
}

static bool owns(const struct structure *structure, uint64_t part)
{
	for (size_t i = 1; i < structure->extents.n; i++)
		if (structure->extents.at[i].start == part)
			return true;
	return false;
}

/* Nameless code that nothing calls: it has a structure of its own only if it is not part of another
 * function's. */
static void build_part(struct job *job, uint64_t vaddr, struct structure *ret)
{
	bool is_owned = false;

	for (size_t i = 0; i < job->found.n && !is_owned; i++)
		is_owned = owns(&job->found.at[i].structure, vaddr);
	if (is_owned || !structurer_build(job->image->structurer, vaddr, &job->source, NULL, ret))
		leave_bare(vaddr, ret);
	if (ret->extents.n > 1) /* code that a part leads back to does not belong to it */
		ret->extents.n = 1;
}

static bool resolve_structure_is_part(const struct job *job, const struct function_map *map)
{
	return map->source == MAP_FROM_NOTHING && structurer_is_part(job->image->structurer, map->vaddr);
}

static void recover(struct job *job, const struct function_map *map)
{
	struct found found = { 0 };
	struct pending pending = { .index = job->found.n };

	found.is_stored = resolve_structure_recall(job, map->vaddr, &found.structure);
	if (!found.is_stored && resolve_structure_is_part(job, map))
		vec_push(&job->parts, job->found.n);
	else if (!found.is_stored &&
		 structurer_recover(job->image->structurer, map->vaddr, &job->source, &pending.cfg))
		vec_push(&job->fresh, pending);
	else if (!found.is_stored)
		leave_bare(map->vaddr, &found.structure);
	found.structure.function = map->vaddr;
	job->has_new |= !found.is_stored;
	vec_push(&job->found, found);
}

/* Parts come last, when it is known to which functions they do not belong. */
static void resolve_structure_finish(struct job *job)
{
	struct structurer *structurer = job->image->structurer;

	for (size_t i = 0; i < job->parts.n; i++) {
		struct structure *structure = &job->found.at[job->parts.at[i]].structure;
		build_part(job, structure->function, structure);
	}
	for (size_t i = 0; i < job->found.n; i++)
		if (!job->found.at[i].is_stored)
			job->found.at[i].structure.basis =
				structurer_basis(structurer, &job->found.at[i].structure, &job->source);
	structurer_free(structurer);
	job->image->structurer = NULL;
	job->is_done = true;
}

static void recover_more(struct job *job)
{
	uint64_t n_bytes = 0;

	if (job->next == 0) {
		open_entry(job);
		vec_reserve(&job->found, job->source.n); /* others write to its elements */
	}
	if (job->next == job->source.n && job->ready.n == 0)
		resolve_structure_finish(job);
	for (; job->next < job->source.n && n_bytes < ROUND_BYTES; job->next++) {
		const struct function_map *map = &job->source.maps[job->next];
		if (has_structure(map))
			recover(job, map);
		n_bytes += map->size;
	}
}

static void run_task(void *context, unsigned worker, size_t index)
{
	const struct jobs *jobs = context;
	struct job *job = jobs->tasks.at[index].job;

	(void)worker;
	if (jobs->tasks.at[index].ready == RECOVER_MORE) {
		recover_more(job);
		return;
	}
	struct pending *pending = &job->ready.at[jobs->tasks.at[index].ready];
	struct structure *structure = &job->found.at[pending->index].structure;
	structurer_finish(job->image->structurer, &pending->cfg, structure->function, &job->source, NULL,
			  structure);
	cfg_done(&pending->cfg);
}

/* False if everything is done. */
static bool resolve_structure_begin_round(struct jobs *jobs)
{
	vec_clear(&jobs->tasks);
	for (size_t i = 0; i < jobs->list.n; i++)
		if (jobs->list.at[i].image && !jobs->list.at[i].is_done)
			vec_push(&jobs->tasks, (struct task){ &jobs->list.at[i], RECOVER_MORE });
	for (size_t i = 0; i < jobs->list.n; i++) {
		struct job *job = &jobs->list.at[i];
		pending_list old = job->ready;
		job->ready = job->fresh;
		job->fresh = old;
		vec_clear(&job->fresh);
		for (size_t k = 0; k < job->ready.n; k++)
			vec_push(&jobs->tasks, (struct task){ job, k });
	}
	return jobs->tasks.n > 0;
}

/* ---- for the next run ----------------------------------------------------------------------- */

/* Those of the entry that were not requested, up to an address. */
static void pack_old(const struct job *job, size_t *at, uint64_t end, struct intern *strings,
		     struct structure_packer *packer)
{
	size_t n = job->entry ? structure_entry_count(job->entry) : 0;

	for (; *at < n && structure_entry_function(job->entry, *at) < end; ++*at) {
		struct structure structure = { 0 };
		structure_entry_get(job->entry, *at, &structure);
		structure_entry_rename(job->entry, &structure, strings);
		structure_pack(packer, &structure, strings);
		structure_done(&structure);
	}
	if (*at < n && structure_entry_function(job->entry, *at) == end)
		++*at;
}

static void resolve_structure_remember(const struct job *job, const struct intern *strings)
{
	struct structure_packer *packer = structure_packer_new();
	struct intern old;
	struct writer packed = { 0 };
	size_t at = 0;

	intern_init(&old);
	for (size_t i = 0; i < job->found.n; i++) {
		const struct structure *structure = &job->found.at[i].structure;
		pack_old(job, &at, structure->function, &old, packer);
		structure_pack(packer, structure, strings);
	}
	pack_old(job, &at, UINT64_MAX, &old, packer);
	structure_packer_finish(packer, &packed);
	store_put(job->image->store, &job->image->key, writer_bytes(&packed));
	structure_packer_free(packer);
	writer_done(&packed);
	intern_done(&old);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static struct function_map *resolve_structure_map_at(struct profile *profile, const struct job *job,
						     uint64_t vaddr)
{
	struct function_map *maps = profile->functions.at + (job->source.maps - profile->functions.at);
	size_t at = search_first(i, job->source.n, maps[i].vaddr >= vaddr);

	return at < job->source.n && maps[at].vaddr == vaddr ? &maps[at] : NULL;
}

/* Nameless code that turned out to belong to a function is named after it, as with a symbol. */
static void adopt(struct profile *profile, const struct function_map *whole, struct function_map *part)
{
	CLEANUP(freep) char *name = alloc_printf("%s [.cold]", intern_text(&profile->strings, whole->name));

	part->name = intern_add(&profile->strings, name);
	part->parent_vaddr = whole->vaddr;
	part->source = whole->source;
}

/* Was nothing found for it alone? */
static bool is_bare(const struct job *job, uint64_t vaddr)
{
	size_t at = search_first(i, job->found.n, job->found.at[i].structure.function >= vaddr);

	const struct structure *structure = at < job->found.n ? &job->found.at[at].structure : NULL;
	return structure && structure->function == vaddr && structure->extents.n == 0;
}

static void adopt_parts(struct profile *profile, const struct job *job, const struct structure *structure)
{
	const struct function_map *whole = resolve_structure_map_at(profile, job, structure->function);

	for (size_t i = 1; whole && i < structure->extents.n; i++) {
		uint64_t start = structure->extents.at[i].start;
		struct function_map *part = resolve_structure_map_at(profile, job, start);
		if (part && part->source == MAP_FROM_NOTHING && has_structure(part) && has_structure(whole) &&
		    is_bare(job, start))
			adopt(profile, whole, part);
	}
}

static bool is_adopted(struct profile *profile, const struct job *job, const struct structure *structure)
{
	const struct function_map *map = resolve_structure_map_at(profile, job, structure->function);

	return map && !has_structure(map);
}

/* Sequentially, because strings are added. */
static void resolve_structure_take(struct profile *profile, struct job *job)
{
	for (size_t i = 0; i < job->found.n; i++) {
		struct structure *structure = &job->found.at[i].structure;
		if (job->found.at[i].is_stored)
			structure_entry_rename(job->entry, structure, &profile->strings);
		else
			structure_name(structure, &profile->strings);
		structure->image = job->id;
	}
	if (job->image->store && job->has_new)
		resolve_structure_remember(job, &profile->strings);
	for (size_t i = 0; i < job->found.n; i++)
		adopt_parts(profile, job, &job->found.at[i].structure);
	for (size_t i = 0; i < job->found.n; i++) {
		struct structure *structure = &job->found.at[i].structure;
		if (structure->scopes.n > 1 && !is_adopted(profile, job, structure))
			vec_push(&profile->structures, *structure);
		else
			structure_done(structure);
	}
	vec_done(&job->found);
	vec_done(&job->parts);
	vec_done(&job->fresh);
	vec_done(&job->ready);
	map_done(&job->by_function);
	structure_entry_close(job->entry);
	store_release(job->stored);
}

/* Keeps the structures of images that were not requested, in order. */
static void keep_image(struct profile *profile, image_id id, const struct structure *old, size_t n_old,
		       size_t *at)
{
	while (*at < n_old && old[*at].image < id)
		structure_done((struct structure *)&old[(*at)++]);
	for (; *at < n_old && old[*at].image == id; ++*at)
		vec_push(&profile->structures, old[*at]);
}

static struct structured_image *find_image(struct structured_image *images, size_t n, image_id id)
{
	for (size_t i = 0; i < n; i++)
		if (images[i].id == id && images[i].structurer)
			return &images[i];
	return NULL;
}

static void make_jobs(const struct profile *profile, struct structured_image *images, size_t n,
		      struct jobs *ret)
{
	for (size_t from = 0, to; from < profile->functions.n; from = to) {
		image_id id = profile->functions.at[from].image;
		for (to = from; to < profile->functions.n && profile->functions.at[to].image == id; to++)
			;
		struct structure_source source = { profile->functions.at + from, to - from,
						   &profile->strings };
		vec_push(&ret->list,
			 (struct job){ .id = id, .image = find_image(images, n, id), .source = source });
	}
}

void resolve_structures(struct profile *profile, struct structured_image *images, size_t n,
			unsigned n_threads)
{
	struct structure *old = profile->structures.at;
	size_t n_old = profile->structures.n, at = 0;
	struct jobs jobs = { 0 };

	profile->structures.at = NULL;
	profile->structures.n = profile->structures.cap = 0;
	make_jobs(profile, images, n, &jobs);
	while (resolve_structure_begin_round(&jobs))
		pool_run(pool_threads(n_threads), jobs.tasks.n, run_task, &jobs);
	for (size_t i = 0; i < jobs.list.n; i++) {
		if (jobs.list.at[i].image)
			resolve_structure_take(profile, &jobs.list.at[i]);
		else
			keep_image(profile, jobs.list.at[i].id, old, n_old, &at);
	}
	for (; at < n_old; at++)
		structure_done(&old[at]);
	free(old);
	vec_done(&jobs.list);
	vec_done(&jobs.tasks);
}
