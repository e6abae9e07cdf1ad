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
#include "recording/paths_rates.h"
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
	double *rates; /* by block, executions a second, about; NULL = not known */
	double hits;   /* of all probes, a second, about */
};

struct paths_plan_request {
	image_id image;
	uint64_t vaddr;                      /* where the function starts */
	uint32_t number;                     /* of the function, of the caller's choice */
	const struct paths_samples *samples; /* what was seen of it before; NULL = nothing */
};

/* -ENOTSUP with a diag that says why if the ways of the function cannot be counted. */
int paths_plan_init(struct paths_plan *plan, struct functions *functions, const struct image *image,
		    const struct paths_plan_request *request, struct diag *diag);
void paths_plan_done(struct paths_plan *plan);
