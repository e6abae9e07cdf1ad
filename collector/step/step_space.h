/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_space: what a stepped process has mapped, as events, and which mapping an sp lies in.
 */
#pragma once

#include <sys/types.h>

#include "collector/event.h"

typedef void (*event_taker)(void *context, const struct event *event);

struct step_space;
/* Borrows images. Events go to take. */
struct step_space *step_space_new(struct images *images, pid_t pid, event_taker take, void *context);
void step_space_free(struct step_space *space);

/* A new program runs: forgets everything, says so and tells its mappings. */
void step_space_exec(struct step_space *space);
/* Mappings may have changed: tells those of code that are new. */
void step_space_refresh(struct step_space *space);

/* The end of the mapping that holds addr, which stays when a stack grows; 0 if there is none. */
uint64_t step_space_end(struct step_space *space, uint64_t addr);
