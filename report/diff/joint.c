/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/diff/sites.h"
#include "report/label.h"

#define NONE UINT32_MAX
#define JOINT_LINE 0x80000000u

/* What a frame of the joint tree is. */
struct frame_key {
	uint32_t kind, what;
};

struct line_key {
	uint32_t node, frame;
};

/* A source line, independent of where its function has moved. */
struct line_frame_key {
	uint32_t procedure; /* joint frame of the function or inlined call it is in */
	uint32_t file, place;
};

void joint_init(struct joint *joint, const struct joint_options *options, uint32_t n_units)
{
	*joint = (struct joint){ .options = *options, .n_units = n_units, .names = profile_new() };
	modules_init(&joint->modules, joint->names);
	functions_init(&joint->functions, &joint->modules);
	loops_init(&joint->loops, &joint->functions);
	joint->sites = sites_new();
	numbering_init(&joint->nodes, 3 * sizeof(uint32_t));
	numbering_init(&joint->lines, sizeof(struct line_key));
	numbering_init(&joint->frames, sizeof(struct frame_key));
	numbering_init(&joint->line_frames, sizeof(struct line_frame_key));
	vec_push(&joint->tree.calls, (struct scope_call){ 0 });
	for (uint32_t kind = SCOPE_ROOT; kind <= SCOPE_INCOMPLETE; kind++) {
		struct frame_key key = { kind, 0 };
		const uint32_t node[] = { kind, kind, 0 };
		numbering_add(&joint->frames, &key);
		vec_push(&joint->tree.frames,
			 (struct scope_frame){ .kind = (uint8_t)kind, .image = IMAGE_NONE });
		vec_push(&joint->what, NONE);
		numbering_add(&joint->nodes, node);
		vec_push(&joint->tree.scopes, (struct scope_row){ 0, kind, 0 });
	}
}

/* Frees what is only needed for adding. */
static void joint_forget(struct joint *joint)
{
	modules_done(&joint->modules);
	functions_done(&joint->functions);
	loops_done(&joint->loops);
	sites_free(joint->sites);
	joint->sites = NULL;
	numbering_done(&joint->nodes);
	numbering_done(&joint->lines);
	numbering_done(&joint->frames);
	numbering_done(&joint->line_frames);
	vec_done(&joint->line_frame);
	vec_done(&joint->values);
}

void joint_done(struct joint *joint)
{
	joint_forget(joint);
	scope_tree_done(&joint->tree);
	vec_done(&joint->what);
	profile_free(joint->names);
	*joint = (struct joint){ 0 };
}

/* ---- frames --------------------------------------------------------------------------------------- */

/* A profile that is being added. */
struct joining {
	struct joint *joint;
	const struct joint_part *part;
	struct functions_from from;
	struct scope_tree tree;
	uint32_t *functions, *loops; /* by frame: what it is */
	uint32_t *frames;            /* by frame: the joint one; NONE for lines */
	uint32_t *nodes;             /* by scope: the joint one; JOINT_LINE and its number for lines */
	uint32_t *procedures;        /* by scope: the function or inlined call around it, or itself */
	uint32_t *sites;             /* by scope: which call; 0 = not distinguished */
};

static uint32_t joint_frame(struct joint *joint, uint32_t kind, uint32_t what, const struct scope_frame *as)
{
	struct frame_key key = { kind, what };
	uint32_t number = numbering_add(&joint->frames, &key);

	if (number == joint->tree.frames.n) {
		struct scope_frame frame = *as;
		frame.kind = (uint8_t)kind;
		if (kind == SCOPE_INLINE)
			frame.vaddr = 0;
		vec_push(&joint->tree.frames, frame);
		vec_push(&joint->what, what);
	}
	return number;
}

static void joining_frames(struct joining *in)
{
	struct joint *joint = in->joint;

	functions_add(&joint->functions, &in->from, &in->tree, in->functions);
	loops_add(&joint->loops, &in->from, &in->tree, in->functions, in->loops);
	for (size_t i = 0; i < in->tree.frames.n; i++) {
		uint32_t kind = in->tree.frames.at[i].kind, function = in->functions[i], loop = in->loops[i];
		if (kind == SCOPE_LOOP)
			in->frames[i] = joint_frame(joint, kind, loop, &joint->loops.all.at[loop]);
		else if (function != NONE)
			in->frames[i] =
				joint_frame(joint, kind, function, &joint->functions.all.at[function]);
		else
			in->frames[i] = kind == SCOPE_LINE ? NONE : kind;
	}
}

/* ---- calls ---------------------------------------------------------------------------------------- */

/* The distance of a line from the start of its function or inlined call, if it is written there. */
static struct order_place place_in(const struct joining *in, uint32_t procedure, uint32_t file, uint32_t line)
{
	const struct scope_frame *frame = scope_frame(&in->tree, procedure);
	bool is_inside = frame->file == file && frame->line && frame->line <= line;

	return (struct order_place){ line - (is_inside ? frame->line : 0),
				     is_inside && frame->end_line >= line ? frame->end_line - line
									  : ORDER_NONE };
}

