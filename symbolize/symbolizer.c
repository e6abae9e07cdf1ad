/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/symbolizer.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "symbolize/naming.h"
#include "symbolize/unit_index.h"
#include "symbolize/unit_maps.h"

/* One image on its way. */
struct subject {
	struct symbolizer_request *request;
	struct debugfile file;
	struct naming *naming;
	struct unit_index index;
	struct perfmap jit;
	char *jit_path;
	atomic_uint_fast64_t n_damaged;
};

/* One unit and the addresses that fell into it. */
struct task {
	struct subject *subject;
	uint32_t unit;
	const uint64_t *vaddrs;
	size_t n;
	uint64_t cost;
};

struct hit {
	uint32_t subject, unit;
	uint64_t vaddr;
};

/* A map, and the thread whose strings it uses. */
struct found {
	struct function_map map;
	uint32_t worker, unit;
};

struct batch {
	const struct symbolizer_options *options;
	struct subject *subjects;
	size_t n_subjects;
	VEC(struct hit) hits;
	uint64_t *vaddrs; /* of the hits */
	VEC(struct task) tasks;
	struct worker *workers;
	unsigned n_workers;
	atomic_size_t n_done;
	atomic_uint ids;
	struct kallsyms kernel; /* read when an image asks for it */
	bool looked_for_kernel, has_kernel;
};

struct worker {
	struct dwarf_cache cache;
	function_maps maps;
	VEC(uint32_t) units; /* of each map */
};

/* ---- what was hit -------------------------------------------------------------------------- */

static void open_kernel(struct batch *batch, struct subject *subject)
{
	const char *path = batch->options->kallsyms ? batch->options->kallsyms : "/proc/kallsyms";

	if (!batch->looked_for_kernel) {
		batch->looked_for_kernel = true;
		batch->has_kernel = path[0] && kallsyms_open(path, &batch->kernel) == 0;
	}
	if (!batch->has_kernel)
		path = path[0] ? "kernel addresses are hidden" : "another kernel";
	subject->file.how = alloc_text(path);
}

static void open_jit(const struct batch *batch, struct subject *subject)
{
	const struct symbolizer_request *request = subject->request;

	if (batch->options->is_elsewhere)
		; /* a process of that number here is another */
	else if (request->jitdump && jitdump_open(request->pid, request->jitdump, &subject->jit) == 0)
		subject->jit_path = alloc_text(request->jitdump);
	else if (request->pid)
		perfmap_open(request->pid, &subject->jit, &subject->jit_path);
	subject->file.how = alloc_text(subject->jit_path ? subject->jit_path : "no perf map");
}

/* Finds the files; what is in them is read by prepare. */
static void open_subject(struct batch *batch, struct subject *subject)
{
	struct image *image = subject->request->image;

	if (image->file.len)
		debugfile_open(&subject->file, image, &batch->options->search, &batch->ids);
	else if (image->kind == IMAGE_KERNEL)
		open_kernel(batch, subject);
	else if (image->kind == IMAGE_JIT)
		open_jit(batch, subject);
	else
		subject->file.how = alloc_text("the file could not be read");
}

static void prepare(void *context, unsigned worker, size_t index)
{
	struct batch *batch = context;
	struct subject *subject = &batch->subjects[index];
	struct naming_options options = { .id = subject->request->id,
					  .image = subject->request->image,
					  .debug = subject->file.debug,
					  .kernel = batch->has_kernel ? &batch->kernel : NULL,
					  .jit = subject->jit_path ? &subject->jit : NULL,
					  .demangles = !batch->options->keeps_mangled };

	(void)worker;
	subject->naming = naming_new(&options);
	if (subject->file.dwarf.alt)
		dwarf_index(&subject->file.alt, NULL);
	dwarf_index(&subject->file.dwarf, NULL);
	unit_index_build(&subject->index, &subject->file.dwarf, subject->request->image);
}

