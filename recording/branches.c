/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/branches.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "collector/perfdata/perf_file.h"
#include "recording/burst_ways.h"

struct branches_map {
	pid_t pid;
	struct paths_map map;
};

struct branches_reading {
	struct paths *paths;
	struct burst_ways ways;
	struct branches_found found;
	VEC(struct branches_map) maps; /* until the process is chosen */
};

/* The first process with branches is chosen. */
static void branches_choose(struct branches_reading *r, pid_t pid)
{
	r->paths->pid = pid;
	for (size_t i = 0; i < r->maps.n; i++)
		if (r->maps.at[i].pid == pid)
			vec_push(&r->paths->maps, r->maps.at[i].map);
}

static void branches_take_map(struct branches_reading *r, pid_t pid, const struct mapping *mapping)
{
	struct paths_map map = { mapping->start, mapping->start + mapping->len, mapping->bias,
				 mapping->image };

	if (!mapping->is_executable || mapping->image == IMAGE_NONE)
		return;
	if (!r->paths->pid)
		vec_push(&r->maps, ((struct branches_map){ pid, map }));
	else if (r->paths->pid == pid)
		vec_push(&r->paths->maps, map);
}

static void branches_take(void *context, const struct event *event)
{
	struct branches_reading *r = context;

	if (event->kind == EVENT_MAPPING)
		branches_take_map(r, event->pid, &event->mapping);
	if (event->kind != EVENT_SAMPLE || !event->sample.branches.len)
		return;
	if (!r->paths->pid)
		branches_choose(r, event->pid);
	if (r->paths->pid != event->pid) {
		r->found.n_others++;
		return;
	}
	r->found.n_samples++;
	burst_ways_add_branches(&r->ways, event->sample.branches);
}

int branches_read(struct paths *paths, const struct branches_request *request, struct branches_found *ret,
		  struct diag *diag)
{
	struct perf_file_options options = { .symfs = request->symfs };
	struct branches_reading r = { .paths = paths };
	struct source *source;

	*paths = (struct paths){ .images = images_new() };
	chosen_init(&paths->chosen, request->names, request->n_names);
	int error = perf_file_open(request->path, &options, paths->images, &source, diag);
	if (error)
		return error;
	burst_ways_init(&r.ways, paths, request->names, request->n_names);
	error = source_each(source, branches_take, &r, diag);
	source_close(source);
	burst_ways_finish(&r.ways);
	vec_done(&r.maps);
	*ret = r.found;
	if (!error && !r.found.n_samples) {
		diag_set(diag, -ENODATA, "'%s' contains no branch records", request->path);
		diag_hint(diag, "record them with perf record -b, on a processor that supports it");
		return -ENODATA;
	}
	return error;
}