static void joining_sites(struct joining *in, size_t n)
{
	VEC(struct site) seen = { 0 };
	VEC(uint32_t) scopes = { 0 };

	for (uint32_t i = 2; i < n; i++) {
		uint32_t parent = in->tree.scopes.at[i].parent, procedure = in->procedures[parent];
		const struct scope_call *call = &in->tree.calls.at[in->tree.scopes.at[i].call];
		unsigned kind = scope_kind(&in->tree, i);
		image_id image = scope_frame(&in->tree, procedure)->image;
		if (kind == SCOPE_LOOP || !call->line || image >= in->from.profile->images.n)
			continue;
		struct site site = { in->frames[in->tree.scopes.at[parent].frame],
				     in->frames[in->tree.scopes.at[i].frame], in->from.places[image].build,
				     place_in(in, procedure, call->file, call->line) };
		vec_push(&seen, site);
		vec_push(&scopes, i);
	}
	CLEANUP(freep) uint32_t *found = alloc_zero(seen.n + 1, sizeof(*found));
	sites_add(in->joint->sites, seen.at, seen.n, found);
	for (size_t i = 0; i < seen.n; i++)
		in->sites[scopes.at[i]] = found[i];
	vec_done(&seen);
	vec_done(&scopes);
}

/* ---- scopes --------------------------------------------------------------------------------------- */

static void joining_node(struct joining *in, uint32_t i)
{
	struct joint *joint = in->joint;
	const struct scope_row *row = &in->tree.scopes.at[i];
	const uint32_t key[] = { in->nodes[row->parent], in->frames[row->frame], in->sites[i] };

	in->nodes[i] = numbering_add(&joint->nodes, key);
	if (in->nodes[i] < joint->tree.scopes.n)
		return;
	struct scope_row joined = { key[0], key[1], 0 };
	struct scope_call call = in->tree.calls.at[row->call];
	if (call.line) {
		call.vaddr = 0;
		call.file = functions_string(&joint->functions, &in->from, call.file);
		joined.call = (uint32_t)joint->tree.calls.n;
		vec_push(&joint->tree.calls, call);
	}
	vec_push(&joint->tree.scopes, joined);
}

static void joining_line(struct joining *in, uint32_t i)
{
	struct joint *joint = in->joint;
	const struct scope_row *row = &in->tree.scopes.at[i];
	const struct scope_frame *frame = &in->tree.frames.at[row->frame];
	uint32_t procedure = in->procedures[row->parent];
	const char *file = label_file(intern_text(&in->from.profile->strings, frame->file));
	struct line_frame_key what = { in->frames[in->tree.scopes.at[procedure].frame],
				       intern_add(&joint->names->strings, file),
				       place_in(in, procedure, frame->file, frame->line).start };
	struct line_key key = { in->nodes[row->parent], numbering_add(&joint->line_frames, &what) };

	if (key.frame == joint->line_frame.n) {
		struct scope_frame line = *frame;
		line.image = scope_frame(&joint->tree, in->nodes[row->parent])->image;
		line.name = functions_string(&joint->functions, &in->from, frame->name);
		line.file = functions_string(&joint->functions, &in->from, frame->file);
		vec_push(&joint->line_frame, line);
	}
	in->nodes[i] = JOINT_LINE | numbering_add(&joint->lines, &key);
}

static void joining_scopes(struct joining *in)
{
	size_t n = scope_tree_n_nodes(&in->tree);

	in->nodes[0] = 0;
	in->nodes[1] = 1;
	for (uint32_t i = 2; i < n; i++) {
		unsigned kind = scope_kind(&in->tree, i);
		bool is_procedure = kind == SCOPE_FUNCTION || kind == SCOPE_INLINE;
		in->procedures[i] = is_procedure ? i : in->procedures[in->tree.scopes.at[i].parent];
	}
	if (in->joint->options.call_sites)
		joining_sites(in, n);
	for (uint32_t i = 2; i < n; i++)
		joining_node(in, i);
	for (size_t i = n; i < in->tree.scopes.n; i++)
		joining_line(in, (uint32_t)i);
}

static void joining_values(struct joining *in)
{
	struct joint *joint = in->joint;
	uint32_t metric = in->tree.activations ? in->tree.activations : in->part->metric;

	for (size_t i = 0; i < in->tree.values.n; i++) {
		const struct scope_value *value = &in->tree.values.at[i];
		uint32_t unit = in->part->unit[value->thread];
		if (unit == NONE)
			continue;
		struct scope_value joined = { in->nodes[value->scope], 0, unit, value->value };
		if (value->metric == metric)
			vec_push(&joint->values, joined);
		joined.metric += joint->n_units;
		if (value->metric == 0 && !joint->options.no_samples)
			vec_push(&joint->values, joined);
	}
}

/* Numbers of calls are not a metric of the profile, except for their name, which was requested. */
static bool joining_calls(const struct joint_part *part)
{
	const struct profile *profile = part->profile;

	return part->metric < profile->metrics.n && profile->metrics.at[part->metric].event == UINT32_MAX &&
	       strcmp(intern_text(&profile->strings, profile->metrics.at[part->metric].name), JOINT_CALLS) ==
		       0;
}

