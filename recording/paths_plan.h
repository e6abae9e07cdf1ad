/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths_plan: where probes must be set, and what each must do, to count the execution paths (ways) through a
 * function.
 *
 * Probes are set on conditional branches (not on all of them: paths_silent.h), at the function's entry, at
 * the targets of jumps through tables, and at landing pads. The probe of a branch also does the work up to
 * the next decision: so a path that leads from a branch straight to a return or a back edge needs no probe at
 * its end. Another probe is needed only where paths would end twice between two branches, or after a call,
 * which may not return.
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
	double *rates;       /* by block, estimated executions per second; NULL = not known */
	double hits;         /* of all probes, estimated, per second */
	double stepped_hits; /* ... of those whose instruction the kernel single-steps */
	uint32_t n_stepped;  /* of the probes */
};

struct paths_plan_request {
	image_id image;
	uint64_t vaddr;                      /* where the function starts */
	uint32_t number;                     /* of the function, chosen by the caller */
	const struct paths_samples *samples; /* samples taken before; NULL = none */
};

/* -ENOTSUP with a diag that has the reason if the paths of the function cannot be counted. */
int paths_plan_init(struct paths_plan *plan, struct functions *functions, const struct image *image,
		    const struct paths_plan_request *request, struct diag *diag);
void paths_plan_done(struct paths_plan *plan);
