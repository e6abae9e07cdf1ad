/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#define MAX_DEAD 64 /* ended processes whose mappings are kept for late samples */
/* Spaces kept with their memory for processes to come, and the most mappings of such a space. */
#define MAX_SPARE 64
#define MAX_SPARE_MAPS 64

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
};

/* ---- one space ---------------------------------------------------------------------------------- */

/* Index of the first mapping that ends after pc. */
static size_t space_first_behind(const struct space *space, uint64_t pc)
{
	return search_first(i, space->maps.n, space->maps.at[i].end > pc);
}

const struct space_map *space_find(struct space *space, uint64_t pc)
{
	size_t i = space->last;

	if (i >= space->maps.n || pc < space->maps.at[i].start || pc >= space->maps.at[i].end)
		i = space_first_behind(space, pc);
	if (i >= space->maps.n || pc < space->maps.at[i].start)
		return NULL;
	space->last = i;
	return &space->maps.at[i];
}

static struct space *space_new(struct spaces *spaces)
{
	struct space *space =
		spaces->spare.n ? spaces->spare.at[--spaces->spare.n] : alloc_zero(1, sizeof(*space));

	vec_clear(&space->maps);
	space->last = 0;
	space->is_in_exec = false;
	space->n_users = 1;
	space->generation = ++spaces->generation;
	return space;
}

static void space_free(struct space *space)
{
	vec_done(&space->maps);
	free(space);
}

static void space_release(struct spaces *spaces, struct space *space)
{
	if (!space || --space->n_users)
		return;
	if (spaces->spare.n < MAX_SPARE && space->maps.cap <= MAX_SPARE_MAPS)
		vec_push(&spaces->spare, space);
	else
		space_free(space);
}

/* A space that may be changed: a copy if others also use the space. */
static struct space *space_own(struct spaces *spaces, struct space *space)
{
	if (space->n_users == 1)
		return space;

	struct space *copy = space_new(spaces);
	vec_reserve(&copy->maps, space->maps.n);
	if (space->maps.n)
		memcpy(copy->maps.at, space->maps.at, space->maps.n * sizeof(*space->maps.at));
	copy->maps.n = space->maps.n;
	space->n_users--;
	return copy;
}

/* Replaces maps[from, to) by what remains of them around [start, end), with `added` in the middle. */
static void space_splice(struct space *space, size_t from, size_t to, const struct space_map *added)
{
	struct space_map pieces[3];
	size_t n = 0;

	if (from < to && space->maps.at[from].start < added->start) {
		pieces[n] = space->maps.at[from];
		pieces[n++].end = added->start;
	}
	pieces[n++] = *added;
	if (from < to && space->maps.at[to - 1].end > added->end) {
		pieces[n] = space->maps.at[to - 1];
		pieces[n++].start = added->end;
	}
	vec_reserve(&space->maps, space->maps.n + 3);
	memmove(&space->maps.at[from + n], &space->maps.at[to], (space->maps.n - to) * sizeof(*pieces));
	memcpy(&space->maps.at[from], pieces, n * sizeof(*pieces));
	space->maps.n = space->maps.n - (to - from) + n;
}

static bool space_map_equal(const struct space_map *a, const struct space_map *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias && a->image == b->image &&
	       a->is_executable == b->is_executable;
}

static struct space *space_add(struct spaces *spaces, struct space *space, const struct space_map *map)
{
	size_t from = space_first_behind(space, map->start), to = from;

	if (from < space->maps.n && space_map_equal(&space->maps.at[from], map))
		return space; /* reported twice: by /proc and by the kernel */
	while (to < space->maps.n && space->maps.at[to].start < map->end)
		to++;
	space = space_own(spaces, space);
	space_splice(space, from, to, map);
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
	struct space_map map = { m->start, m->start + m->len, m->bias, m->image, m->is_executable };

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
