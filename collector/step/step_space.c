/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_space: reads /proc/PID/maps again whenever it may have changed, and compares.
 */
#include "collector/step/step_space.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "collector/process/mapping.h"
#include "collector/process/target.h"

struct range {
	uint64_t start, end, offset, inode;
	bool is_executable;
};

struct ranges {
	VEC(struct range) ranges;
};

struct step_space {
	pid_t pid;
	event_taker take;
	void *context;
	struct mapper *mapper;
	struct ranges known;  /* in address order */
	struct range current; /* where the last address was found */
};

struct step_space *step_space_new(struct images *images, pid_t pid, event_taker take, void *context)
{
	struct step_space *space = alloc_zero(1, sizeof(*space));

	space->pid = pid;
	space->take = take;
	space->context = context;
	space->mapper = mapper_new(images);
	return space;
}

void step_space_free(struct step_space *space)
{
	if (!space)
		return;
	mapper_free(space->mapper);
	vec_done(&space->known.ranges);
	free(space);
}

static bool step_space_is_known(const struct ranges *known, const struct range *range)
{
	for (size_t i = 0; i < known->ranges.n; i++) {
		const struct range *k = &known->ranges.at[i];

		if (k->start == range->start && k->end == range->end && k->offset == range->offset &&
		    k->inode == range->inode && k->is_executable == range->is_executable)
			return true;
	}
	return false;
}

struct reading {
	struct step_space *space;
	struct ranges now;
};

static void step_space_read_range(void *context, const struct target_map *map)
{
	struct reading *reading = context;
	struct step_space *space = reading->space;
	struct range range = { map->start, map->end, map->offset, map->inode, map->is_executable };

	vec_push(&reading->now.ranges, range);
	if (!map->is_executable || step_space_is_known(&space->known, &range))
		return;
	CLEANUP(freep) char *path = alloc_text_n(map->path, map->path_len);
	struct mapping_file file = { .inode = map->inode, .major = map->major, .minor = map->minor };
	struct event event = { .kind = EVENT_MAPPING, .pid = space->pid, .tid = space->pid };
	event.mapping = (struct mapping){ .start = map->start,
					  .len = map->end - map->start,
					  .file_offset = map->offset,
					  .is_executable = true,
					  .path = path };
	mapper_resolve(space->mapper, space->pid, &file, &event.mapping);
	space->take(space->context, &event);
}

void step_space_refresh(struct step_space *space)
{
	struct reading reading = { .space = space };

	target_maps(space->pid, step_space_read_range, &reading);
	vec_done(&space->known.ranges);
	space->known = reading.now;
	space->current = (struct range){ 0 };
}

void step_space_exec(struct step_space *space)
{
	CLEANUP(freep) char *comm = target_comm(space->pid, space->pid);
	struct event event = { .kind = EVENT_EXEC, .pid = space->pid, .tid = space->pid, .comm = comm };

	vec_clear(&space->known.ranges);
	space->take(space->context, &event);
	step_space_refresh(space);
}

static bool step_space_find(struct step_space *space, uint64_t addr)
{
	for (size_t i = 0; i < space->known.ranges.n; i++) {
		const struct range *range = &space->known.ranges.at[i];

		if (addr < range->start || addr >= range->end)
			continue;
		space->current = *range;
		return true;
	}
	return false;
}

uint64_t step_space_end(struct step_space *space, uint64_t addr)
{
	if (addr >= space->current.start && addr < space->current.end)
		return space->current.end;
	if (step_space_find(space, addr))
		return space->current.end;
	step_space_refresh(space); /* a stack has grown, brk moved, another thread mapped something */
	return step_space_find(space, addr) ? space->current.end : 0;
}
