/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: keeps the probes of chosen functions where processes have them: in what is mapped now, what is
 * mapped later, in children, after an exec.
 */
#pragma once

#include "collector/event.h"
#include "recording/chosen.h"

struct source;

struct trace_set {
	pid_t pid;
	image_id image;
};

struct trace {
	struct chosen chosen;
	VEC(struct trace_set) sets; /* whose probes are set */
	bool at_returns;            /* calls end where functions return to */
	bool is_starting;           /* the command does not run yet: what its process has mapped is ours */
	VEC(char *) notes;          /* what could not be had, one sentence each; for the user */
	size_t n_told;              /* of them: how many somebody has read */
};

void trace_init(struct trace *trace, char *const *patterns, size_t n, bool at_returns);
void trace_done(struct trace *trace);
void trace_event(struct trace *trace, struct images *images, struct source *source,
		 const struct event *event);
/* The file that a process is about to run. */
void trace_file(struct trace *trace, struct images *images, struct source *source, pid_t pid,
		const char *path);
/* Adds a note for each pattern that names nothing so far. Returns how many there are. */
size_t trace_note_missing(struct trace *trace);
/* Adds notes about calls that are not in the profile. */
void trace_note_calls(struct trace *trace, const struct source *source);
/* The next note that nobody has read; NULL if there is none. */
const char *trace_next_note(struct trace *trace);
