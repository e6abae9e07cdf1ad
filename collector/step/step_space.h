/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_space: the mappings of a stepped process, as events, and which mapping contains an sp.
 */
#pragma once

#include <sys/types.h>

#include "collector/event.h"

typedef void (*event_taker)(void *context, const struct event *event);

struct step_space;
/* Borrows images. Events are passed to take. */
struct step_space *step_space_new(struct images *images, pid_t pid, event_taker take, void *context);
void step_space_free(struct step_space *space);

/* After an exec: drops everything, and reports the exec and the new mappings. */
void step_space_exec(struct step_space *space);
/* Mappings may have changed: reports new ones of code. */
void step_space_refresh(struct step_space *space);

/* The end of the mapping that contains addr, which does not change when a stack grows; 0 if there is none. */
uint64_t step_space_end(struct step_space *space, uint64_t addr);
