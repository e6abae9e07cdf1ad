/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_set: reads the profiles of several runs and checks that they are comparable.
 */
#pragma once

#include "base/vec.h"
#include "profile/profile.h"
#include "report/quality.h"

struct run_file {
	dev_t device;
	ino_t inode;
};

struct run_set {
	const char *command; /* for messages */
	const char *metric;  /* asked for; NULL = the first event's */
	struct quality_bar min_quality;
	/* Of the first profile: */
	char *first, *metric_name, *unit, *arch;
	bool excludes_kernel;
	/* Of all: */
	VEC(char *) notes; /* what is to be said of them, a sentence each */
	VEC(struct run_file) seen;
	struct profile_quality quality; /* samples and what became of them, added up */
};

void run_set_done(struct run_set *set);
/*
 * Reads the next one. Negative: it fits; ret_metric is the metric that is compared. Else the exit code of a
 * complaint that was printed.
 */
int run_set_read(struct run_set *set, const char *path, struct profile **ret, uint32_t *ret_metric);
