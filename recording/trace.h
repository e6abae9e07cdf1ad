/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: sets the probes of chosen functions in all processes that are traced: in files mapped now and later,
 * in child processes, after an exec.
 */
#pragma once

#include "base/text.h"
#include "collector/bpf/trace_layout.h"
#include "collector/event.h"
#include "collector/probe/probe_links.h"
#include "recording/chosen.h"
#include "symbolize/request.h"

struct source;

struct trace_set {
	pid_t pid;
	image_id image;
	bool throws; /* its code may throw exceptions */
};

struct trace {
	struct chosen chosen;
	VEC(struct trace_set) sets;       /* whose probes are set */
	const struct trace_grant *grants; /* by pattern, for allocation functions; otherwise NULL */
	bool held;                        /* ... whose blocks are tracked until they are freed */
	size_t n_named;                   /* ... how many of the first ones were named by the user */
	enum call_exits exits;
	double stepped_ns; /* what a probe costs if the kernel single-steps its instruction: uprobe_stepped_ns
			    */
	bool counts;       /* only probes entries */
	unsigned most;     /* functions that can be traced */
	size_t first_new;  /* functions before this one already have their probes */
	bool is_starting;  /* the command has not been executed yet: its process still has our mappings */
	/* Processes and files that were there before their probes; the longest such time; processes that had
	 * ended by then. */
	uint64_t n_late, late_ns, n_gone;
	uint64_t since_ns; /* when what is being probed was created or mapped; 0 = before its probes were set
			    */
	VEC(char *) notes; /* what is missing, one sentence each, for the user */
	size_t n_told;     /* how many of them were reported */
};

void trace_init(struct trace *trace, char *const *patterns, size_t n, enum call_exits exits);
void trace_done(struct trace *trace);
void trace_event(struct trace *trace, struct images *images, struct source *source,
		 const struct event *event);
/* The file that a process is about to run, with the libraries it needs. */
void trace_file(struct trace *trace, struct images *images, struct source *source, pid_t pid,
		const char *path);
/* Adds or removes the functions that match this pattern; returns how many were added or removed. */
size_t trace_add(struct trace *trace, struct images *images, struct source *source, const char *name);
size_t trace_remove(struct trace *trace, struct source *source, const char *name);
/* Does it match a function that was chosen? */
bool trace_knows(const struct trace *trace, const char *name);
/* Adds a note for each pattern without a match so far. Returns how many there are. symbolize: how to look up
 * inlined functions; NULL = do not. */
size_t trace_note_missing(struct trace *trace, struct images *images,
			  const struct symbolizer_options *symbolize);
/* The same for one pattern, by its index. */
void trace_note_absent(struct trace *trace, struct images *images, const struct symbolizer_options *symbolize,
		       size_t pattern);
/* Decides where its exits would be probed in a process that is not running yet. */
void trace_expect_exits(struct trace *trace, const struct image *image, image_id id);
/* CPU time that measuring a call of this function costs. */
double trace_call_ns(const struct trace *trace, const struct chosen_function *f);
/* Describes what would be probed, what it costs, and how often it was called in this many seconds; 0 = not
 * counted. */
void trace_plan(const struct trace *trace, struct images *images, const struct source *source, double seconds,
		struct text *ret);
/* Adds notes about calls that are not in the profile. */
void trace_note_calls(struct trace *trace, struct source *source);
/* Adds a note, which is taken. */
void trace_note(struct trace *trace, char *note);
/* The next note that was not reported yet; NULL if there is none. */
const char *trace_next_note(struct trace *trace);
