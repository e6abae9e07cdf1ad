/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/trace.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collector/live/perf_source.h"
#include "collector/probe/perf_probe.h"
#include "collector/process/target.h"
#include "recording/inlined.h"
#include "recording/needed.h"
#include "recording/returns.h"

/* Removing a probe takes up to 130 ms. A kernel that cannot remove all at once takes that long for each. */
#define SINGLE_MAX 128

void trace_init(struct trace *trace, char *const *patterns, size_t n, enum call_exits exits)
{
	*trace = (struct trace){ .exits = exits,
				 .most = bpf_trace_can_set_many() ? TRACE_FUNCTIONS_MAX : SINGLE_MAX };
	chosen_init(&trace->chosen, patterns, n);
}

void trace_done(struct trace *trace)
{
	for (size_t i = 0; i < trace->notes.n; i++)
		free(trace->notes.at[i]);
	vec_done(&trace->notes);
	vec_done(&trace->sets);
	chosen_done(&trace->chosen);
}

void trace_note(struct trace *trace, char *note)
{
	vec_push(&trace->notes, note);
}

const char *trace_next_note(struct trace *trace)
{
	return trace->n_told < trace->notes.n ? trace->notes.at[trace->n_told++] : NULL;
}

/* A process may run before cpprof reads that it was created, or that it has mapped a file. */
static void trace_note_late(struct trace *trace)
{
	if (trace->n_late)
		trace_note(
			trace,
			alloc_printf("new processes and newly mapped files that got their probes late, by up "
				     "to %.1f ms: %llu; calls before that are not counted",
				     (double)trace->late_ns / 1e6, (unsigned long long)trace->n_late));
	if (trace->n_gone)
		trace_note(trace, alloc_printf("new processes that ended before they got their probes: %llu; "
					       "their calls are not counted",
					       (unsigned long long)trace->n_gone));
}

/* The counts are exact; the paths that they are attributed to were sampled. */
static void trace_note_allocations(struct trace *trace, const struct source *source)
{
	uint64_t n = 0, bytes = 0;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		struct trace_count count = perf_source_trace_count(source, i);
		n += count.entries;
		bytes += count.bytes;
	}
	vec_push(&trace->notes, alloc_printf("%llu calls of allocation functions requested %llu bytes, "
					     "including calls between allocation functions",
					     (unsigned long long)n, (unsigned long long)bytes));
}

void trace_note_calls(struct trace *trace, struct source *source)
{
	uint64_t unended = 0, unseen = 0;

	trace_note_late(trace);
	if (trace->grants) {
		trace_note_allocations(trace, source);
		return;
	}
	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		struct trace_count count = perf_source_trace_count(source, i);
		/* Functions that are not watched all the time: we have cut their calls in two ourselves. */
		if (perf_source_probe(source)->links.state[i] != PROBE_ALWAYS)
			continue;
		unended += count.entries > count.exits ? count.entries - count.exits : 0;
		unseen += count.strange;
	}
	if (unended)
		vec_push(&trace->notes, alloc_printf("%llu call%s did not return: left by an exception or "
						     "longjmp, or still running at the end",
						     (unsigned long long)unended, unended == 1 ? "" : "s"));
	if (unseen)
		vec_push(&trace->notes,
			 alloc_printf("%llu call%s that had begun before tracing started %s not counted",
				      (unsigned long long)unseen, unseen == 1 ? "" : "s",
				      unseen == 1 ? "is" : "are"));
}

/* Among the images already examined: the first one that knows. */
static bool trace_note_inlined(struct trace *trace, struct images *images,
			       const struct symbolizer_options *symbolize, const char *pattern)
{
	for (size_t i = 0; symbolize && i < trace->chosen.looked_at.n; i++) {
		CLEANUP(text_done) struct text where = { 0 };
		struct image *image = images_get(images, trace->chosen.looked_at.at[i]);
		if (!image || image->kind != IMAGE_ELF || !inlined_find(symbolize, image, pattern, &where))
			continue;
		vec_push(&trace->notes,
			 alloc_printf("'%s' has no code of its own: it was inlined into %s; trace that",
				      pattern, where.at));
		return true;
	}
	return false;
}

void trace_note_absent(struct trace *trace, struct images *images, const struct symbolizer_options *symbolize,
		       size_t pattern)
{
	const char *name = trace->chosen.patterns.at[pattern],
		   *nearest = trace->chosen.found.at[pattern].nearest;

	if (trace_note_inlined(trace, images, symbolize, name))
		return;
	vec_push(&trace->notes,
		 alloc_printf("%s '%s'%s%s%s",
			      strstr(name, "+0x") ? "there is no code at" : "there is no function named",
			      name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
			      nearest ? "'?" : ""));
}

