/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths: counts execution paths through chosen functions of a running process.
 *
 * Counts are exact: every path that starts while the probes are set is counted. Only in one process; not in
 * its children.
 */
#pragma once

#include <signal.h>

#include "base/diag.h"
#include "base/vec.h"
#include "binary/elf/image.h"
#include "collector/process/launch.h"
#include "recording/chosen.h"
#include "recording/paths_plan.h"

struct paths_request {
	pid_t pid;          /* 0: the command */
	char *const *argv;  /* NULL: the process */
	char *const *names; /* patterns, as recording/chosen.h has them */
	size_t n_names;
	bool by_caller;
	const char *profile; /* that tells how often blocks are executed; NULL: of a process, a short look at
				it */
	const sigset_t *signals; /* that the command runs with; NULL = ours */
};

struct paths_count {
	uint32_t number; /* of the way */
	bool has_caller; /* it was asked for, and the call was seen to begin */
	uint64_t caller; /* address behind the call, in the caller's image; 0 = it is not known where that is
			  */
	image_id caller_image;
	uint64_t distance; /* of the caller, from the function's first instruction; 0 = not asked */
	uint64_t count;
	double low, high; /* estimated: the share is within, 95 %; else both 0 */
};

/* How often a way was taken in one burst of steps, or in one stretch in which the probes were in. */
struct burst_count {
	uint32_t function, number, burst;
	uint64_t caller; /* as the kernel has counted it; 0 = not asked */
	uint64_t count;
};

struct paths_function {
	struct chosen_function *chosen;
	struct paths_plan plan;
	uint32_t first_probe;
	VEC(struct paths_count) counts; /* the most frequent first */
	uint64_t n_ways;                /* the sum */
};

struct paths_map {
	uint64_t start, end, bias;
	image_id image;
};

struct paths {
	struct images *images;
	struct chosen chosen;
	VEC(struct paths_function) functions;
	VEC(char *) notes; /* what could not be had, one sentence each */
	struct paths_stats stats;
	struct paths_samples samples; /* from before: how often probes will be hit follows from them */
	double hits;                  /* a second, that are expected; negative = not known */
	/* What was counted while the probes were in: all of the time, or in stretches of it. */
	VEC(struct burst_count) counted;
	uint32_t n_stretches;
	uint64_t in_ns, opened_ns; /* how long that was; since when they are in, 0 = they are not */
	uint64_t start_ns;         /* when they were first in */
	double seconds;            /* from there to the end */
	struct launch launch;      /* of a command */
	pid_t pid;
	VEC(struct paths_map) maps; /* of the process, as far as it was looked at */
	struct bpf_paths *program;
};

/* Finds the functions, and where their probes have to be. */
int paths_prepare(struct paths *paths, const struct paths_request *request, struct diag *diag);
/* The same, and sets them. A command waits. On failure paths are closed, by both. */
int paths_open(struct paths *paths, const struct paths_request *request, struct diag *diag);
/* Looks at what the process has mapped; of one that is gone, what was seen last stays. */
int paths_look_at_process(struct paths *paths);
/* Lets a command run. */
int paths_start(struct paths *paths, const char *name, struct diag *diag);
/* Is the process, or the command, gone? Never waits. */
bool paths_is_over(struct paths *paths);
/* Removes the probes for a while, and sets them again. Ways that are under way then are not counted. */
void paths_rest(struct paths *paths);
int paths_resume(struct paths *paths, struct diag *diag);
/* Where in its file an address of an image is; UINT64_MAX = nowhere. */
uint64_t paths_offset(const struct image *image, uint64_t vaddr);
/* How often a probe was hit so far. */
uint64_t paths_hits(const struct paths *paths);
/* Ends counting, and makes counts of all stretches; of several, each with an interval of its share. */
void paths_read(struct paths *paths);
void paths_close(struct paths *paths);
