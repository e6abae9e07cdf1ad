/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/merge.h"

#include <string.h>

#include "base/cleanup.h"
#include "profile/merge_functions.h"
#include "profile/timeline.h"

static uint32_t move_string(const struct merge *m, uint32_t id)
{
	return id < m->from->strings.strings.n ? m->string[id] : 0;
}

static void move_strings(struct merge *m)
{
	const struct intern *strings = &m->from->strings;

	m->string = alloc_zero(strings->strings.n + 1, sizeof(*m->string));
	for (size_t i = 0; i < strings->strings.n; i++)
		m->string[i] =
			intern_add_n(&m->into->strings, strings->strings.at[i], strings->lengths.at[i]);
}

/* ---- what values refer to ----------------------------------------------------------------------- */

static uint32_t find_event(const struct profile *profile, uint32_t name, uint32_t unit)
{
	for (uint32_t i = 0; i < profile->events.n; i++)
		if (profile->events.at[i].name == name && profile->events.at[i].unit == unit)
			return i;
	return UINT32_MAX;
}

static void move_events(struct merge *m)
{
	m->metric = alloc_zero(m->from->metrics.n + 1, sizeof(*m->metric));
	if (m->into->metrics.n == 0 && m->from->metrics.n > 0)
		vec_push(
			&m->into->metrics,
			((struct profile_metric){ move_string(m, m->from->metrics.at[0].name),
						  move_string(m, m->from->metrics.at[0].unit), UINT32_MAX }));
	for (uint32_t i = 0; i < m->from->events.n; i++) {
		struct profile_event event = m->from->events.at[i];
		event.name = move_string(m, event.name);
		event.unit = move_string(m, event.unit);
		uint32_t index = find_event(m->into, event.name, event.unit);
		if (index == UINT32_MAX) {
			index = (uint32_t)m->into->events.n;
			vec_push(&m->into->events, event);
			vec_push(&m->into->metrics,
				 ((struct profile_metric){ event.name, event.unit, index }));
		}
		if (1 + i < m->from->metrics.n)
			m->metric[1 + i] = 1 + index;
	}
}

static bool same_image(const struct profile_image *a, const struct profile_image *b)
{
	if (a->kind != b->kind || a->kind == IMAGE_JIT)
		return false;
	if (a->build_id.len || b->build_id.len)
		return build_id_equal(&a->build_id, &b->build_id);
	return a->path == b->path;
}

static uint32_t move_image(struct merge *m, const struct profile_image *from)
{
	struct profile_image image = *from;

	image.path = move_string(m, image.path);
	image.debug = move_string(m, image.debug);
	for (uint32_t i = 0; i < m->n_images_before; i++) {
		struct profile_image *known = &m->into->images.at[i];
		if (!same_image(known, &image))
			continue;
		if (!known->debug)
			known->debug = image.debug;
		return i;
	}
	vec_push(&m->into->images, image);
	return (uint32_t)m->into->images.n - 1;
}

static void move_images(struct merge *m)
{
	m->image = alloc_zero(m->from->images.n + 1, sizeof(*m->image));
	m->n_images_before = m->into->images.n;
	for (size_t i = 0; i < m->from->images.n; i++)
		m->image[i] = move_image(m, &m->from->images.at[i]);
}

/* Exit 0 is no time: still there at the end. */
static uint64_t move_exit(const struct merge *m, uint64_t time_ns)
{
	return time_ns ? time_ns + m->shift_ns : 0;
}

static void move_tasks(struct merge *m)
{
	uint32_t first_process = (uint32_t)m->into->processes.n;

	m->first_thread = (uint32_t)m->into->threads.n;
	for (size_t i = 0; i < m->from->processes.n; i++) {
		struct profile_process process = m->from->processes.at[i];
		process.comm = move_string(m, process.comm);
		process.command_line = move_string(m, process.command_line);
		process.start_ns += m->shift_ns;
		process.exit_ns = move_exit(m, process.exit_ns);
		vec_push(&m->into->processes, process);
	}
	for (size_t i = 0; i < m->from->threads.n; i++) {
		struct profile_thread thread = m->from->threads.at[i];
		thread.process += first_process;
		thread.comm = move_string(m, thread.comm);
		thread.start_ns += m->shift_ns;
		thread.exit_ns = move_exit(m, thread.exit_ns);
		vec_push(&m->into->threads, thread);
	}
}

static void move_tree(struct merge *m)
{
	const struct cct *from = &m->from->cct;
	struct cct *into = &m->into->cct;
	CLEANUP(freep) uint32_t *node = alloc_zero(from->nodes.n, sizeof(*node));

	node[CCT_INCOMPLETE] = CCT_INCOMPLETE;
	for (size_t i = CCT_INCOMPLETE + 1; i < from->nodes.n; i++) {
		const struct cct_node *n = &from->nodes.at[i];
		image_id image = n->image == IMAGE_NONE ? IMAGE_NONE : m->image[n->image];
		node[i] = cct_child(into, node[n->parent], image, n->vaddr, n->flags);
	}
	for (size_t i = 0; i < from->values.n; i++) {
		const struct cct_value *v = &from->values.at[i];
		uint32_t metric = v->metric >= CCT_ROUND ? v->metric : m->metric[v->metric];
		cct_add_value(into, node[v->node], v->thread + m->first_thread, metric, v->value);
	}
}