size_t trace_note_missing(struct trace *trace, struct images *images,
			  const struct symbolizer_options *symbolize)
{
	size_t n = 0;

	for (size_t i = 0; i < trace->chosen.patterns.n; i++) {
		if (trace->chosen.found.at[i].n || (trace->grants && i >= trace->n_named))
			continue;
		n++;
		trace_note_absent(trace, images, symbolize, i);
	}
	if (trace->chosen.n_more)
		vec_push(&trace->notes,
			 alloc_printf("%zu more functions match but are not traced: at most %u can be%s",
				      trace->chosen.n_more, trace->most,
				      trace->most == SINGLE_MAX ? " on Linux before 6.6, which removes "
								  "probes one by one"
								: ""));
	return n;
}

/* For one image of one process. */
struct trace_wanted {
	VEC(struct probe_function) functions;
};

/* ---- one image of one process -------------------------------------------------------------------- */

/* The file as it is mapped; otherwise the file at its path, if it is still the one that was examined. */
static char *trace_path(pid_t pid, const struct image *image, const struct mapping *mapping)
{
	char *path = mapping ? alloc_printf("/proc/%d/map_files/%llx-%llx", (int)pid,
					    (unsigned long long)mapping->start,
					    (unsigned long long)mapping->start + mapping->len)
			     : NULL;
	struct stat now;

	if (path && access(path, R_OK) == 0)
		return path;
	free(path);
	path = alloc_printf("/proc/%d/root%s", (int)pid, image->path);
	if (stat(path, &now) == 0 && now.st_dev == image->dev && now.st_ino == image->inode)
		return path;
	free(path);
	return NULL;
}

static void trace_refuse(struct trace *trace, const struct chosen_function *function,
			 const struct image *image, const char *why)
{
	vec_push(&trace->notes, alloc_printf("cannot trace %s in '%s': %s",
					     function ? function->name : "anything", image->path, why));
}

static bool trace_may_throw(const struct trace *trace, pid_t pid, const struct image *image)
{
	for (size_t i = 0; i < trace->sets.n; i++)
		if (trace->sets.at[i].pid == pid && trace->sets.at[i].throws)
			return true;
	return returns_throw(image) || image_section(image, ".gcc_except_table") ||
	       (!trace->is_starting && pid && returns_meet_unwinder(pid));
}

/* Its calls are counted at their start; their end shows blocks that are to be followed. */
static void trace_want_allocator(struct trace *trace, const struct image *image, size_t number,
				 bool may_return, struct trace_wanted *wanted)
{
	const struct chosen_function *f = &trace->chosen.functions.at[number];
	struct trace_grant grant = trace->grants[f->pattern];
	bool gives = grant.size != TRACE_GRANT_NONE, is_followed = trace->held && gives;

	if (!gives && !trace->held)
		return;
	bool at_return = returns_are_taken(trace->exits, f->has_all_ends, image->elf_machine, may_return);
	if (is_followed && !at_return && !f->has_all_ends)
		vec_push(&trace->notes,
			 alloc_printf("memory from %s in '%s' is not tracked until it is freed: the "
				      "function's end cannot be determined from its code",
				      f->name, image->path));
	vec_push(&wanted->functions,
		 ((struct probe_function){ .number = (uint32_t)number,
					   .entry = f->entry,
					   .skip = f->skip,
					   .exits = f->ends.at,
					   .n_exits = at_return ? 0 : f->ends.n,
					   .has_no_end = !is_followed || (!at_return && !f->has_all_ends),
					   .grant = grant }));
}

static void trace_refuse_exits(struct trace *trace, const struct chosen_function *f,
			       const struct image *image, const char *no_returns)
{
	CLEANUP(freep)
	char *why = alloc_printf("its return instructions cannot all be found, or one cannot be probed%s%s",
				 trace->exits == CALL_EXITS_CODE ? "; try --exits return" : ", and ",
				 trace->exits == CALL_EXITS_CODE ? "" : no_returns);

	trace_refuse(trace, f, image, why);
}

