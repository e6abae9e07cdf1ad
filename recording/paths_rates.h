/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths_rates: estimates how often the blocks of a function are executed, before counting, from samples and
 * block lengths.
 *
 * The estimates need not be accurate: they only decide which probes are omitted, and whether the probes can
 * be set all the time. The counts do not depend on them.
 */
#pragma once

#include "base/diag.h"
#include "base/vec.h"
#include "binary/elf/image.h"
#include "binary/flow/cfg.h"

struct paths_sample {
	image_id image;
	uint64_t vaddr, n; /* the number of samples there */
};
struct paths_samples {
	VEC(struct paths_sample) at;
	double sample_ns; /* CPU time that one sample represents */
	double seconds;   /* duration of sampling */
};

/* Reads those of a profile, for images that are the same here. */
int paths_samples_read(struct paths_samples *samples, struct images *images, const char *path,
		       struct diag *diag);
void paths_samples_done(struct paths_samples *samples);

/* By block, executions per second; to be freed. NULL if the function has no samples. */
double *paths_rates_find(const struct paths_samples *samples, image_id image, const struct cfg *cfg);
