/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that combines the information about whole runs.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "profile/merge_private.h"

/* ---- texts -------------------------------------------------------------------------------------- */

#define PARTS_MAX 8 /* if runs differ, at most this many values are listed */

static const char parts_between[] = " + ";
static const char parts_others[] = "others";

/* The first few in the order of texts, each once, and whether there are more. */
struct parts {
	struct bytes at[PARTS_MAX + 1];
	size_t n;
	bool has_others;
};

static int parts_compare(struct bytes a, struct bytes b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.at, b.at, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static void parts_add(struct parts *parts, struct bytes part)
{
	size_t at = 0;

	if (part.len == 0)
		return;
	if (bytes_equal(part, (struct bytes){ (const uint8_t *)parts_others, sizeof(parts_others) - 1 })) {
		parts->has_others = true;
		return;
	}
	while (at < parts->n && parts_compare(parts->at[at], part) < 0)
		at++;
	if (at < parts->n && bytes_equal(parts->at[at], part))
		return;
	memmove(parts->at + at + 1, parts->at + at, (parts->n - at) * sizeof(*parts->at));
	parts->at[at] = part;
	parts->n++;
	parts->has_others |= parts->n > PARTS_MAX;
	parts->n = parts->n > PARTS_MAX ? PARTS_MAX : parts->n;
}

static void parts_split(struct parts *parts, const char *text)
{
	for (const char *end = text; end; text = end + strlen(parts_between)) {
		end = strstr(text, parts_between);
		size_t len = end ? (size_t)(end - text) : strlen(text);
		parts_add(parts, (struct bytes){ (const uint8_t *)text, len });
		if (!end)
			return;
	}
}

/*
 * A text that all runs agree on is unchanged; otherwise all of them are listed, "a + b". So the order does
 * not matter.
 */
static void merge_words(struct merger *m, uint32_t *all, uint32_t from)
{
	struct intern *strings = &m->all->strings;
	struct parts parts = { .n = 0 };
	CLEANUP(text_done) struct text text = { 0 };

	from = m->string[from];
	if (!m->n_added || *all == from) {
		*all = from;
		return;
	}
	parts_split(&parts, intern_text(strings, *all));
	parts_split(&parts, intern_text(strings, from));
	for (size_t i = 0; i < parts.n; i++)
		text_printf(&text, "%s%.*s", i ? parts_between : "", (int)parts.at[i].len,
			    (const char *)parts.at[i].at);
	if (parts.has_others)
		text_printf(&text, "%s%s", parts.n ? parts_between : "", parts_others);
	*all = text.at ? intern_add(strings, text.at) : 0;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Of two starts, the earlier one; an unknown one is later than all. */
static bool merge_starts_before(const struct profile_run *a, const struct profile_run *b)
{
	uint64_t x = a->start_unix_ns - 1, y = b->start_unix_ns - 1;

	return x != y ? x < y : a->start_ns < b->start_ns;
}

static void merge_run_numbers(struct merger *m)
{
	struct profile_run *all = &m->all->run;
	const struct profile_run *from = &m->from->run;
	bool is_first = !m->n_added;

	if (is_first || merge_starts_before(from, all)) {
		all->start_unix_ns = from->start_unix_ns;
		all->start_ns = from->start_ns;
	}
	all->duration_ns += from->duration_ns; /* the time between is not included */
	if (!m->options.joins)                 /* otherwise they are parts of one run */
		all->n_runs = is_first ? from->n_runs
				       : (all->n_runs ? all->n_runs : 1) + (from->n_runs ? from->n_runs : 1);
	if (is_first || from->cycle_fs < all->cycle_fs) /* unknown if it is unknown for one of them */
		all->cycle_fs = from->cycle_fs;
	all->is_checkpoint |= from->is_checkpoint;
	all->is_resolved = from->is_resolved && (is_first || all->is_resolved);
	all->stack_size = from->stack_size > all->stack_size ? from->stack_size : all->stack_size;
	all->n_cpus = from->n_cpus > all->n_cpus ? from->n_cpus : all->n_cpus;
}

/* The cost of an import is unrelated to the duration of the recording. */
static uint64_t merge_own_cpu(const struct merger *m, const struct profile *profile)
{
	bool is_import = strcmp(intern_text(&profile->strings, profile->run.mode), "import") == 0;

	return is_import && m->n_added ? 0 : profile->quality.own_cpu_ns;
}

static void merge_quality(struct merger *m)
{
	struct profile_quality *all = &m->all->quality;
	const struct profile_quality *from = &m->from->quality;
	uint64_t before = merge_own_cpu(m, m->all);

	all->samples += from->samples;
	for (size_t i = 0; i < STACK_END_N; i++)
		all->by_end[i] += from->by_end[i];
	for (size_t i = 0; i < WITNESS_N; i++)
		all->steps_by_witness[i] += from->steps_by_witness[i];
	all->lost += from->lost;
	all->throttled += from->throttled;
	all->clipped += from->clipped;
	all->own_cpu_ns = before + merge_own_cpu(m, m->from);
	all->own_peak_kb = all->own_peak_kb > from->own_peak_kb ? all->own_peak_kb : from->own_peak_kb;
	all->locked_kb = all->locked_kb > from->locked_kb ? all->locked_kb : from->locked_kb;
	all->raised_by = all->raised_by > from->raised_by ? all->raised_by : from->raised_by;
	all->unsymbolized += from->unsymbolized;
	all->without_lines += from->without_lines;
	all->damaged_units += from->damaged_units;
	all->wakeups += from->wakeups;
	all->outer += from->outer;
	all->unseen += from->unseen;
	all->folded_contexts += from->folded_contexts;
	all->folded_samples += from->folded_samples;
	all->thinned_below =
		all->thinned_below > from->thinned_below ? all->thinned_below : from->thinned_below;
	all->thinned_samples += from->thinned_samples;
	bool is_counted = from->counted && (!m->n_added || all->counted);
	all->counted = is_counted ? all->counted + from->counted : 0;
	all->idle += from->idle;
	all->others += from->others;
}

static void merge_add_note(struct merger *m, uint32_t note)
{
	if (map_find(&m->is_noted, note) != MAP_NONE)
		return;
	map_put(&m->is_noted, note, 1);
	vec_push(&m->all->notes, note);
}

void merger_note(struct merger *m, const char *text)
{
	merge_add_note(m, intern_add(&m->all->strings, text));
}

void merge_run(struct merger *m)
{
	struct profile_run *all = &m->all->run;
	const struct profile_run *from = &m->from->run;

	merge_quality(m);
	for (size_t i = 0; i < m->from->notes.n; i++)
		merge_add_note(m, m->string[m->from->notes.at[i]]);
	merge_words(m, &all->tool_version, from->tool_version);
	merge_words(m, &all->command_line, from->command_line);
	merge_words(m, &all->host, from->host);
	merge_words(m, &all->kernel, from->kernel);
	merge_words(m, &all->cpu, from->cpu);
	merge_words(m, &all->cpu_id, from->cpu_id);
	merge_words(m, &all->arch, from->arch);
	merge_words(m, &all->target, from->target);
	merge_run_numbers(m);
	all->mode = m->n_added && !m->options.joins ? intern_add(&m->all->strings, "merge")
						    : m->string[from->mode];
}