/* What is to be probed in the image; notes what cannot be. */
static struct trace_wanted trace_choose(struct trace *trace, pid_t pid, const struct image *image,
					image_id id)
{
	const char *of_any = returns_refused(pid, image, trace_may_throw(trace, pid, image));
	const char *of_c = returns_refused(pid, image, false); /* for malloc: nothing throws through it */
	struct trace_wanted wanted = { 0 };

	for (size_t i = trace->first_new; i < trace->chosen.functions.n; i++) {
		struct chosen_function *f = &trace->chosen.functions.at[i];
		if (f->image != id)
			continue;
		const char *no_returns = trace->grants && f->pattern >= trace->n_named ? of_c : of_any;
		bool may_return = !no_returns;
		bool at_return = returns_are_taken(trace->exits, f->exits.n, image->elf_machine, may_return);
		f->exits_in_code |= !at_return;
		if (!f->is_start)
			trace_refuse(trace, f, image, "no function starts there");
		else if (at_return && no_returns)
			trace_refuse(trace, f, image, no_returns);
		else if (trace->grants)
			trace_want_allocator(trace, image, i, may_return, &wanted);
		else if (!at_return && !f->exits.n)
			trace_refuse_exits(trace, f, image, no_returns);
		else
			vec_push(&wanted.functions,
				 ((struct probe_function){ .number = (uint32_t)i,
							   .entry = f->entry,
							   .skip = f->skip,
							   .exits = f->exits.at,
							   .n_exits = at_return ? 0 : f->exits.n,
							   .n_jumps = at_return ? 0 : f->n_jumps,
							   .has_no_end = trace->counts,
							   .is_go = returns_of_go(image) }));
	}
	return wanted;
}

void trace_expect_exits(struct trace *trace, const struct image *image, image_id id)
{
	struct trace_wanted wanted = trace_choose(trace, 0, image, id);

	vec_done(&wanted.functions);
}

static bool trace_is_set(const struct trace *trace, pid_t pid, image_id image)
{
	for (size_t i = 0; i < trace->sets.n; i++)
		if (trace->sets.at[i].pid == pid && trace->sets.at[i].image == image)
			return true;
	return false;
}

static bool trace_has_ended(pid_t pid)
{
	char state = target_state(pid);

	return !state || state == 'Z' || state == 'X';
}

static void trace_count_late(struct trace *trace, pid_t pid, const struct trace_wanted *wanted,
			     const char *path)
{
	uint64_t now = clock_now_ns();

	if (!wanted->functions.n || !trace->since_ns)
		return;
	if (!path || trace_has_ended(pid)) {
		trace->n_gone++;
		return;
	}
	trace->n_late++;
	if (now > trace->since_ns && now - trace->since_ns > trace->late_ns)
		trace->late_ns = now - trace->since_ns;
}

/* A function that is refused is left out. */
static void trace_set(struct trace *trace, struct source *source, pid_t pid, const struct image *image,
		      image_id id, const struct mapping *mapping)
{
	struct trace_wanted wanted = trace_choose(trace, pid, image, id);
	CLEANUP(freep) char *path = trace_path(pid, image, mapping);
	size_t refused;
	int error;

	trace_count_late(trace, pid, &wanted, path);
	if (wanted.functions.n && !path && !trace_has_ended(pid))
		trace_refuse(trace, NULL, image, "the file was replaced, or is not visible to cpprof");
	if (!path)
		vec_clear(&wanted.functions);
	while (wanted.functions.n && (error = perf_source_trace(source, pid, path, wanted.functions.at,
								wanted.functions.n, &refused))) {
		if (trace_has_ended(pid))
			break;
		bool is_one = refused < wanted.functions.n;
		uint32_t number = is_one ? wanted.functions.at[refused].number : 0;
		trace_refuse(trace, is_one ? &trace->chosen.functions.at[number] : NULL, image,
			     strerror(-error));
		if (!is_one)
			break;
		wanted.functions.at[refused] = wanted.functions.at[--wanted.functions.n];
	}
	vec_done(&wanted.functions);
	if (!trace_is_set(trace, pid, id))
		vec_push(&trace->sets, ((struct trace_set){ pid, id, returns_throw(image) }));
}

/* The process is going to load it. */
static void trace_expect(struct trace *trace, struct images *images, struct source *source, pid_t pid,
			 image_id image)
{
	chosen_look(&trace->chosen, images, image, trace->most);
	trace->is_starting = true;
	trace_set(trace, source, pid, images_get(images, image), image, NULL);
	trace->is_starting = false;
}

