/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_attach: opens events on every thread of the targets, and collects what is already known about them.
 * Private to the live source.
 */
#pragma once

#include "collector/live/known.h"
#include "collector/live/perf_events.h"
#include "collector/live/perf_source.h"
#include "collector/live/priority.h"
#include "collector/live/targets.h"
#include "collector/process/launch.h"

/* All borrowed: what is filled, and what is needed for it. */
struct perf_attach {
	struct perf_events *events;
	struct known *known;
	struct targets *targets;
	struct drain *drain;
	struct source_info *info; /* for its notes */
	const struct priority *priority;
	struct map births; /* threads whose creation was seen meanwhile, so they have inherited events */
};

int perf_attach_all(struct perf_attach *attach, const struct perf_source_options *options, struct diag *diag);
/* Everything that runs; with a command, which is started then, until it has ended. */
int perf_attach_machine(struct perf_attach *attach, const struct perf_source_options *options,
			struct launch *launch, struct diag *diag);
int perf_attach_command(struct perf_attach *attach, const struct perf_source_options *options,
			struct launch *launch, struct diag *diag);
