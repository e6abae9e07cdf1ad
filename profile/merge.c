/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/merge.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/merge_private.h"
#include "profile/table.h"
#include "profile/thin.h"

static void merge_strings(struct merger *m)
{
	const struct intern *strings = &m->from->strings;

	m->string = alloc_zero(strings->strings.n + 1, sizeof(*m->string));
	for (size_t i = 0; i < strings->strings.n; i++)
		m->string[i] = intern_add_n(&m->all->strings, strings->strings.at[i], strings->lengths.at[i]);
}

/* ---- what values refer to ----------------------------------------------------------------------- */

static bool merge_same_event(const struct profile_event *a, const struct profile_event *b)
{
	return a->name == b->name && a->unit == b->unit;
}

/* The event with that name and unit; if one profile has several, the first corresponds to the first, and so
 * on. */
static uint32_t merge_find_event(const struct profile *all, const struct profile_event *event, size_t nth)
{
	for (uint32_t i = 0; i < all->events.n; i++)
		if (merge_same_event(&all->events.at[i], event) && nth-- == 0)
			return i;
	return UINT32_MAX;
}

static uint32_t merge_event(struct merger *m, uint32_t i)
{
	struct profile_event event = m->from->events.at[i];
	size_t nth = 0;

	for (uint32_t j = 0; j < i; j++)
		nth += merge_same_event(&m->from->events.at[j], &event);
	event.name = m->string[event.name];
	event.unit = m->string[event.unit];
	uint32_t index = merge_find_event(m->all, &event, nth);
	if (index == UINT32_MAX) {
		index = (uint32_t)m->all->events.n;
		vec_push(&m->all->events, event);
		vec_push(&m->all->metrics, ((struct profile_metric){ event.name, event.unit, index }));
		return index;
	}
	struct profile_event *known = &m->all->events.at[index];
	known->frequency = event.frequency > known->frequency ? event.frequency : known->frequency;
	known->period = event.period > known->period ? event.period : known->period;
	known->excludes_kernel |= event.excludes_kernel;
	return index;
}

/* Metric 0 is samples, metric 1 + i the weight of event i: merge_check has refused other profiles, unless
 * they have no values. */
static void merge_events(struct merger *m)
{
	size_t n_known = m->all->events.n;

	m->metric = alloc_zero(m->from->metrics.n + m->from->events.n + 1, sizeof(*m->metric));
	if (m->all->metrics.n == 0)
		vec_push(&m->all->metrics,
			 ((struct profile_metric){ intern_add(&m->all->strings, "samples"),
						   intern_add(&m->all->strings, "count"), UINT32_MAX }));
	for (uint32_t i = 0; i < m->from->events.n; i++) {
		uint32_t index = merge_event(m, i);
		m->events_differ |= index != i;
		m->metric[1 + i] = 1 + index;
	}
	m->events_differ |= m->n_added && m->from->events.n != n_known;
}

static bool merge_same_image(const struct profile_image *a, const struct profile_image *b)
{
	if (a->kind != b->kind || a->kind == IMAGE_JIT || a->elf_machine != b->elf_machine ||
	    a->writer != b->writer)
		return false;
	if (a->build_id.len || b->build_id.len)
		return build_id_equal(&a->build_id, &b->build_id);
	return a->path == b->path;
}

static uint64_t merge_hash_image(const struct profile_image *image)
{
	uint64_t hash = hash_u64((uint64_t)image->kind << 32 | image->elf_machine) ^
			(image->writer ? hash_u64(image->writer) : 0);

	if (image->build_id.len)
		return hash ^ hash_bytes((struct bytes){ image->build_id.bytes, image->build_id.len });
	return hash_u64(hash + image->path);
}

/* If profiles have different texts for an image, takes the first in the order of texts. */
static void merge_choose_text(struct merger *m, uint32_t *known, uint32_t other)
{
	const struct intern *strings = &m->all->strings;

	if (other && (!*known || strcmp(intern_text(strings, other), intern_text(strings, *known)) < 0))
		*known = other;
}

static uint32_t merge_image(struct merger *m, struct profile_image image)
{
	image.path = m->string[image.path];
	image.debug = m->string[image.debug];

	uint64_t hash = merge_hash_image(&image);
	uint32_t index = image.kind == IMAGE_JIT ? MAP_NONE : map_find(&m->image_of, hash);
	if (index != MAP_NONE && merge_same_image(&m->all->images.at[index], &image)) {
		merge_choose_text(m, &m->all->images.at[index].path, image.path);
		merge_choose_text(m, &m->all->images.at[index].debug, image.debug);
		return index;
	}
	index = (uint32_t)m->all->images.n;
	vec_push(&m->all->images, image);
	if (image.kind != IMAGE_JIT)
		map_put(&m->image_of, hash, index);
	return index;
}

