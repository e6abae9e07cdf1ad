/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/symbolizer.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/pool.h"
#include "base/search.h"
#include "symbolize/fallback.h"
#include "symbolize/files/split.h"
#include "symbolize/gather.h"
#include "symbolize/kernel/kernel_ask.h"
#include "symbolize/kernel/kernel_store.h"
#include "symbolize/map_entry.h"
#include "symbolize/map_store.h"
#include "symbolize/prepare.h"
#include "symbolize/subject.h"
#include "symbolize/unit_maps.h"

/* One unit and the addresses in it. */
struct task {
	struct subject *subject;
	uint32_t unit;
	const uint64_t *vaddrs;
	size_t n;
	uint64_t cost;
	bool is_refused; /* the unit could not be read completely */
};

struct hit {
	uint32_t subject, unit;
	uint64_t vaddr;
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
	struct kallsyms kernel;
	bool has_kernel;
	struct pool_task *reading; /* reads the kernel's names; NULL = not running */
};

struct worker {
	struct dwarf_cache cache;
	struct gather_shard shard;
};

/* ---- before units are read ------------------------------------------------------------------- */

static const char *kallsyms_path(const struct batch *batch)
{
	return batch->options->kallsyms ? batch->options->kallsyms : "/proc/kallsyms";
}

/* All kernel addresses are looked up in one image. */
static const struct symbolizer_request *kernel_request(const struct batch *batch)
{
	for (size_t i = 0; i < batch->n_subjects; i++)
		if (subject_is_kernel(&batch->subjects[i]))
			return batch->subjects[i].request;
	return NULL;
}

static void read_kernel(void *context)
{
	struct batch *batch = context;
	const struct symbolizer_request *request = kernel_request(batch);
	struct store *store = batch->options->kallsyms
				      ? NULL
				      : batch->options->store; /* from this kernel, not from a file */
	CLEANUP(freep) char *boot = kernel_boot();

	batch->has_kernel =
		!batch->options->kallsyms && kernel_ask(request->vaddrs, request->n, &batch->kernel);
	if (batch->has_kernel)
		return;
	batch->has_kernel =
		store && kernel_store_get(store, boot, request->vaddrs, request->n, &batch->kernel);
	if (batch->has_kernel || !kallsyms_path(batch)[0])
		return;
	batch->has_kernel = kallsyms_open(kallsyms_path(batch), &batch->kernel) == 0;
	if (batch->has_kernel)
		kernel_store_put(store, boot, &batch->kernel);
}

/* If all of its names are needed, the kernel generates the text while it is read; only those names have to
 * wait for it. */
static void begin_kernel(struct batch *batch)
{
	if (kernel_request(batch))
		batch->reading = pool_start(batch->n_workers, read_kernel, batch);
}

static void await_kernel(struct batch *batch)
{
	const char *path = kallsyms_path(batch);

	pool_wait(batch->reading);
	for (size_t i = 0; i < batch->n_subjects; i++)
		if (subject_is_kernel(&batch->subjects[i]))
			batch->subjects[i].file.how = alloc_text(batch->has_kernel ? path
								 : path[0] ? "kernel addresses are hidden"
									   : "another kernel");
}

static void load_subject(void *context, unsigned worker, size_t index)
{
	struct batch *batch = context;

	(void)worker;
	if (batch->subjects[index].wanted.n)
		subject_load(&batch->subjects[index]);
}

/* ---- units with addresses ---------------------------------------------------------------------- */