void joint_add(struct joint *joint, const struct joint_part *part)
{
	struct profile *profile = part->profile;
	struct fuse_options fusing = { .calls = joint->options.call_sites ? FUSE_CALLS_BY_LINE
									  : FUSE_CALLS_MERGED,
				       .no_inlines = joint->options.no_inlines,
				       .no_loops = joint->options.no_loops,
				       .lines = joint->options.lines,
				       .activations = joining_calls(part) };
	CLEANUP(freep) struct module_place *places = alloc_zero(profile->images.n + 1, sizeof(*places));
	const struct renames *renames = part->is_renamed ? joint->options.renames : NULL;
	struct joining in = { .joint = joint, .part = part };

	modules_add(&joint->modules, profile, renames, places);
	profile_take_tree(profile, &fusing, &in.tree);
	CLEANUP(freep)
	uint32_t *strings = alloc_resize(NULL, profile->strings.strings.n + 1, sizeof(*strings));
	memset(strings, 0xff, profile->strings.strings.n * sizeof(*strings));
	in.from = (struct functions_from){ profile, places, renames, strings };
	size_t n_frames = in.tree.frames.n, n_scopes = in.tree.scopes.n;
	CLEANUP(freep) uint32_t *of_frames = alloc_zero(3 * n_frames + 1, sizeof(*of_frames));
	CLEANUP(freep) uint32_t *of_scopes = alloc_zero(3 * n_scopes + 1, sizeof(*of_scopes));
	in.functions = of_frames;
	in.loops = of_frames + n_frames;
	in.frames = of_frames + 2 * n_frames;
	in.nodes = of_scopes;
	in.procedures = of_scopes + n_scopes;
	in.sites = of_scopes + 2 * n_scopes;
	joining_frames(&in);
	joining_scopes(&in);
	joining_values(&in);
	scope_tree_done(&in.tree);
}

/* ---- the whole ------------------------------------------------------------------------------------ */

void joint_finish(struct joint *joint)
{
	struct scope_tree *tree = &joint->tree;
	uint32_t n_nodes = (uint32_t)tree->scopes.n, n_frames = (uint32_t)tree->frames.n;
	const struct line_key *lines = (const void *)joint->lines.keys;

	for (size_t i = 0; i < joint->line_frame.n; i++) {
		vec_push(&tree->frames, joint->line_frame.at[i]);
		vec_push(&joint->what, (uint32_t)i);
	}
	for (size_t i = 0; i < joint->lines.n; i++)
		vec_push(&tree->scopes, (struct scope_row){ lines[i].node, n_frames + lines[i].frame, 0 });
	for (size_t i = 0; i < joint->values.n; i++)
		if (joint->values.at[i].scope & JOINT_LINE)
			joint->values.at[i].scope = n_nodes + (joint->values.at[i].scope & ~JOINT_LINE);
	tree->n_metrics = 2 * joint->n_units;
	tree->values.at = joint->values.at;
	tree->values.cap = joint->values.cap;
	tree->values.n = scope_values_settle(joint->values.at, joint->values.n, tree->scopes.n);
	joint->values.at = NULL;
	joint->values.n = joint->values.cap = 0;
	joint_forget(joint);
}

/* GROUP_NONE: has no group of its own. */
static uint32_t joint_group_key(const struct joint *joint, uint32_t scope, enum group_by by)
{
	const struct scope_frame *frame = scope_frame(&joint->tree, scope);
	uint32_t what = joint->what.at[joint->tree.scopes.at[scope].frame];

	switch (by) {
	case GROUP_FUNCTION:
		if (frame->kind == SCOPE_ROOT || frame->kind == SCOPE_INCOMPLETE)
			return frame->kind;
		return frame->kind == SCOPE_LOOP || frame->kind == SCOPE_LINE ? GROUP_NONE : what + 2;
	case GROUP_LOOP:
		return frame->kind == SCOPE_LOOP ? what : GROUP_NONE;
	case GROUP_LINE:
		return frame->kind == SCOPE_LINE ? what : GROUP_NONE;
	case GROUP_MODULE:
		return frame->kind >= SCOPE_FUNCTION ? frame->image + 1 : GROUP_NONE;
	case GROUP_FILE:
		return frame->kind >= SCOPE_FUNCTION ? frame->file : GROUP_NONE;
	}
	return GROUP_NONE;
}

void joint_groups(const struct joint *joint, enum group_by by, struct groups *ret)
{
	CLEANUP(numbering_done) struct numbering numbers;

	*ret = (struct groups){ .of = alloc_zero(joint->tree.scopes.n, sizeof(*ret->of)) };
	numbering_init(&numbers, sizeof(uint32_t));
	for (uint32_t i = 0; i < joint->tree.scopes.n; i++) {
		uint32_t key = joint_group_key(joint, i, by);
		ret->of[i] = key == GROUP_NONE ? groups_inherited(ret, &joint->tree, i, by)
					       : numbering_add(&numbers, &key);
		if (key != GROUP_NONE && ret->of[i] == ret->scopes.n)
			vec_push(&ret->scopes, i);
	}
}
