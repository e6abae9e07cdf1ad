/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths_plan: where probes have to stand, and what each has to do, so that the ways through a function are
 * counted.
 *
 * A probe stands on conditional branches (paths_silent.h: not on all of them), at the function's entry, at
 * the targets of jumps through tables, and at landing pads. What a branch decides is done there, as far as
 * nothing is left to be decided: so a way that leads from a branch straight to a return, or back, needs no
 * probe at its end. Only where ways would end twice between two branches, or behind a call, which need not
 * come back, another one is needed.
 */
#pragma once

#include "base/diag.h"
#include "base/vec.h"
#include "binary/elf/image.h"
#include "collector/bpf/paths_layout.h"
#include "structure/ways.h"

struct functions;

struct paths_plan {
	struct cfg cfg;
	struct ways ways;
	VEC(struct paths_probe) probes;
	VEC(uint64_t) vaddrs; /* of the probes */
	VEC(struct paths_landing {
		struct paths_arrival arrival;
		struct paths_action action;
	})
	arrivals;
};

/*
 * Of the function that starts at vaddr, under a number of the caller's. -ENOTSUP with a diag that says why if
 * its ways cannot be counted.
 */
int paths_plan_init(struct paths_plan *plan, struct functions *functions, const struct image *image,
		    uint64_t vaddr, uint32_t number, struct diag *diag);
void paths_plan_done(struct paths_plan *plan);
