/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths: the ways that a process takes through chosen functions, counted while it runs.
 *
 * What is counted is exact: every way that begins while the probes are there. Of one process; not of its
 * children.
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
	const sigset_t *signals; /* that the command runs with; NULL = ours */
};

struct paths_count {
	uint32_t number; /* of the way */
	bool has_caller; /* it was asked for, and the call was seen to begin */
	uint64_t caller; /* address behind the call, in the caller's image; 0 = it is not known where that is
			  */
	image_id caller_image;
	uint64_t count;
	double low, high; /* estimated: the share is within, 95 %; else both 0 */
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
	struct launch launch; /* of a command */
	pid_t pid;
	VEC(struct paths_map) maps; /* of the process, as far as it was looked at */
	struct bpf_paths *program;
};

/* Finds the functions and sets the probes. A command waits. */
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
/* How often a probe was hit so far. */
uint64_t paths_hits(const struct paths *paths);
/* The counts so far. */
void paths_read(struct paths *paths);
void paths_close(struct paths *paths);