static void collect_hits(struct batch *batch, uint32_t number)
{
	struct subject *subject = &batch->subjects[number];
	uint32_t units[UNIT_INDEX_MAX];

	for (size_t i = 0; i < subject->request->n && !subject->index.is_blind; i++) {
		uint64_t vaddr = subject->request->vaddrs[i];
		size_t n = unit_index_find(&subject->index, vaddr, units);
		for (size_t j = 0; j < n; j++)
			vec_push(&batch->hits, (struct hit){ number, units[j], vaddr });
	}
}

static int compare_hits(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;

	if (a->subject != b->subject)
		return a->subject < b->subject ? -1 : 1;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* Dearest first, so that no thread starts a big unit when the others are done. */
static int compare_tasks(const void *left, const void *right)
{
	const struct task *a = left, *b = right;

	return a->cost > b->cost ? -1 : a->cost < b->cost;
}

static void add_task(struct batch *batch, struct subject *subject, uint32_t number, const uint64_t *vaddrs, size_t n)
{
	const struct unit *unit = &subject->file.dwarf.units.at[number];

	vec_push(&batch->tasks, (struct task){ subject, number, vaddrs, n, unit->end - unit->offset });
}

/* Where no unit says what it covers, each is asked for everything. */
static void add_blind_tasks(struct batch *batch, struct subject *subject)
{
	const struct symbolizer_request *request = subject->request;

	for (size_t i = 0; i < subject->index.extents.n && subject->index.is_blind && request->n; i++)
		add_task(batch, subject, subject->index.extents.at[i].unit, request->vaddrs, request->n);
}

static void make_tasks(struct batch *batch)
{
	if (batch->hits.n)
		qsort(batch->hits.at, batch->hits.n, sizeof(*batch->hits.at), compare_hits);
	batch->vaddrs = alloc_zero(batch->hits.n, sizeof(*batch->vaddrs));
	for (size_t i = 0; i < batch->hits.n; i++) {
		const struct hit *hit = &batch->hits.at[i];
		struct task *last = batch->tasks.n ? &batch->tasks.at[batch->tasks.n - 1] : NULL;
		struct subject *subject = &batch->subjects[hit->subject];
		batch->vaddrs[i] = hit->vaddr;
		if (last && last->subject == subject && last->unit == hit->unit)
			last->n++;
		else
			add_task(batch, subject, hit->unit, &batch->vaddrs[i], 1);
	}
	for (size_t i = 0; i < batch->n_subjects; i++)
		add_blind_tasks(batch, &batch->subjects[i]);
	if (batch->tasks.n)
		qsort(batch->tasks.at, batch->tasks.n, sizeof(*batch->tasks.at), compare_tasks);
}

static void run_task(void *context, unsigned number, size_t index)
{
	struct batch *batch = context;
	struct worker *worker = &batch->workers[number];
	const struct task *task = &batch->tasks.at[index];
	struct subject *subject = task->subject;
	struct unit_hits hits = { .unit = &subject->file.dwarf.units.at[task->unit],
				  .vaddrs = task->vaddrs,
				  .n = task->n,
				  .is_guess = subject->index.is_blind };

	if (hits.unit->split_name)
		hits.split = debugfile_split(&subject->file, hits.unit);
	if (!unit_maps(&worker->cache, subject->naming, &hits, &worker->maps))
		atomic_fetch_add(&subject->n_damaged, 1);
	while (worker->units.n < worker->maps.n)
		vec_push(&worker->units, task->unit);

	size_t done = atomic_fetch_add(&batch->n_done, 1) + 1;
	if (number == 0 && batch->options->progress)
		batch->options->progress(batch->options->context, done, batch->tasks.n);
}

/* ---- putting it together ------------------------------------------------------------------- */

static int compare_found(const void *left, const void *right)
{
	const struct found *a = left, *b = right;
	bool a_is_entry = a->map.source == MAP_FROM_DWARF, b_is_entry = b->map.source == MAP_FROM_DWARF;

	if (a->map.image != b->map.image)
		return a->map.image < b->map.image ? -1 : 1;
	if (a->map.vaddr != b->map.vaddr)
		return a->map.vaddr < b->map.vaddr ? -1 : 1;
	if (a_is_entry != b_is_entry)
		return a_is_entry ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

/* One thread's string ids become the caller's. */
struct renumbering {
	const struct intern *from;
	struct intern *to;
	uint32_t *ids; /* 0 = not met yet; "" is 0 on both sides */
};

static void renumber(struct renumbering *r, uint32_t *id)
{
	if (*id && !r->ids[*id])
		r->ids[*id] = intern_add_n(r->to, r->from->strings.at[*id], r->from->lengths.at[*id]);
	*id = r->ids[*id];
}

static void renumber_map(struct renumbering *r, struct function_map *map)
{
	renumber(r, &map->name);
	renumber(r, &map->linkage);
	renumber(r, &map->decl_file);
	renumber(r, &map->scope);
	for (size_t i = 0; i < map->lines.n; i++)
		renumber(r, &map->lines.at[i].file);
	for (size_t i = 0; i < map->inlines.n; i++) {
		renumber(r, &map->inlines.at[i].name);
		renumber(r, &map->inlines.at[i].linkage);
		renumber(r, &map->inlines.at[i].decl_file);
		renumber(r, &map->inlines.at[i].call_file);
	}
}

/* Cuts a map down to [its start, end). */
static void truncate_map(struct function_map *map, uint64_t end)
{
	uint32_t size = (uint32_t)(end - map->vaddr);

	map->size = size;
	while (map->lines.n && map->lines.at[map->lines.n - 1].offset >= size)
		map->lines.n--;
	while (map->ranges.n && map->ranges.at[map->ranges.n - 1].start >= size)
		map->ranges.n--;
	if (map->ranges.n && map->ranges.at[map->ranges.n - 1].end > size)
		map->ranges.at[map->ranges.n - 1].end = size;
}

/* Appends the next map in order, unless an earlier one has its place. */
static void append(function_maps *ret, struct function_map *map)
{
	struct function_map *last = ret->n ? &ret->at[ret->n - 1] : NULL;
	bool overlaps = last && last->image == map->image && map->vaddr < last->vaddr + last->size;

	if (overlaps && (last->vaddr == map->vaddr || map->source != MAP_FROM_DWARF)) {
		function_map_done(map);
		return;
	}
	if (overlaps)
		truncate_map(last, map->vaddr);
	vec_push(ret, *map);
}

static void gather(struct batch *batch, struct intern *strings, function_maps *ret)
{
	VEC(struct found) found = { 0 };
	struct renumbering *renumberings = alloc_zero(batch->n_workers, sizeof(*renumberings));

	for (unsigned i = 0; i < batch->n_workers; i++) {
		struct worker *worker = &batch->workers[i];
		renumberings[i] = (struct renumbering){ &worker->cache.strings, strings,
							alloc_zero(worker->cache.strings.strings.n, sizeof(uint32_t)) };
		for (size_t j = 0; j < worker->maps.n; j++)
			vec_push(&found, (struct found){ worker->maps.at[j], i, worker->units.at[j] });
		vec_done(&worker->maps);
	}
	if (found.n)
		qsort(found.at, found.n, sizeof(*found.at), compare_found);
	for (size_t i = 0; i < found.n; i++) {
		/* In this order, so that ids do not depend on how the threads ran. */
		renumber_map(&renumberings[found.at[i].worker], &found.at[i].map);
		append(ret, &found.at[i].map);
	}
	for (unsigned i = 0; i < batch->n_workers; i++)
		free(renumberings[i].ids);
	free(renumberings);
	vec_done(&found);
}

/* Addresses that no unit described: their symbol, between the maps on either side. */
static void fill_gaps(const struct subject *subject, struct intern *strings, const function_maps *from, function_maps *ret)
{
	const struct symbolizer_request *request = subject->request;
	size_t behind = 0;

	while (behind < from->n && from->at[behind].image < request->id)
		behind++;
	for (size_t i = 0; i < request->n; i++) {
		uint64_t vaddr = request->vaddrs[i];
		const struct function_map *end = from->at + from->n;
		while (behind < from->n && from->at[behind].image == request->id &&
		       from->at[behind].vaddr + from->at[behind].size <= vaddr)
			behind++;
		const struct function_map *next = from->at ? from->at + behind : NULL;
		bool has_next = next && next < end && next->image == request->id;
		const struct function_map *last = ret->n ? &ret->at[ret->n - 1] : NULL;
		if ((has_next && next->vaddr <= vaddr) ||
		    (last && last->image == request->id && vaddr < last->vaddr + last->size))
			continue;
		struct function_map map = naming_find(subject->naming, vaddr, strings);
		uint64_t stop = map.vaddr + map.size;
		if (behind > 0 && from->at[behind - 1].image == request->id &&
		    map.vaddr < from->at[behind - 1].vaddr + from->at[behind - 1].size)
			map.vaddr = from->at[behind - 1].vaddr + from->at[behind - 1].size;
		map.size = (has_next && stop > next->vaddr ? next->vaddr : stop) - map.vaddr;
		vec_push(ret, map);
	}
}

static int compare_maps(const void *left, const void *right)
{
	const struct function_map *a = left, *b = right;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static void finish(struct batch *batch, struct intern *strings, function_maps *ret)
{
	function_maps entries = { 0 }, rest = { 0 };

	gather(batch, strings, &entries);
	for (size_t i = 0; i < batch->n_subjects; i++)
		fill_gaps(&batch->subjects[i], strings, &entries, &rest);
	size_t first = ret->n;
	for (size_t i = 0; i < entries.n; i++)
		vec_push(ret, entries.at[i]);
	for (size_t i = 0; i < rest.n; i++)
		vec_push(ret, rest.at[i]);
	if (ret->n > first)
		qsort(ret->at + first, ret->n - first, sizeof(*ret->at), compare_maps);
	vec_done(&entries);
	vec_done(&rest);
}

static void batch_done(struct batch *batch)
{
	for (size_t i = 0; i < batch->n_subjects; i++) {
		struct subject *subject = &batch->subjects[i];
		subject->request->how = alloc_text(subject->file.how);
		subject->request->n_damaged = subject->n_damaged + subject->file.dwarf.n_damaged;
		unit_index_done(&subject->index);
		naming_free(subject->naming);
		debugfile_done(&subject->file);
		perfmap_done(&subject->jit);
		free(subject->jit_path);
	}
	for (unsigned i = 0; i < batch->n_workers; i++) {
		dwarf_cache_done(&batch->workers[i].cache);
		vec_done(&batch->workers[i].units);
	}
	kallsyms_done(&batch->kernel);
	free(batch->subjects);
	free(batch->workers);
	free(batch->vaddrs);
	vec_done(&batch->hits);
	vec_done(&batch->tasks);
}

void symbolize(const struct symbolizer_options *options, struct symbolizer_request *requests, size_t n,
	       struct intern *strings, function_maps *ret)
{
	struct batch batch = { .options = options, .n_subjects = n, .n_workers = pool_threads(options->n_threads) };

	batch.subjects = alloc_zero(n, sizeof(*batch.subjects));
	batch.workers = alloc_zero(batch.n_workers, sizeof(*batch.workers));
	for (unsigned i = 0; i < batch.n_workers; i++)
		dwarf_cache_init(&batch.workers[i].cache, !options->keeps_mangled);
	for (size_t i = 0; i < n; i++) {
		batch.subjects[i].request = &requests[i];
		open_subject(&batch, &batch.subjects[i]);
	}
	pool_run(batch.n_workers, n, prepare, &batch);
	for (size_t i = 0; i < n; i++)
		collect_hits(&batch, (uint32_t)i);
	make_tasks(&batch);
	pool_run(batch.n_workers, batch.tasks.n, run_task, &batch);
	finish(&batch, strings, ret);
	batch_done(&batch);
}
