/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_set: reads the profiles of several runs and checks that they are comparable.
 */
#pragma once

#include "base/vec.h"
#include "profile/profile.h"
#include "report/annotate/source_text.h"
#include "report/quality.h"

struct run_file {
	dev_t device;
	ino_t inode;
};

struct run_set {
	const char *command; /* for messages */
	const char *metric;  /* requested; NULL = the first event */
	struct quality_bar min_quality;
	/* Of the first profile: */
	char *first, *metric_name, *unit, *arch;
	bool excludes_kernel;
	/* Of all: */
	VEC(char *) notes; /* sentences for the user */
	VEC(struct run_file) seen;
	struct profile_quality quality; /* summed up over all profiles */
	struct source_search sources;   /* limited to what may be shown for all of them */
};

void run_set_done(struct run_set *set);
/*
 * Reads the next profile. Negative: it is comparable; ret_metric is the metric that is compared. Otherwise
 * the exit code; the error has been printed.
 */
int run_set_read(struct run_set *set, const char *path, struct profile **ret, uint32_t *ret_metric);
/* After joint_add: what had to be left out of a profile's tree. */
void run_set_note_tree(struct run_set *set, const char *path, const struct profile *profile);
