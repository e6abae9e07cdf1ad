/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/space.h"

#include <stdlib.h>

#define MAX_DEAD 64  /* ended processes whose mappings are kept for late samples */
#define MAX_SPARE 64 /* spaces kept for processes to come */
/* Chunks from which on a space is large, and copies of such spaces at a time. A recording that was made for
 * it could contain any number of them; in reality each costs the kernel much more than a copy. */
#define LARGE_CHUNKS 64
#define MAX_LARGE 1024

struct process {
	pid_t pid;
	struct space *space;
	int n_threads;
	bool is_born; /* its fork was seen, so n_threads is exact */
	bool is_dead;
};

struct spaces {
	VEC(struct process) processes; /* a slot is reused when its process ended long ago */
	VEC(uint32_t) free_slots;
	struct map by_pid;
	VEC(struct space *) spare;
	uint64_t generation;
	uint32_t dead[MAX_DEAD]; /* ring of slots, oldest at n_dead % MAX_DEAD */
	size_t n_dead;
	uint32_t n_large; /* copies of large spaces */
};

/* ---- one space ---------------------------------------------------------------------------------- */

const struct space_map *space_find(struct space *space, uint64_t pc)
{
	return space_maps_find(&space->maps, pc);
}

static struct space *space_new(struct spaces *spaces)
{
	struct space *space =
		spaces->spare.n ? spaces->spare.at[--spaces->spare.n] : alloc_zero(1, sizeof(*space));

	space->is_in_exec = space->is_large = false;
	space->n_users = 1;
	space->generation = ++spaces->generation;
	return space;
}

static void space_free(struct space *space)
{
	space_maps_done(&space->maps);
	free(space);
}

static void space_release(struct spaces *spaces, struct space *space)
{
	if (!space || --space->n_users)
		return;
	if (space->is_large)
		spaces->n_large--;
	space_maps_clear(&space->maps);
	if (spaces->spare.n < MAX_SPARE && space->maps.chunks.cap <= LARGE_CHUNKS)
		vec_push(&spaces->spare, space);
	else
		space_free(space);
}

/* A space that may be changed: a copy if others also use the space; empty if that would be too much. */
static struct space *space_own(struct spaces *spaces, struct space *space)
{
	if (space->n_users == 1)
		return space;

	struct space *copy = space_new(spaces);
	copy->is_large = space->maps.chunks.n > LARGE_CHUNKS && spaces->n_large < MAX_LARGE;
	spaces->n_large += copy->is_large;
	if (copy->is_large || space->maps.chunks.n <= LARGE_CHUNKS)
		space_maps_copy(&copy->maps, &space->maps);
	space->n_users--;
	return copy;
}

static bool space_map_equal(const struct space_map *a, const struct space_map *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias && a->image == b->image &&
	       a->is_executable == b->is_executable;
}

static struct space *space_add(struct spaces *spaces, struct space *space, const struct space_map *map)
{
	const struct space_map *there = space_find(space, map->start);

	if (there && space_map_equal(there, map))
		return space; /* reported twice: by /proc and by the kernel */
	space = space_own(spaces, space);
	space_maps_add(&space->maps, map);
	space->generation = ++spaces->generation;
	return space;
}

/* ---- processes ---------------------------------------------------------------------------------- */

static struct process *spaces_find_process(struct spaces *spaces, pid_t pid)
{
	uint32_t slot = map_find(&spaces->by_pid, (uint64_t)(uint32_t)pid);

	return slot == MAP_NONE ? NULL : &spaces->processes.at[slot];
}

static struct process *spaces_add_process(struct spaces *spaces, pid_t pid)
{
	uint32_t slot = (uint32_t)spaces->processes.n;

	if (spaces->free_slots.n)
		slot = spaces->free_slots.at[--spaces->free_slots.n];
	else
		vec_push(&spaces->processes, ((struct process){ 0 }));
	spaces->processes.at[slot] = (struct process){ .pid = pid, .n_threads = 1 };
	map_put(&spaces->by_pid, (uint64_t)(uint32_t)pid, slot);
	return &spaces->processes.at[slot];
}

static struct process *spaces_get_process(struct spaces *spaces, pid_t pid)
{
	struct process *process = spaces_find_process(spaces, pid);

	if (!process) {
		process = spaces_add_process(spaces, pid);
		process->space = space_new(spaces);
	}
	return process;
}

/* Frees the process that ended longest ago, unless its pid is in use again. */
static void spaces_free_dead(struct spaces *spaces, uint32_t slot)
{
	struct process *process = &spaces->processes.at[slot];

	if (!process->is_dead)
		return;
	if (map_find(&spaces->by_pid, (uint64_t)(uint32_t)process->pid) == slot)
		map_remove(&spaces->by_pid, (uint64_t)(uint32_t)process->pid);
	space_release(spaces, process->space);
	*process = (struct process){ 0 };
	vec_push(&spaces->free_slots, slot);
}

