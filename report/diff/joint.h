/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joint: a combined tree of the scopes of several profiles. Scopes of two profiles are matched by their
 * properties, not by address; scopes without a counterpart are kept. So no cost is lost: the sums of the tree
 * are those of the profiles.
 *
 * A "metric" of the joint tree is a unit: a run, or a thread, process or rank of one. Unit u's cost is metric
 * u, its number of samples metric n_units + u. Views and costs of report/tree/ accept such a tree like any
 * other.
 */
#pragma once

#include "report/diff/loops.h"
#include "report/tree/group.h"

struct joint_options {
	bool no_loops, no_inlines;
	bool lines;      /* costs of single lines */
	bool call_sites; /* calls of one function from different lines of another are distinguished, by order
			  */
	bool no_samples; /* only costs; then n_units may still grow until joint_finish */
	const struct renames *renames;
};

struct joint {
	struct joint_options options;
	struct profile *names;  /* strings and images that the tree refers to; nothing else is filled in */
	struct scope_tree tree; /* by joint_finish */
	uint32_t n_units;
	VEC(uint32_t) what; /* by frame: the function of a function or inlined call, the loop of a loop */
	/* While profiles are added: */
	struct modules modules;
	struct functions functions;
	struct loops loops;
	struct sites *sites;
	struct numbering nodes, lines, frames, line_frames;
	VEC(struct scope_frame) line_frame;
	VEC(struct scope_value) values; /* of lines: scope is their number, metric has JOINT_LINE set */
};

void joint_init(struct joint *joint, const struct joint_options *options, uint32_t n_units);
void joint_done(struct joint *joint);

#define JOINT_CALLS "activations" /* a metric of this name, without an event: how many calls were seen */
/* A profile that is added; its tree is taken. */
struct joint_part {
	struct profile *profile;
	uint32_t metric;      /* the metric whose values are taken */
	const uint32_t *unit; /* by thread; UINT32_MAX = left out */
	bool is_renamed;      /* the renames apply to it */
};
void joint_add(struct joint *joint, const struct joint_part *part);
/* Builds the tree. Nothing can be added afterwards. */
void joint_finish(struct joint *joint);

/* Which scopes are the same thing in all contexts: GROUP_FUNCTION, GROUP_LOOP, GROUP_MODULE, GROUP_LINE.
 * groups_done it. */
void joint_groups(const struct joint *joint, enum group_by by, struct groups *ret);
