/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/paths.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "binary/functions/function.h"
#include "collector/bpf/bpf_paths.h"
#include "collector/bpf/bpf_trace.h"
#include "collector/live/perf_glance.h"
#include "collector/process/mapping.h"
#include "collector/process/target.h"

#define FUNCTIONS_MAX 64
#define GLANCE_MS 200 /* at a process, before any probe is set */

/* ---- what the process has ---------------------------------------------------------------------------- */

struct paths_look {
	struct paths *paths;
	struct mapper *mapper;
};

static void paths_add_map(void *context, const struct target_map *map)
{
	const struct paths_look *look = context;
	CLEANUP(freep) char *path = alloc_text_n(map->path, map->path_len);
	struct mapping mapping = { .start = map->start,
				   .len = map->end - map->start,
				   .file_offset = map->offset,
				   .is_executable = true,
				   .path = path };
	struct mapping_file file = { .inode = map->inode, .major = map->major, .minor = map->minor };

	if (!map->is_executable || map->path_len == 0 || map->path[0] != '/')
		return;
	mapper_resolve(look->mapper, look->paths->pid, &file, &mapping);
	if (mapping.image != IMAGE_NONE)
		vec_push(&look->paths->maps,
			 ((struct paths_map){ map->start, map->end, mapping.bias, mapping.image }));
}

int paths_look_at_process(struct paths *paths)
{
	struct paths_look look = { paths, mapper_new(paths->images) };
	char state = target_state(paths->pid);

	if (state == 0 || state == 'Z') { /* what it had mapped so far is all that will be known */
		mapper_free(look.mapper);
		return -ESRCH;
	}
	vec_clear(&paths->maps);
	int error = target_maps(paths->pid, paths_add_map, &look);
	mapper_free(look.mapper);
	return error;
}

/* The file, as seen by the process; NULL if it is not visible from here. */
static char *paths_file(const struct paths *paths, image_id id)
{
	const struct image *image = images_peek(paths->images, id);
	struct stat now;

	for (size_t i = 0; i < paths->maps.n; i++) {
		const struct paths_map *map = &paths->maps.at[i];
		char *path = map->image == id ? alloc_printf("/proc/%d/map_files/%llx-%llx", (int)paths->pid,
							     (unsigned long long)map->start,
							     (unsigned long long)map->end)
					      : NULL;
		if (path && access(path, R_OK) == 0)
			return path;
		free(path);
	}
	char *path = paths->launch.pid ? alloc_text(image->path)
				       : alloc_printf("/proc/%d/root%s", (int)paths->pid, image->path);
	if (stat(path, &now) == 0 && now.st_dev == image->dev && now.st_ino == image->inode)
		return path;
	free(path);
	return NULL;
}

/* Where it runs right now. Not knowing is not an error: other information tells where probes can be left out.
 */
static void paths_glance(struct paths *paths)
{
	struct glance glance;

	if (glance_take(&glance, paths->pid, GLANCE_MS) == 0)
		for (size_t i = 0; i < glance.pcs.n; i++)
			for (size_t k = 0; k < paths->maps.n; k++) {
				const struct paths_map *map = &paths->maps.at[k];
				if (glance.pcs.at[i] >= map->start && glance.pcs.at[i] < map->end)
					vec_push(&paths->samples.at,
						 ((struct paths_sample){ map->image,
									 glance.pcs.at[i] - map->bias, 1 }));
			}
	paths->samples.sample_ns = GLANCE_PERIOD_NS;
	paths->samples.seconds = (double)glance.ns / 1e9;
	glance_done(&glance);
}

/* ---- functions --------------------------------------------------------------------------------------- */

static int paths_look_for_functions(struct paths *paths, const struct paths_request *request,
				    struct diag *diag)
{
	char path[4096];
	image_id image;

	if (request->argv) {
		if (!target_find_command(request->argv[0], path))
			return diag_set(diag, -ENOENT, "cannot run '%s'", request->argv[0]);
		CLEANUP(freep) char *real = realpath(path, NULL);
		int error = images_open(paths->images, real ? real : path, &image, diag);
		if (!error)
			chosen_look(&paths->chosen, paths->images, image, FUNCTIONS_MAX);
		return error;
	}
	int error = paths_look_at_process(paths);
	if (error)
		return diag_set(diag, error, "cannot read the memory mappings of process %d",
				(int)paths->pid);
	for (size_t i = 0; i < paths->maps.n; i++)
		chosen_look(&paths->chosen, paths->images, paths->maps.at[i].image, FUNCTIONS_MAX);
	return 0;
}