/* ---- the rest ----------------------------------------------------------------------------------- */

static void add_bins(struct timeline *timeline, const struct profile *profile, uint32_t first_thread,
		     uint64_t shift_ns)
{
	for (size_t i = 0; i < profile->timeline.n; i++) {
		const struct profile_bin *bin = &profile->timeline.at[i];
		timeline_add_many(timeline, bin->thread + first_thread, bin->bin * profile->bin_ns + shift_ns,
				  bin->samples);
	}
}

static void move_timeline(struct merge *m)
{
	struct timeline timeline;

	timeline_init(&timeline);
	add_bins(&timeline, m->into, 0, m->into_shift_ns);
	add_bins(&timeline, m->from, m->first_thread, m->shift_ns);
	timeline_copy(&timeline, m->into);
	timeline_done(&timeline);
}

/* What an import costs has nothing to do with how long was recorded. */
static uint64_t own_cpu(const struct profile *profile)
{
	bool is_import = strcmp(intern_text(&profile->strings, profile->run.mode), "import") == 0;

	return is_import ? 0 : profile->quality.own_cpu_ns;
}

static void move_quality(struct merge *m)
{
	struct profile_quality *into = &m->into->quality;
	const struct profile_quality *from = &m->from->quality;

	into->samples += from->samples;
	for (size_t i = 0; i < STACK_END_N; i++)
		into->by_end[i] += from->by_end[i];
	for (size_t i = 0; i < WITNESS_N; i++)
		into->steps_by_witness[i] += from->steps_by_witness[i];
	into->lost += from->lost;
	into->throttled += from->throttled;
	into->clipped += from->clipped;
	into->own_cpu_ns = own_cpu(m->into) + own_cpu(m->from);
	into->own_peak_kb = into->own_peak_kb > from->own_peak_kb ? into->own_peak_kb : from->own_peak_kb;
	into->unsymbolized += from->unsymbolized;
	into->without_lines += from->without_lines;
	into->damaged_units += from->damaged_units;
	into->wakeups += from->wakeups;
	into->outer += from->outer;
	into->counted = into->counted && from->counted ? into->counted + from->counted : 0;
}

static void move_notes(struct merge *m)
{
	for (size_t i = 0; i < m->from->notes.n; i++) {
		uint32_t note = move_string(m, m->from->notes.at[i]);
		bool is_known = false;
		for (size_t j = 0; j < m->into->notes.n; j++)
			is_known |= m->into->notes.at[j] == note;
		if (!is_known)
			vec_push(&m->into->notes, note);
	}
}

/* Everything that was there before moves later where `from` started first. */
static void shift_tasks(struct profile *profile, uint64_t shift_ns)
{
	for (size_t i = 0; i < profile->processes.n; i++) {
		profile->processes.at[i].start_ns += shift_ns;
		profile->processes.at[i].exit_ns += profile->processes.at[i].exit_ns ? shift_ns : 0;
	}
	for (size_t i = 0; i < profile->threads.n; i++) {
		profile->threads.at[i].start_ns += shift_ns;
		profile->threads.at[i].exit_ns += profile->threads.at[i].exit_ns ? shift_ns : 0;
	}
}

static void find_shifts(struct merge *m)
{
	struct profile_run *into = &m->into->run;
	const struct profile_run *from = &m->from->run;

	if (!into->start_unix_ns || !from->start_unix_ns)
		return;
	if (from->start_unix_ns >= into->start_unix_ns) {
		m->shift_ns = from->start_unix_ns - into->start_unix_ns;
		return;
	}
	m->into_shift_ns = into->start_unix_ns - from->start_unix_ns;
	into->start_unix_ns = from->start_unix_ns;
	shift_tasks(m->into, m->into_shift_ns);
}

static void move_run(struct merge *m)
{
	struct profile_run *into = &m->into->run;
	const struct profile_run *from = &m->from->run;
	uint32_t target = move_string(m, from->target);

	into->duration_ns += from->duration_ns; /* nobody watched in between */
	into->n_runs = (into->n_runs ? into->n_runs : 1) + (from->n_runs ? from->n_runs : 1);
	into->is_checkpoint |= from->is_checkpoint;
	into->is_resolved &= from->is_resolved;
	if (from->stack_size > into->stack_size)
		into->stack_size = from->stack_size;
	if (target != into->target) {
		CLEANUP(freep)
		char *both = alloc_printf("%s + %s", intern_text(&m->into->strings, into->target),
					  intern_text(&m->into->strings, target));
		into->target = intern_add(&m->into->strings, both);
	}
	into->mode = intern_add(&m->into->strings, "merge");
}

void profile_merge(struct profile *into, const struct profile *from)
{
	struct merge m = { .into = into, .from = from };

	move_strings(&m);
	find_shifts(&m);
	move_events(&m);
	move_images(&m);
	move_tasks(&m);
	move_tree(&m);
	move_timeline(&m);
	move_quality(&m);
	move_notes(&m);
	merge_functions(&m);
	move_run(&m);
	free(m.string);
	free(m.metric);
	free(m.image);
}