static void merge_images(struct merger *m)
{
	CLEANUP(freep) bool *is_used = m->options.joins ? merge_used_images(m->from) : NULL;

	m->image = alloc_zero(m->from->images.n + 1, sizeof(*m->image));
	for (size_t i = 0; i < m->from->images.n; i++)
		m->image[i] = is_used && !is_used[i] ? IMAGE_NONE : merge_image(m, m->from->images.at[i]);
}

/* Those that already exist. */
static void merge_find_images(struct merger *m)
{
	m->image = alloc_zero(m->from->images.n + 1, sizeof(*m->image));
	for (size_t i = 0; i < m->from->images.n; i++) {
		struct profile_image image = m->from->images.at[i];
		image.path = m->string[image.path];
		uint32_t index =
			image.kind == IMAGE_JIT ? MAP_NONE : map_find(&m->image_of, merge_hash_image(&image));
		bool is_there = index != MAP_NONE && merge_same_image(&m->all->images.at[index], &image);
		m->image[i] = is_there ? index : IMAGE_NONE;
		if (is_there)
			merge_choose_text(m, &m->all->images.at[index].debug, m->string[image.debug]);
	}
}

/* ---- processes, threads, the tree --------------------------------------------------------------- */

bool merge_is_placed(const struct profile *from, uint32_t process)
{
	return from->run.start_unix_ns && !from->processes.at[process].is_unplaced;
}

/* Exit 0 is not a time: still running at the end. */
static uint64_t merge_exit(uint64_t time_ns, uint64_t start_ns)
{
	return time_ns ? time_ns + start_ns : 0;
}

static void merge_tasks(struct merger *m)
{
	const struct profile *from = m->from;
	uint32_t first_process = (uint32_t)m->all->processes.n;
	uint32_t first_thread = (uint32_t)m->all->threads.n;

	for (uint32_t i = 0; i < from->processes.n; i++) {
		struct profile_process process = from->processes.at[i];
		process.is_unplaced = !merge_is_placed(from, i);
		uint64_t start_ns = process.is_unplaced ? 0 : from->run.start_unix_ns;
		process.comm = m->string[process.comm];
		process.command_line = m->string[process.command_line];
		process.start_ns += start_ns;
		process.exit_ns = merge_exit(process.exit_ns, start_ns);
		vec_push(&m->all->processes, process);
	}
	for (uint32_t i = 0; i < from->threads.n; i++) {
		struct profile_thread thread = from->threads.at[i];
		uint64_t start_ns = merge_is_placed(from, thread.process) ? from->run.start_unix_ns : 0;
		thread.process += first_process;
		thread.comm = m->string[thread.comm];
		thread.start_ns += start_ns;
		thread.exit_ns = merge_exit(thread.exit_ns, start_ns);
		vec_push(&m->all->threads, thread);
		m->thread[i] = first_thread + i;
	}
}

/* The process and thread that represent all, or all whose start is not known. */
static uint32_t merge_reduced_thread(struct merger *m, bool is_placed)
{
	struct profile *all = m->all;
	uint32_t comm = intern_add(&all->strings, "all ranks");

	for (uint32_t i = 0; i < all->threads.n; i++)
		if (all->processes.at[all->threads.at[i].process].is_unplaced == !is_placed)
			return i;
	vec_push(&all->processes, (struct profile_process){ .comm = comm, .is_unplaced = !is_placed });
	vec_push(&all->threads,
		 (struct profile_thread){ .process = (uint32_t)all->processes.n - 1, .comm = comm });
	return (uint32_t)all->threads.n - 1;
}

static void merge_reduced_tasks(struct merger *m)
{
	for (uint32_t i = 0; i < m->from->threads.n; i++)
		m->thread[i] =
			merge_reduced_thread(m, merge_is_placed(m->from, m->from->threads.at[i].process));
}

#define VALUES_AT_ONCE 256

static struct cct_value merge_value(const struct merger *m, struct cct_value value)
{
	value.node = m->node[value.node];
	value.thread = m->thread[value.thread];
	value.metric = value.metric >= CCT_ROUND ? value.metric : m->metric[value.metric];
	return value;
}