static void spaces_on_exit(struct spaces *spaces, struct process *process)
{
	/* A process whose start was not seen has unknown threads: keep it. */
	if (!process || process->is_dead || --process->n_threads > 0 || !process->is_born)
		return;
	process->is_dead = true;
	uint32_t *oldest = &spaces->dead[spaces->n_dead % MAX_DEAD];
	if (spaces->n_dead >= MAX_DEAD)
		spaces_free_dead(spaces, *oldest);
	*oldest = (uint32_t)(process - spaces->processes.at);
	spaces->n_dead++;
}

static void spaces_on_fork(struct spaces *spaces, pid_t pid, pid_t parent_pid)
{
	struct process *child = spaces_find_process(spaces, pid),
		       *parent = spaces_find_process(spaces, parent_pid);

	if (pid == parent_pid) {
		spaces_get_process(spaces, pid)->n_threads++;
		return;
	}
	if (child && !child->is_dead && !parent)
		return; /* a synthesized record, made at attach after its mappings */

	struct space *space = parent ? parent->space : space_new(spaces);
	if (parent)
		space->n_users++;
	/* A dead process with the same pid keeps its slot until it is freed; the pid now refers to the new
	 * one. */
	if (!child || child->is_dead)
		child = spaces_add_process(spaces, pid);
	else
		space_release(spaces, child->space);
	child->space = space;
	child->n_threads = 1;
	child->is_born = true;
}

static void spaces_on_mapping(struct spaces *spaces, pid_t pid, const struct mapping *m)
{
	struct process *process = spaces_get_process(spaces, pid);
	struct space_map map = { .start = m->start,
				 .end = m->start + m->len,
				 .bias = m->bias,
				 .image = m->image,
				 .is_executable = m->is_executable };

	if (map.end > map.start)
		process->space = space_add(spaces, process->space, &map);
}

static void spaces_on_exec(struct spaces *spaces, pid_t pid)
{
	struct process *process = spaces_get_process(spaces, pid);

	space_release(spaces, process->space);
	process->space = space_new(spaces);
	process->space->is_in_exec = true;
	process->n_threads = 1; /* exec ends all other threads; their exits came before it */
	process->is_dead = false;
}

void spaces_event(struct spaces *spaces, const struct event *event)
{
	switch (event->kind) {
	case EVENT_MAPPING:
		spaces_on_mapping(spaces, event->pid, &event->mapping);
		break;
	case EVENT_FORK:
		spaces_on_fork(spaces, event->pid, event->fork.parent_pid);
		break;
	case EVENT_EXEC:
		spaces_on_exec(spaces, event->pid);
		break;
	case EVENT_EXIT:
		spaces_on_exit(spaces, spaces_find_process(spaces, event->pid));
		break;
	case EVENT_SAMPLE:
	case EVENT_COMM:
	case EVENT_LOST:
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
	case EVENT_SWITCH:
	case EVENT_CODE: /* changes the contents, not the mapping */
		break;
	}
}

struct space *spaces_find(struct spaces *spaces, pid_t pid)
{
	struct process *process = spaces_find_process(spaces, pid);

	return process ? process->space : NULL;
}

void spaces_mark_images(const struct spaces *spaces, bool *is_used)
{
	for (size_t i = 0; i < spaces->processes.n; i++) {
		const struct process *process = &spaces->processes.at[i];
		const struct space *space = process->is_dead ? NULL : process->space;
		const struct space_map *map = space ? space_maps_next(&space->maps, 0) : NULL;
		for (; map; map = space_maps_next(&space->maps, map->end))
			if (map->image != IMAGE_NONE)
				is_used[map->image] = true;
	}
}

static bool space_has_image_of(const struct space *space, const bool *is_unused)
{
	const struct space_map *map = space_maps_next(&space->maps, 0);

	while (map && (map->image == IMAGE_NONE || !is_unused[map->image]))
		map = space_maps_next(&space->maps, map->end);
	return map;
}

void spaces_forget_images(struct spaces *spaces, const bool *is_unused)
{
	for (size_t i = 0; i < spaces->processes.n; i++) {
		struct process *process = &spaces->processes.at[i];
		if (!process->is_dead || !space_has_image_of(process->space, is_unused))
			continue;
		space_release(spaces, process->space);
		process->space = space_new(spaces);
	}
}

struct spaces *spaces_new(void)
{
	return alloc_zero(1, sizeof(struct spaces));
}

void spaces_free(struct spaces *spaces)
{
	if (!spaces)
		return;
	for (size_t i = 0; i < spaces->processes.n; i++)
		space_release(spaces, spaces->processes.at[i].space);
	for (size_t i = 0; i < spaces->spare.n; i++)
		space_free(spaces->spare.at[i]);
	vec_done(&spaces->spare);
	vec_done(&spaces->processes);
	vec_done(&spaces->free_slots);
	map_done(&spaces->by_pid);
	free(spaces);
}
