/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known: names and mappings from /proc, as events.
 *
 * There are no records of what existed before attaching. It is read from /proc and delivered before any
 * record. Mappings are read again when records were lost, because those may have contained mappings.
 */
#pragma once

#include "base/hash.h"
#include "collector/event.h"
#include "collector/process/mapping.h"

struct known;
/* mapper is borrowed. clock_ns: the clock of the records. */
struct known *known_new(struct mapper *mapper, uint64_t (*clock_ns)(void));
void known_free(struct known *known);

/* The mappings of a process, and the names of those of its threads that are in `threads` (NULL = all); once
 * for each pid. */
void known_learn(struct known *known, pid_t pid, const struct map *threads);
/* A process has another one as its parent: for kernel threads, which have no mappings. */
void known_fork(struct known *known, pid_t pid, pid_t parent);
/* A record of a mapping or an exec that is part of what was learned. */
bool known_covers(const struct known *known, const struct event *event);

/* Records were lost. */
void known_lost(struct known *known);
/* Reads the mappings of a process, if records were lost since this was last done. */
void known_look_again(struct known *known, pid_t pid);

/* What has not been handed out yet, in order. Valid as long as known is; times are 0. */
bool known_next(struct known *known, struct event *ret);
/* Everything learned so far, handed out or not. */
const struct event *known_all(const struct known *known, size_t *ret_n);