/* A file has values of several kinds one after the other, each sorted by node. */
#define VALUE_RUNS 4
struct value_run {
	const struct cct_value *next, *end;
};

/* 0 if there are too many. */
static size_t merge_value_runs(const struct cct *from, struct value_run runs[VALUE_RUNS])
{
	const struct cct_value *at = from->values.at, *end = at + from->values.n;
	size_t n = 0;

	while (at < end) {
		if (n == VALUE_RUNS)
			return 0;
		runs[n] = (struct value_run){ .next = at };
		for (at++; at < end && at->node >= at[-1].node; at++)
			;
		runs[n++].end = at;
	}
	return n;
}

/* All values of a node before those of the next one: so they are close to each other in the result, too. */
static void merge_values_by_node(struct merger *m, struct value_run *runs, size_t n_runs)
{
	struct cct_value some[VALUES_AT_ONCE];
	size_t n = 0;

	for (uint32_t node = 0; node < m->from->cct.nodes.n; node++)
		for (size_t i = 0; i < n_runs; i++)
			for (; runs[i].next < runs[i].end && runs[i].next->node == node; runs[i].next++) {
				if (n == VALUES_AT_ONCE) {
					cct_add_values(&m->all->cct, some, n);
					n = 0;
				}
				some[n++] = merge_value(m, *runs[i].next);
			}
	cct_add_values(&m->all->cct, some, n);
}

static void merge_values(struct merger *m)
{
	const struct cct *from = &m->from->cct;
	struct value_run runs[VALUE_RUNS];
	size_t n_runs = merge_value_runs(from, runs);
	struct cct_value some[VALUES_AT_ONCE];

	if (n_runs) {
		merge_values_by_node(m, runs, n_runs);
		return;
	}
	for (size_t i = 0, n; i < from->values.n; i += n) {
		for (n = 0; n < VALUES_AT_ONCE && i + n < from->values.n; n++)
			some[n] = merge_value(m, from->values.at[i + n]);
		cct_add_values(&m->all->cct, some, n);
	}
}

static void merge_tree(struct merger *m)
{
	const struct cct *from = &m->from->cct;

	m->node = alloc_zero(from->nodes.n + 1, sizeof(*m->node));
	cct_add_nodes(&m->all->cct, from, m->image, m->node);
	if (m->options.reduces || m->options.joins) {
		merge_values(m);
		return;
	}
	for (size_t i = 0; i < from->values.n; i++) {
		struct cct_value v = merge_value(m, from->values.at[i]);
		packed_values_add(m->values, v.node, v.thread, v.metric, v.value);
	}
}

/* ---- adding profiles ---------------------------------------------------------------------------- */

struct merger *merger_new(const struct merge_options *options)
{
	struct merger *m = alloc_zero(1, sizeof(*m));

	m->options = *options;
	m->all = profile_new();
	m->values = alloc_zero(1, sizeof(*m->values));
	merge_times_init(&m->times);
	merge_runs_init(&m->runs);
	slots_init(&m->function_slots);
	slots_init(&m->structure_slots);
	slots_init(&m->code_slots);
	return m;
}

void merge_forget(struct merger *m)
{
	free(m->string);
	free(m->image);
	free(m->metric);
	free(m->node);
	free(m->thread);
	m->string = m->image = m->metric = m->node = m->thread = NULL;
	m->from = NULL;
}

void merger_free(struct merger *m)
{
	if (!m)
		return;
	merge_forget(m);
	merge_runs_done(&m->runs);
	profile_free(m->all);
	packed_values_done(m->values);
	free(m->values);
	writer_done(&m->times.log);
	vec_done(&m->digests.thread);
	vec_done(&m->digests.image);
	map_done(&m->image_of);
	map_done(&m->is_noted);
	map_done(&m->process_of);
	map_done(&m->thread_of);
	slots_done(&m->function_slots);
	slots_done(&m->structure_slots);
	slots_done(&m->code_slots);
	merge_spread_done(m);
	free(m);
}

static int merge_refuse(struct diag *diag, const char *name, const char *why, const char *hint)
{
	diag_set(diag, -EINVAL, "cannot merge '%s'", name);
	diag_why(diag, "%s", why);
	if (hint)
		diag_hint(diag, "%s", hint);
	return -EINVAL;
}