void trace_file(struct trace *trace, struct images *images, struct source *source, pid_t pid,
		const char *path)
{
	CLEANUP(freep) char *real = realpath(path, NULL);
	struct diag ignored = { 0 };
	needed_paths libraries = { 0 };
	image_id image;

	if (!real || images_open(images, real, &image, &ignored) < 0)
		return;
	trace_expect(trace, images, source, pid, image);
	needed_find(images, image, &libraries);
	for (size_t i = 0; i < libraries.n; i++) {
		if (images_open(images, libraries.at[i], &image, &ignored) >= 0)
			trace_expect(trace, images, source, pid, image);
		free(libraries.at[i]);
	}
	vec_done(&libraries);
}

/* ---- changes --------------------------------------------------------------------------------------- */

/* Does this pattern name it? */
static bool trace_is_named(const struct trace *trace, const struct chosen_function *f, const char *name)
{
	return strcmp(trace->chosen.patterns.at[f->pattern], name) == 0 || fnmatch(name, f->name, 0) == 0 ||
	       strcmp(f->name, name) == 0;
}

bool trace_knows(const struct trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->chosen.functions.n; i++)
		if (trace_is_named(trace, &trace->chosen.functions.at[i], name))
			return true;
	return false;
}

static size_t trace_change(struct trace *trace, struct source *source, const char *name,
			   enum probe_state state)
{
	struct probe_links *links = &perf_source_probe(source)->links;
	size_t n = 0;

	for (uint32_t i = 0; i < trace->chosen.functions.n; i++) {
		if (!trace_is_named(trace, &trace->chosen.functions.at[i], name))
			continue;
		n += links->state[i] != state;
		probe_links_change(links, i, state);
	}
	return n;
}

size_t trace_remove(struct trace *trace, struct source *source, const char *name)
{
	return trace_change(trace, source, name, PROBE_NEVER);
}

size_t trace_add(struct trace *trace, struct images *images, struct source *source, const char *name)
{
	size_t n_sets = trace->sets.n, n = trace_change(trace, source, name, PROBE_ALWAYS);

	trace->first_new = trace->chosen.functions.n;
	chosen_add_pattern(&trace->chosen, name);
	for (size_t i = 0; i < n_sets; i++)
		chosen_look(&trace->chosen, images, trace->sets.at[i].image, trace->most);
	n += trace->chosen.functions.n - trace->first_new;
	for (size_t i = 0; i < n_sets; i++) {
		struct trace_set set = trace->sets.at[i];
		trace_set(trace, source, set.pid, images_get(images, set.image), set.image, NULL);
	}
	trace->first_new = 0;
	return n;
}

/* ---- what happens ---------------------------------------------------------------------------------- */

static void trace_forget(struct trace *trace, pid_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < trace->sets.n; i++)
		if (trace->sets.at[i].pid != pid)
			trace->sets.at[n++] = trace->sets.at[i];
	trace->sets.n = n;
}

/* A child starts with the images of its parent. */
static void trace_fork(struct trace *trace, struct images *images, struct source *source, pid_t parent,
		       pid_t child)
{
	size_t n = trace->sets.n;

	for (size_t i = 0; i < n; i++) {
		struct trace_set set = trace->sets.at[i];
		if (set.pid == parent)
			trace_set(trace, source, child, images_get(images, set.image), set.image, NULL);
	}
}

static void trace_take(struct trace *trace, struct images *images, struct source *source,
		       const struct event *event)
{
	const struct mapping *mapping = &event->mapping;

	switch (event->kind) {
	case EVENT_MAPPING:
		if (!mapping->is_executable || mapping->image == IMAGE_NONE ||
		    trace_is_set(trace, event->pid, mapping->image))
			return;
		chosen_look(&trace->chosen, images, mapping->image, trace->most);
		trace_set(trace, source, event->pid, images_get(images, mapping->image), mapping->image,
			  mapping);
		return;
	case EVENT_FORK:
		if (event->pid != event->fork.parent_pid)
			trace_fork(trace, images, source, event->fork.parent_pid, event->pid);
		return;
	case EVENT_EXIT:
		if (event->pid == event->tid) {
			trace_forget(trace, event->pid);
			probe_links_forget(&perf_source_probe(source)->links, event->pid);
		}
		return;
	case EVENT_EXEC: /* a probe belongs to a file in a process, whatever the process runs */
	case EVENT_SAMPLE:
	case EVENT_COMM:
	case EVENT_LOST:
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
	case EVENT_SWITCH:
	case EVENT_CODE:
		return;
	}
}

void trace_event(struct trace *trace, struct images *images, struct source *source, const struct event *event)
{
	trace->since_ns = event->time_ns;
	trace_take(trace, images, source, event);
	trace->since_ns = 0;
}