static void collect_hits(struct batch *batch, uint32_t number)
{
	struct subject *subject = &batch->subjects[number];
	uint32_t units[UNIT_INDEX_MAX];

	for (size_t i = 0; i < subject->wanted.n && !subject->index.is_blind; i++) {
		uint64_t vaddr = subject->wanted.at[i];
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

/* Most expensive first, so that no thread starts a big unit when the others are done. */
static int compare_tasks(const void *left, const void *right)
{
	const struct task *a = left, *b = right;

	return a->cost > b->cost ? -1 : a->cost < b->cost;
}

static void add_task(struct batch *batch, struct subject *subject, uint32_t number, const uint64_t *vaddrs,
		     size_t n)
{
	const struct unit *unit = &subject->file.dwarf.units.at[number];

	vec_push(&batch->tasks, (struct task){ subject, number, vaddrs, n, unit->end - unit->offset, false });
}

/* If no unit says what it covers, each is searched for all addresses. */
static void add_blind_tasks(struct batch *batch, struct subject *subject)
{
	for (size_t i = 0; i < subject->index.extents.n && subject->index.is_blind; i++)
		add_task(batch, subject, subject->index.extents.at[i].unit, subject->wanted.at,
			 subject->wanted.n);
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

static void symbolizer_tell(const struct batch *batch, size_t done)
{
	if (batch->options->progress)
		batch->options->progress(batch->options->context, done, batch->tasks.n);
}

static void run_task(void *context, unsigned number, size_t index)
{
	struct batch *batch = context;
	struct worker *worker = &batch->workers[number];
	struct task *task = &batch->tasks.at[index];
	struct subject *subject = task->subject;
	struct unit_hits hits = { .unit = &subject->file.dwarf.units.at[task->unit],
				  .vaddrs = task->vaddrs,
				  .n = task->n,
				  .is_guess = subject->index.is_blind };

	if (hits.unit->split_name)
		hits.split = split_find(&subject->file, hits.unit);
	task->is_refused = !unit_maps(&worker->cache, subject->naming, &hits, &worker->shard.maps);
	if (task->is_refused)
		atomic_fetch_add(&subject->n_damaged, 1);
	while (worker->shard.units.n < worker->shard.maps.n)
		vec_push(&worker->shard.units, task->unit);

	size_t done = atomic_fetch_add(&batch->n_done, 1) + 1;
	if (number == 0)
		symbolizer_tell(batch, done);
}

/* ---- combining the results --------------------------------------------------------------------- */

/* Where to start in a sorted list of maps: the first map of an image that ends after vaddr. */
static const struct function_map *symbolizer_first_behind(const function_maps *maps, image_id id,
							  uint64_t vaddr)
{
	const struct function_map *at = maps->at;
	size_t first = search_first(
		i, maps->n, at[i].image > id || (at[i].image == id && at[i].vaddr + at[i].size > vaddr));

	return first < maps->n && at[first].image == id ? &at[first] : NULL;
}

static uint64_t symbolizer_end_of(const struct function_map *map)
{
	return map ? map->vaddr + map->size : 0;
}

/*
 * An address that no unit describes gets its symbol, limited by the maps on either side. A symbol may claim
 * to extend over many of them, and over the end of memory.
 */
static void fill_gap(const struct subject *subject, uint64_t vaddr, struct intern *strings,
		     const function_maps *entries, function_maps *ret)
{
	image_id id = subject->request->id;
	const struct function_map *at = entries->at, *last = ret->n ? &ret->at[ret->n - 1] : NULL;
	size_t behind =
		search_first(i, entries->n, at[i].image > id || (at[i].image == id && at[i].vaddr > vaddr));
	const struct function_map *next = behind < entries->n && at[behind].image == id ? &at[behind] : NULL;
	const struct function_map *before = behind && at[behind - 1].image == id ? &at[behind - 1] : NULL;

	last = last && last->image == id ? last : NULL;
	if (vaddr < symbolizer_end_of(before) || vaddr < symbolizer_end_of(last))
		return;
	struct function_map map = naming_find(subject->naming, vaddr, strings);
	uint64_t end = symbolizer_end_of(&map) > vaddr ? symbolizer_end_of(&map) : vaddr + 1;
	if (map.vaddr < symbolizer_end_of(before))
		map.vaddr = symbolizer_end_of(before);
	if (map.vaddr < symbolizer_end_of(last))
		map.vaddr = symbolizer_end_of(last);
	map.size = (next && end > next->vaddr ? next->vaddr : end) - map.vaddr;
	vec_push(ret, map);
}

static void move_maps(function_maps *from, function_maps *to)
{
	vec_reserve(to, to->n + from->n);
	for (size_t i = 0; i < from->n; i++)
		to->at[to->n++] = from->at[i];
	vec_done(from);
}

/* Everything found in this run, in order. */
static void collect_new(struct batch *batch, struct intern *strings, function_maps *ret)
{
	struct gather_shard **shards = alloc_zero(batch->n_workers, sizeof(struct gather_shard *));
	function_maps entries = { 0 }, rest = { 0 };

	for (unsigned i = 0; i < batch->n_workers; i++)
		shards[i] = &batch->workers[i].shard;
	gather(shards, batch->n_workers, strings, &entries);
	free(shards);
	for (size_t i = 0; i < batch->n_subjects; i++)
		for (size_t j = 0; j < batch->subjects[i].wanted.n; j++)
			fill_gap(&batch->subjects[i], batch->subjects[i].wanted.at[j], strings, &entries,
				 &rest);
	move_maps(&entries, ret);
	move_maps(&rest, ret);
	gather_settle(ret, 0);
}

/* Units that our reader refused. */
static void ask_fallback(struct batch *batch, struct intern *strings, function_maps *maps)
{
	for (size_t i = 0; i < batch->tasks.n; i++) {
		const struct task *task = &batch->tasks.at[i];
		for (size_t k = 0; k < task->n && task->is_refused; k++)
			vec_push(&task->subject->refused, task->vaddrs[k]);
	}
	for (size_t i = 0; i < batch->n_subjects; i++)
		fallback_complete(&batch->subjects[i], batch->options, strings, maps);
}

/* ---- results of earlier runs ------------------------------------------------------------------- */

static struct store_key symbolizer_key_of(const struct batch *batch, const struct subject *subject)
{
	return map_store_key(subject->file.identity, !batch->options->keeps_mangled);
}

static bool symbolizer_is_too_much(const struct subject *subject)
{
	const struct debugfile *file = &subject->file;

	return image_is_too_much(subject->request->image) ||
	       (file->debug && image_is_too_much(file->debug)) ||
	       (file->alt_image && image_is_too_much(file->alt_image));
}

static bool symbolizer_is_storable(const struct batch *batch, const struct subject *subject)
{
	const struct image *image = subject->request->image;

	/* An image that is not a file is memory of a process, which may contain anything. */
	return batch->options->store && image->kind == IMAGE_ELF && image->file.len > 0 &&
	       !image->is_changed && !symbolizer_is_too_much(subject);
}

/* Whether an entry can replace the maps: complete, and with names as requested. */
static bool is_enough(const struct batch *batch, const struct symbolizer_request *request, struct bytes bytes)
{
	struct map_entry entry;
	struct function_map view = { 0 };

	if (!request->takes_entry || batch->options->n_source_maps || !map_entry_open(bytes, &entry))
		return false;
	for (size_t i = 0; i < request->n; i++) {
		if (request->vaddrs[i] - view.vaddr < view.size)
			continue;
		const struct stored_map *stored = map_entry_find(&entry, request->vaddrs[i]);
		if (!stored || !map_entry_view(&entry, stored, &view))
			return false;
	}
	return true;
}

/* Leaves in `wanted` the addresses that the store does not have. */
static void symbolizer_recall(struct batch *batch, struct subject *subject, struct intern *strings)
{
	struct symbolizer_request *request = subject->request;

	if (symbolizer_is_storable(batch, subject)) {
		struct store_key key = symbolizer_key_of(batch, subject);
		struct bytes entry = store_get(batch->options->store, &key);
		if (entry.len && is_enough(batch, request, entry)) {
			request->entry = entry;
			return;
		}
		if (entry.len)
			map_store_unpack(entry, request->id, request->vaddrs, request->n, strings,
					 &subject->known);
		store_release(entry);
	}
	for (size_t i = 0; i < request->n; i++) {
		const struct function_map *map =
			symbolizer_first_behind(&subject->known, request->id, request->vaddrs[i]);
		if (!map || map->vaddr > request->vaddrs[i])
			vec_push(&subject->wanted, request->vaddrs[i]);
	}
}

/* Adds the maps to those the entry already has. */
static void symbolizer_remember(struct batch *batch, struct subject *subject, struct map_list found)
{
	struct store_key key = symbolizer_key_of(batch, subject);
	struct bytes entry = store_get(batch->options->store, &key);
	function_maps old = { 0 };
	struct intern names;
	struct writer packed = { 0 };

	intern_init(&names);
	if (entry.len)
		map_store_unpack_all(entry, subject->request->id, &names, &old);
	store_release(entry);
	map_store_pack((struct map_list){ old.at, old.n, &names }, found, &packed);
	store_put(batch->options->store, &key, writer_bytes(&packed));
	writer_done(&packed);
	function_maps_done(&old);
	intern_done(&names);
}

static void remember_all(struct batch *batch, const function_maps *maps, const struct intern *strings)
{
	for (size_t i = 0; i < batch->n_subjects; i++) {
		struct subject *subject = &batch->subjects[i];
		size_t first = 0, n = 0;
		if (!symbolizer_is_storable(batch, subject) || subject->wanted.n == 0 ||
		    subject->n_by_libdwarf)
			continue;
		while (first < maps->n && maps->at[first].image != subject->request->id)
			first++;
		while (first + n < maps->n && maps->at[first + n].image == subject->request->id)
			n++;
		if (n)
			symbolizer_remember(batch, subject,
					    (struct map_list){ &maps->at[first], n, strings });
	}
}

static void batch_done(struct batch *batch)
{
	for (size_t i = 0; i < batch->n_subjects; i++) {
		struct subject *subject = &batch->subjects[i];
		subject->request->how = alloc_text(subject->file.how);
		subject->request->identity = subject->file.identity;
		subject->request->is_too_much = symbolizer_is_too_much(subject);
		subject->request->n_damaged = subject->n_damaged + subject->file.dwarf.n_damaged;
		subject->request->n_by_libdwarf = subject->n_by_libdwarf;
		subject_done(subject);
	}
	for (unsigned i = 0; i < batch->n_workers; i++) {
		dwarf_cache_done(&batch->workers[i].cache);
		vec_done(&batch->workers[i].shard.maps);
		vec_done(&batch->workers[i].shard.units);
	}
	kallsyms_done(&batch->kernel);
	free(batch->subjects);
	free(batch->workers);
	free(batch->vaddrs);
	vec_done(&batch->hits);
	vec_done(&batch->tasks);
}

static void open_all(struct batch *batch, struct symbolizer_request *requests, struct intern *names)
{
	batch->subjects = alloc_zero(batch->n_subjects, sizeof(*batch->subjects));
	batch->workers = alloc_zero(batch->n_workers, sizeof(*batch->workers));
	for (unsigned i = 0; i < batch->n_workers; i++) {
		dwarf_cache_init(&batch->workers[i].cache, !batch->options->keeps_mangled);
		batch->workers[i].shard.strings = &batch->workers[i].cache.strings;
	}
	for (size_t i = 0; i < batch->n_subjects; i++)
		batch->subjects[i].request = &requests[i];
	begin_kernel(batch);
	for (size_t i = 0; i < batch->n_subjects; i++) {
		subject_open(&batch->subjects[i], batch->options, &batch->ids);
		symbolizer_recall(batch, &batch->subjects[i], names);
	}
}

void symbolize(const struct symbolizer_options *options, struct symbolizer_request *requests, size_t n,
	       struct intern *strings, function_maps *ret)
{
	function_maps found = { 0 };
	struct batch batch = { .options = options,
			       .n_subjects = n,
			       .n_workers = pool_threads(options->n_threads) };
	size_t first = ret->n;
	struct intern names; /* in the order of their first use, which depends on the contents of the store */

	intern_init(&names);
	symbolizer_tell(&batch, 0);
	open_all(&batch, requests, &names);
	subjects_prepare(batch.subjects, batch.n_subjects, options, &batch.kernel, batch.n_workers);
	pool_run(batch.n_workers, n, load_subject, &batch);
	for (size_t i = 0; i < n; i++)
		collect_hits(&batch, (uint32_t)i);
	make_tasks(&batch);
	pool_run(batch.n_workers, batch.tasks.n, run_task, &batch);
	symbolizer_tell(&batch, batch.tasks.n);
	await_kernel(&batch);
	collect_new(&batch, &names, &found);
	ask_fallback(&batch, &names, &found);
	remember_all(&batch, &found, &names);
	for (size_t i = 0; i < n && options->has_time; i++)
		subject_keep_unpacked(&batch.subjects[i], options->store);
	move_maps(&found, ret);
	for (size_t i = 0; i < n; i++)
		move_maps(&batch.subjects[i].known, ret);
	gather_settle(ret, first);
	gather_rename(ret, first, &names, strings);
	source_map_apply(options->source_maps, options->n_source_maps, strings, ret, first);
	intern_done(&names);
	batch_done(&batch);
}
