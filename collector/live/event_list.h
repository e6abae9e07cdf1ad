/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_list: what this machine can count, what is known but cannot be counted, and why. Each event is tried
 * once; one tracepoint is tried for all of them, unless a pattern selects some.
 */
#pragma once

#include <stdbool.h>

#include "base/vec.h"

#define EVENT_FAMILIES(FAMILY)                                                                 \
	FAMILY(SOFTWARE, "software", "software events, counted by the kernel")                 \
	FAMILY(HARDWARE, "hardware", "hardware events with generic names")                     \
	FAMILY(PROCESSOR, "processor", "hardware events as named by the processor's vendor")   \
	FAMILY(BREAKPOINT, "breakpoint", "breakpoints: accesses to an address of the program") \
	FAMILY(TRACEPOINT, "tracepoint", "tracepoints in the kernel")

enum event_family {
#define EVENT_FAMILY(family, name, about) EVENT_FAMILY_##family,
	EVENT_FAMILIES(EVENT_FAMILY)
#undef EVENT_FAMILY
		EVENT_FAMILY_N
};
const char *event_family_name(enum event_family family);
const char *event_family_about(enum event_family family);

struct event_row {
	enum event_family family;
	char *name, *about; /* about: NULL = nothing is known */
	int error;          /* 0 = it can be counted */
	bool is_user_only;  /* but not in the kernel */
};

struct event_list {
	VEC(struct event_row) rows; /* by family and name */
	int no_tracepoints;         /* why none are listed; 0 = they are */
};

/* Those whose name contains the pattern, or matches it if it has * or ?; NULL = all. */
void event_list_make(struct event_list *list, const char *pattern);
void event_list_done(struct event_list *list);
/* Why an event cannot be counted, as text. */
const char *event_error_words(int error);
