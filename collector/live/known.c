/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/known.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "collector/process/target.h"

struct known {
	uint64_t (*clock_ns)(void);
	struct mapper *mapper;
	VEC(struct event) events; /* strings are owned */
	size_t next;
	struct map learned;       /* pid -> index into learned_ns */
	VEC(uint64_t) learned_ns; /* mappings older than this are in events */
	uint32_t n_losses;        /* how often records were lost, possibly of mappings */
	struct map looked_for;    /* pid -> n_losses when its mappings were last read again */
};

struct known *known_new(struct mapper *mapper, uint64_t (*clock_ns)(void))
{
	struct known *known = alloc_zero(1, sizeof(*known));

	known->clock_ns = clock_ns;
	known->mapper = mapper;
	return known;
}

void known_free(struct known *known)
{
	if (!known)
		return;
	for (size_t i = 0; i < known->events.n; i++) {
		const struct event *event = &known->events.at[i];
		if (event->kind != EVENT_FORK)
			free((char *)(event->kind == EVENT_COMM ? event->comm : event->mapping.path));
	}
	vec_done(&known->events);
	vec_done(&known->learned_ns);
	map_done(&known->learned);
	map_done(&known->looked_for);
	free(known);
}

/* ---- reading -------------------------------------------------------------------------------- */

struct known_process {
	struct known *known;
	pid_t pid, alive;
};

static void known_add_mapping(void *context, const struct target_map *map)
{
	const struct known_process *process = context;
	struct mapping_file file = {
		.inode = map->inode, .major = map->major, .minor = map->minor, .tid = process->alive
	};
	struct event event = { .kind = EVENT_MAPPING, .pid = process->pid, .tid = process->pid };

	if (!map->is_executable)
		return;
	event.mapping = (struct mapping){ .start = map->start,
					  .len = map->end - map->start,
					  .file_offset = map->offset,
					  .is_executable = true,
					  .path = alloc_text(map->path) };
	mapper_resolve(process->known->mapper, process->pid, &file, &event.mapping);
	vec_push(&process->known->events, event);
}

static void known_add_names(struct known *known, pid_t pid, const struct map *threads)
{
	struct pid_list all = { 0 };

	target_threads(pid, &all);
	for (size_t i = 0; i < all.pids.n; i++) {
		pid_t tid = all.pids.at[i];
		if (threads && map_find(threads, (uint32_t)tid) == MAP_NONE)
			continue;
		vec_push(
			&known->events,
			((struct event){
				.kind = EVENT_COMM, .pid = pid, .tid = tid, .comm = target_comm(pid, tid) }));
	}
	vec_done(&all.pids);
}

/* The first thread may have ended, and any other one may end before its mappings are read. */
static void known_add_mappings(struct known *known, pid_t pid)
{
	struct known_process process = { known, pid, pid };
	struct pid_list threads = { 0 };
	size_t before = known->events.n;

	target_maps(pid, known_add_mapping, &process);
	if (known->events.n == before)
		target_threads(pid, &threads);
	for (size_t i = 0; i < threads.pids.n && known->events.n == before; i++) {
		process.alive = threads.pids.at[i];
		target_maps(process.alive, known_add_mapping, &process);
	}
	vec_done(&threads.pids);
}

void known_learn(struct known *known, pid_t pid, const struct map *threads)
{
	if (map_find(&known->learned, (uint32_t)pid) != MAP_NONE)
		return; /* by another of its threads */
	known_add_names(known, pid, threads);
	map_put(&known->learned, (uint32_t)pid, (uint32_t)known->learned_ns.n);
	vec_push(&known->learned_ns, known->clock_ns());
	known_add_mappings(known, pid);
}

void known_fork(struct known *known, pid_t pid, pid_t parent)
{
	vec_push(&known->events, ((struct event){ .kind = EVENT_FORK,
						  .pid = pid,
						  .tid = pid,
						  .fork = { .parent_pid = parent, .parent_tid = parent } }));
}

void known_lost(struct known *known)
{
	known->n_losses++;
}

void known_look_again(struct known *known, pid_t pid)
{
	uint32_t looked = map_find(&known->looked_for, (uint32_t)pid);

	if (known->n_losses == (looked == MAP_NONE ? 0 : looked))
		return;
	map_put(&known->looked_for, (uint32_t)pid, known->n_losses);
	known_add_mappings(known, pid);
}

/* ---- what was read -------------------------------------------------------------------------- */

bool known_covers(const struct known *known, const struct event *event)
{
	uint32_t index = map_find(&known->learned, (uint32_t)event->pid);

	return index != MAP_NONE && event->time_ns < known->learned_ns.at[index];
}

bool known_next(struct known *known, struct event *ret)
{
	if (known->next == known->events.n)
		return false;
	*ret = known->events.at[known->next++];
	return true;
}

const struct event *known_all(const struct known *known, size_t *ret_n)
{
	*ret_n = known->events.n;
	return known->events.at;
}
