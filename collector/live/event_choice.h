/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_choice: from the requested events to those that this machine and our privileges allow, with a note
 * for each replacement.
 */
#pragma once

#include "collector/live/perf_events.h"
#include "collector/live/perf_source.h"

#define EVENTS_MAX 32 /* a list typed by hand */

struct event_choice {
	struct event_spec specs[EVENTS_MAX]; /* the members of a group after its first */
	size_t n;
};

int event_choice_make(struct event_choice *choice, const struct perf_source_options *options,
		      struct source_info *info, struct diag *diag);
/* For calls that are measured: the events that this machine can count in each call. */
int event_choice_counters(struct event_choice *choice, const struct perf_source_options *options,
			  struct source_info *info, struct diag *diag);
/* The event for waits, if requested, comes last. info.has_near_waits: only their lengths can be seen. */
int event_choice_add_waits(struct event_choice *choice, const struct perf_source_options *options,
			   struct source_info *info, struct diag *diag);
/*
 * Groups as requested, or each event by itself: kernels before 6.12 do not read groups in threads that
 * inherit them, and a group may need more counters than there are. Sets want->has_groups.
 */
void event_choice_groups(struct event_choice *choice, struct perf_want *want, struct source_info *info);