static int paths_check_names(const struct paths *paths, const struct paths_request *request,
			     struct diag *diag)
{
	for (size_t i = 0; i < paths->chosen.patterns.n; i++) {
		const struct chosen_pattern *found = &paths->chosen.found.at[i];
		if (found->n)
			continue;
		diag_set(diag, -ENOENT, "there is no function named '%s'", request->names[i]);
		if (found->nearest)
			diag_why(diag, "there is '%s'", found->nearest);
		else if (request->argv)
			diag_why(diag, "for a command, only functions of its own executable can be counted; "
				       "for a running process (-p), also those of its libraries");
		return -ENOENT;
	}
	return 0;
}

/* Plans the functions of one image; those that cannot be counted are noted. */
static void paths_plan_image(struct paths *paths, image_id id, uint32_t *n_probes)
{
	struct image *image = images_get(paths->images, id);
	struct symbols *symbols = symbols_read(image);
	struct frames *frames = frames_read(image);
	struct functions *functions = functions_new(image, symbols, frames, NULL);

	for (size_t i = 0; functions && i < paths->chosen.functions.n; i++) {
		struct chosen_function *chosen = &paths->chosen.functions.at[i];
		struct paths_function *function = &paths->functions.at[paths->functions.n];
		struct diag why = { 0 };
		if (chosen->image != id)
			continue;
		*function = (struct paths_function){ .chosen = chosen, .first_probe = *n_probes };
		struct paths_plan_request request = { .image = id,
						      .vaddr = chosen->vaddr,
						      .number = (uint32_t)paths->functions.n,
						      .samples = &paths->samples };
		if (paths_plan_init(&function->plan, functions, image, &request, &why) < 0) {
			vec_push(&paths->notes, alloc_printf("the paths through %s cannot be counted: %s",
							     chosen->name, why.why));
			continue;
		}
		*n_probes += (uint32_t)function->plan.probes.n;
		if (function->plan.rates)
			paths->hits = (paths->hits > 0 ? paths->hits : 0) + function->plan.hits;
		paths->functions.n++;
	}
	functions_free(functions);
	frames_free(frames);
	symbols_free(symbols);
}

static int paths_plan_all(struct paths *paths, struct diag *diag)
{
	uint32_t n_probes = 0;

	vec_reserve(&paths->functions, FUNCTIONS_MAX); /* plans must not move: their ways point to them */
	for (size_t i = 0; i < paths->chosen.looked_at.n; i++)
		for (size_t k = 0; k < paths->chosen.functions.n; k++)
			if (paths->chosen.functions.at[k].image == paths->chosen.looked_at.at[i]) {
				paths_plan_image(paths, paths->chosen.looked_at.at[i], &n_probes);
				break;
			}
	if (paths->functions.n && n_probes <= PATHS_PROBES_MAX)
		return 0;
	diag_set(diag, -ENOTSUP, "nothing can be counted");
	diag_why(diag, "%s", paths->functions.n ? "there are too many branches" : paths->notes.at[0]);
	return -ENOTSUP;
}

double paths_stepped_share(const struct paths *paths)
{
	double hits = 0, stepped_hits = 0, n_stepped = 0, n = 0;

	for (size_t i = 0; i < paths->functions.n; i++) {
		const struct paths_plan *plan = &paths->functions.at[i].plan;
		hits += plan->hits;
		stepped_hits += plan->stepped_hits;
		n += (double)plan->probes.n;
		n_stepped += plan->n_stepped;
	}
	return hits > 0 ? stepped_hits / hits : n > 0 ? n_stepped / n : 1;
}

/* ---- probes ------------------------------------------------------------------------------------------ */

uint64_t paths_offset(const struct image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		if (s->type == PT_LOAD && vaddr >= s->vaddr && vaddr - s->vaddr < s->file_size)
			return vaddr - s->vaddr + s->offset;
	}
	return UINT64_MAX;
}