int merge_check_room(const struct merger *m, uint64_t n_values, uint64_t n_bins, uint64_t n_nodes,
		     const char *name, struct diag *diag)
{
	if (m->values->n + m->n_shared + n_values <= TABLE_ROWS_MAX &&
	    m->times.n + n_bins <= TABLE_ROWS_MAX &&
	    m->all->cct.nodes.n + m->runs.n_nodes + n_nodes <= TABLE_ROWS_MAX &&
	    m->runs.n_values + n_values <= UINT32_MAX)
		return 0;
	return merge_refuse(diag, name, "a profile cannot hold that many values",
			    "add --reduce, which keeps one value per context however many ranks there are");
}

int merge_check(const struct merger *m, const struct profile *from, const char *name, struct diag *diag)
{
	if (from->cct.values.n && from->metrics.n != 1 + from->events.n)
		return merge_refuse(diag, name, "its metrics do not match its events", NULL);
	if (from->n_ranks && !m->options.reduces)
		return merge_refuse(diag, name, "it is reduced: its ranks can no longer be told apart",
				    "add --reduce to reduce the others, too");
	if (m->options.reduces && !from->n_ranks && from->run.n_runs > 1)
		return merge_refuse(diag, name,
				    "it is a merge that was not reduced: it no longer tells which values "
				    "belong to which run",
				    "run merge --reduce on the files it was made from");
	return merge_check_room(m, from->cct.values.n, from->timeline.n, from->cct.nodes.n, name, diag);
}

void merge_add(struct merger *m, const struct profile *from)
{
	m->from = from;
	m->thread = alloc_zero(from->threads.n + 1, sizeof(*m->thread));
	merge_strings(m);
	merge_events(m);
	merge_images(m);
	if (m->options.reduces)
		merge_reduced_tasks(m);
	else if (m->options.joins)
		merge_joined_tasks(m);
	else
		merge_tasks(m);
	if (!m->options.in_threads)
		merge_tree(m);
	if (m->options.reduces)
		merge_spread(m);
	merge_times_add(m);
	merge_functions(m);
	merge_run(m);
	m->n_added++;
}

int merger_add(struct merger *m, const struct profile *from, const char *name, struct diag *diag)
{
	if (m->options.in_threads)
		return merge_runs_add(m, from, name, diag);

	int error = merge_check(m, from, name, diag);
	if (error < 0)
		return error;
	merge_add(m, from);
	merge_forget(m);
	if (m->options.joins && m->options.max_bytes)
		profile_limit_tree(m->all, m->options.max_bytes);
	return 0;
}

void merger_add_names(struct merger *m, const struct profile *from)
{
	m->from = from;
	merge_strings(m);
	merge_find_images(m);
	merge_functions(m);
	m->all->run.is_resolved = 1;
	merge_forget(m);
}

const struct profile *merger_so_far(const struct merger *m)
{
	return m->all;
}

size_t merger_count(const struct merger *m)
{
	return m->n_added;
}

struct profile *merger_finish(struct merger *m)
{
	const struct cct *cct = &m->all->cct;

	merge_runs_finish(m);
	cct_forget_hash(&m->all->cct);
	for (size_t i = 0; i < cct->values.n; i++) /* only if reduced or joined */
		packed_values_add(m->values, cct->values.at[i].node, cct->values.at[i].thread,
				  cct->values.at[i].metric, cct->values.at[i].value);
	vec_done(&m->all->cct.values);
	merge_order(m);
	m->all->packed = TAKE(m->values);
	struct profile *all = TAKE(m->all);
	m->values = alloc_zero(1, sizeof(*m->values));
	merger_free(m);
	return all;
}

struct profile *merger_finish_plain(struct merger *m)
{
	if (!m->options.joins) {
		struct profile *packed = merger_finish(m);
		profile_unpack(packed);
		return packed;
	}
	merge_runs_finish(m);
	cct_forget_hash(&m->all->cct);
	merge_order(m);
	merge_plain(m);
	struct profile *all = TAKE(m->all);
	merger_free(m);
	return all;
}

void profile_merge(struct profile *into, const struct profile *from)
{
	struct merger *m = merger_new(&(struct merge_options){ 0 });
	struct diag diag = { 0 };

	(void)merger_add(m, into, "one", &diag);
	(void)merger_add(m, from, "other", &diag);
	struct profile *all = merger_finish_plain(m);
	struct profile before = *into;
	*into = *all;
	*all = before;
	profile_free(all);
}
