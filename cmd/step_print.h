/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_print: the report of `verify steps`, and single stacks next to the true ones.
 */
#pragma once

#include <stdio.h>

#include "binary/elf/symbols.h"
#include "verify/step_session.h"

/* Symbols of images, read on first use. */
struct step_names {
	struct images *images;         /* borrowed */
	VEC(struct symbols *) symbols; /* by image */
};
void step_names_done(struct step_names *names);

void step_print_text(FILE *to, const struct step_result *run, double seconds, struct step_names *names);
void step_print_json(FILE *to, const struct step_result *run, double seconds, struct step_names *names);

/* A stack and the true stack side by side. */
void step_print_miss(FILE *to, const struct step_miss *miss, struct step_names *names);
/* One step of a walk. */
void step_print_walk(FILE *to, const struct walk_step *step, const struct isa *isa);