static int paths_load(struct paths *paths, const struct paths_request *request, struct diag *diag)
{
	const struct image *image = images_peek(paths->images, paths->functions.at[0].chosen->image);
	VEC(struct paths_probe) probes = { 0 };
	VEC(struct paths_arrival) arrivals = { 0 };
	VEC(struct paths_action) actions = { 0 };

	for (size_t i = 0; i < paths->functions.n; i++) {
		const struct paths_plan *plan = &paths->functions.at[i].plan;
		for (size_t k = 0; k < plan->probes.n; k++)
			vec_push(&probes, plan->probes.at[k]);
		for (size_t k = 0; k < plan->arrivals.n; k++) {
			vec_push(&arrivals, plan->arrivals.at[k].arrival);
			vec_push(&actions, plan->arrivals.at[k].action);
		}
	}
	struct bpf_paths_want want = {
		.options = { .is_x86 = image->elf_machine == EM_X86_64, .by_caller = request->by_caller },
		.probes = probes.at,
		.n_probes = probes.n,
		.arrivals = arrivals.at,
		.actions = actions.at,
		.n_arrivals = arrivals.n,
	};
	int error = bpf_paths_open(&want, bpf_trace_can_set_many(), &paths->program, NULL, diag);
	vec_done(&probes);
	vec_done(&arrivals);
	vec_done(&actions);
	return error;
}

static int paths_refuse_file(const struct image *image, struct diag *diag)
{
	diag_set(diag, -ENOENT, "cannot count paths in '%s'", image->path);
	diag_why(diag, "the file was replaced, or is not visible to cpprof");
	return -ENOENT;
}

static int paths_set(struct paths *paths, const struct paths_function *function, struct diag *diag)
{
	const struct image *image = images_peek(paths->images, function->chosen->image);
	const struct paths_plan *plan = &function->plan;
	CLEANUP(freep) char *path = paths_file(paths, function->chosen->image);
	CLEANUP(freep) uint64_t *offsets = alloc_zero(plan->probes.n, sizeof(*offsets));

	if (!path)
		return paths_refuse_file(image, diag);
	for (size_t i = 0; i < plan->probes.n; i++)
		offsets[i] = paths_offset(image, plan->vaddrs.at[i]);
	int error = bpf_paths_set(paths->program, paths->pid, path, offsets, function->first_probe,
				  plan->probes.n);
	if (error)
		diag_set(diag, error, "cannot set probes in '%s'", image->path);
	return error;
}

int paths_prepare(struct paths *paths, const struct paths_request *request, struct diag *diag)
{
	*paths = (struct paths){ .images = images_new(), .pid = request->pid, .hits = -1 };
	chosen_init(&paths->chosen, request->names, request->n_names);
	int error = paths_look_for_functions(paths, request, diag);
	if (!error)
		error = paths_check_names(paths, request, diag);
	if (!error && request->profile)
		error = paths_samples_read(&paths->samples, paths->images, request->profile, diag);
	else if (!error && !request->argv)
		paths_glance(paths);
	if (!error)
		error = paths_plan_all(paths, diag);
	if (error)
		paths_close(paths);
	return error;
}

int paths_open(struct paths *paths, const struct paths_request *request, struct diag *diag)
{
	int error = paths_load(paths, request, diag);

	if (!error && request->argv)
		error = launch_prepare(request->argv, request->signals, &paths->launch, diag);
	if (!error && request->argv)
		paths->pid = paths->launch.pid;
	if (!error)
		error = paths_resume(paths, diag);
	if (error)
		paths_close(paths);
	return error;
}

int paths_resume(struct paths *paths, struct diag *diag)
{
	int error = 0;

	for (size_t i = 0; !error && i < paths->functions.n; i++)
		error = paths_set(paths, &paths->functions.at[i], diag);
	if (!error) {
		paths->opened_ns = clock_now_ns();
		paths->start_ns = paths->start_ns ? paths->start_ns : paths->opened_ns;
		bpf_paths_count(paths->program, true);
	}
	return error;
}

uint64_t paths_hits(const struct paths *paths)
{
	return bpf_paths_stats(paths->program).hits;
}

int paths_start(struct paths *paths, const char *name, struct diag *diag)
{
	return paths->launch.pid ? launch_start(&paths->launch, name, diag) : 0;
}

bool paths_is_over(struct paths *paths)
{
	if (paths->launch.pid)
		return launch_poll(&paths->launch);
	char state = target_state(paths->pid);
	return state == 0 || state == 'Z';
}

void paths_close(struct paths *paths)
{
	launch_done(&paths->launch);
	bpf_paths_close(paths->program);
	for (size_t i = 0; i < paths->functions.n; i++) {
		paths_plan_done(&paths->functions.at[i].plan);
		vec_done(&paths->functions.at[i].counts);
	}
	vec_done(&paths->functions);
	for (size_t i = 0; i < paths->notes.n; i++)
		free(paths->notes.at[i]);
	vec_done(&paths->notes);
	vec_done(&paths->maps);
	vec_done(&paths->counted);
	paths_samples_done(&paths->samples);
	chosen_done(&paths->chosen);
	images_free(paths->images);
	*paths = (struct paths){ 0 };
}
