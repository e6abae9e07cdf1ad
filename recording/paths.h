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
	char *const *names; /* patterns, as in recording/chosen.h */
	size_t n_names;
	bool by_caller;
	const char *profile; /* from which execution rates of blocks are estimated; NULL: a process is sampled
				shortly */
	const sigset_t *signals; /* blocked signals of the command; NULL = ours */
};

struct paths_count {
	uint32_t number; /* of the path */
	bool has_caller; /* requested, and the entry of the call was seen */
	uint64_t caller; /* return address, in the caller's image; 0 = not known */
	image_id caller_image;
	uint64_t distance; /* of the caller, from the function's first instruction; 0 = not requested */
	uint64_t count;
	double low, high; /* 95 % confidence interval of an estimated share; otherwise both 0 */
};

/* How often a path was executed in one burst of steps, or in one window in which the probes were set. */
struct burst_count {
	uint32_t function, number, burst;
	uint64_t caller; /* as counted in the kernel; 0 = not requested */
	uint64_t count;
};

struct paths_function {
	struct chosen_function *chosen;
	struct paths_plan plan;
	uint32_t first_probe;
	VEC(struct paths_count) counts; /* the most frequent first */
	uint64_t n_ways;                /* the total number of executed paths */
};

struct paths_map {
	uint64_t start, end, bias;
	image_id image;
};

struct paths {
	struct images *images;
	struct chosen chosen;
	VEC(struct paths_function) functions;
	VEC(char *) notes; /* what is missing, one sentence each */
	struct paths_stats stats;
	struct paths_samples samples; /* taken before: used to estimate how often probes will be hit */
	double hits;                  /* expected number per second; negative = not known */
	/* What was counted while the probes were set: all of the time, or in windows. */
	VEC(struct burst_count) counted;
	uint32_t n_stretches;
	uint64_t in_ns, opened_ns; /* how long that was; since when they are set, 0 = they are not */
	uint64_t start_ns;         /* when they were first set */
	double seconds;            /* from there to the end */
	struct launch launch;      /* of a command */
	pid_t pid;
	VEC(struct paths_map) maps; /* of the process, when they were last read */
	struct bpf_paths *program;
};

/* Finds the functions, and the places for their probes. */
int paths_prepare(struct paths *paths, const struct paths_request *request, struct diag *diag);
/* The same, and sets the probes. A command is not started yet. Both close paths on failure. */
int paths_open(struct paths *paths, const struct paths_request *request, struct diag *diag);
/* Reads the mappings of the process; if it has ended, the last ones are kept. */
int paths_look_at_process(struct paths *paths);
/* Starts the command. */
int paths_start(struct paths *paths, const char *name, struct diag *diag);
/* Has the process, or the command, ended? Never waits. */
bool paths_is_over(struct paths *paths);
/* Removes the probes for a while; sets them again. Paths that are active at these times are not counted. */
void paths_rest(struct paths *paths);
int paths_resume(struct paths *paths, struct diag *diag);
/* The file offset of an address of an image; UINT64_MAX = none. */
uint64_t paths_offset(const struct image *image, uint64_t vaddr);
/* The share of hits at instructions that the kernel single-steps: of those expected, or of the probes. */
double paths_stepped_share(const struct paths *paths);
/* The number of probe hits so far. */
uint64_t paths_hits(const struct paths *paths);
/* Ends counting, and adds up all windows; if there are several, shares get confidence intervals. */
void paths_read(struct paths *paths);
void paths_close(struct paths *paths);
