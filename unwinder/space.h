/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space: the address space of each process: which image is mapped where.
 *
 * A fork shares its parent's space until one of them changes it; an exec starts an empty one. Every change
 * gives a space a new generation, unique over all spaces, so that lookups can be cached for as long as the
 * generation is the same.
 */
#pragma once

#include "base/hash.h"
#include "collector/event.h"
#include "unwinder/space_maps.h"

struct space {
	struct space_maps maps;
	uint64_t generation;
	uint32_t n_users; /* processes that share it */
	bool is_in_exec;  /* no sample was taken in it since an exec created it */
	bool is_large;    /* a copy of many mappings */
};

/* NULL if nothing is mapped there. Valid until the next event. */
const struct space_map *space_find(struct space *space, uint64_t pc);

struct spaces;
struct spaces *spaces_new(void);
void spaces_free(struct spaces *spaces);
/* Mappings, forks, execs and exits; other kinds change nothing. */
void spaces_event(struct spaces *spaces, const struct event *event);
/* Sets is_used for each image that is mapped in a process that has not ended. */
void spaces_mark_images(const struct spaces *spaces, bool *is_used);
/* Before images_forget: processes that ended longer ago have no mappings of these any more. */
void spaces_forget_images(struct spaces *spaces, const bool *is_unused);
/*
 * NULL for an unknown process. A process that has ended is kept for a while: its last samples may arrive
 * late.
 */
struct space *spaces_find(struct spaces *spaces, pid_t pid);
