/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of epochs that limits the size of a file: if a profile would take more, its rare call paths are
 * thinned out (unwinder/cct_thin.h). The fewest that suffice are found by trying.
 */
#include <math.h>

#include "base/cleanup.h"
#include "base/fresh_file.h"
#include "profile/epochs_private.h"
#include "profile/thin.h"

/* As measured: to divide the size by x, paths need about x^STEEPNESS times as many samples to be kept. */
#define STEEPNESS 1.6

static void fit_pack(struct profile *profile, struct writer *ret)
{
	writer_done(ret);
	*ret = (struct writer){ 0 };
	profile_make_dense(profile);
	profile_pack(profile, ret);
}

/* With paths of at least so many samples. The images of the others are left out. */
static int fit_thin(const struct profile *profile, uint64_t least, struct profile **ret, struct diag *diag)
{
	struct merger *merger = merger_new(&(struct merge_options){ .joins = MERGE_BY_NUMBER });
	struct profile some = profile_thinned(profile, least);
	int error = merger_add(merger, &some, "the epoch", diag);

	cct_done(&some.cct);
	*ret = merger_finish(merger);
	return error;
}

static uint64_t fit_next(uint64_t least, size_t size, size_t max_bytes)
{
	double next = ceil((double)least * pow((double)size / (double)max_bytes, STEEPNESS));

	return next > (double)least ? (uint64_t)next : least + 1;
}

/* Replaces the profile by one that fits. If it has very many threads, there may be none. */
static int fit(struct profile **profile, size_t max_bytes, struct writer *ret, struct diag *diag)
{
	CLEANUP(profile_freep) struct profile *whole = TAKE(*profile);
	uint64_t least = 1;
	int error = 0;

	profile_unpack(whole);
	while (!error && ret->len > max_bytes && least <= whole->quality.samples) {
		least = fit_next(least, ret->len, max_bytes);
		profile_free(*profile);
		error = fit_thin(whole, least, profile, diag);
		fit_pack(*profile, ret);
	}
	return error;
}

int epochs_write_file(const struct epochs *epochs, struct profile **profile, const char *name,
		      size_t max_bytes, struct diag *diag)
{
	CLEANUP(freep) char *path = epochs_path(epochs, "epochs", name);
	struct writer file = { 0 };
	int error = 0;

	fit_pack(*profile, &file);
	if (max_bytes && file.len > max_bytes && (*profile)->quality.samples)
		error = fit(profile, max_bytes, &file, diag);
	if (!error)
		error = profile_write_packed(writer_bytes(&file), path, FRESH_PRIVATE, diag);
	writer_done(&file);
	return error;
}
