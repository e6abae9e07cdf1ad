/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_trace: changes to a trace while it is running.
 */
#include <errno.h>
#include <limits.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collector/process/target.h"
#include "recording/recording_private.h"

static void recording_say_change(struct recording *r, const char *what, const char *name, size_t n)
{
	CLEANUP(freep) char *text = alloc_printf("%s '%s': %zu function%s", what, name, n, n == 1 ? "" : "s");

	if (n)
		recording_note(r, text);
	for (const char *note; (note = trace_next_note(&r->trace));)
		recording_note(r, note);
}

void recording_plan_trace(struct recording *r, struct text *ret)
{
	trace_plan(&r->trace, r->images, r->source, (double)(r->stopped_ns - r->start_ns) / 1e9, ret);
}

int recording_plan_command(const struct recording_options *options, struct text *ret, struct diag *diag)
{
	struct recording r = { .options = *options, .images = images_new() };
	char path[PATH_MAX];
	image_id image;
	int error = target_find_command(options->target.argv[0], path)
			    ? images_open(r.images, path, &image, diag)
			    : -ENOENT;

	recording_init_trace(&r);
	if (error == -ENOENT)
		diag_set(diag, error, "cannot run '%s'", options->target.argv[0]);
	if (error >= 0) {
		chosen_look(&r.trace.chosen, r.images, image, TRACE_FUNCTIONS_MAX);
		trace_expect_exits(&r.trace, images_get(r.images, image), image);
		trace_plan(&r.trace, r.images, NULL, 0, ret);
		trace_note_missing(&r.trace, r.images, &options->names.symbolize);
		for (const char *note; (note = trace_next_note(&r.trace));)
			recording_note(&r, note);
	}
	trace_done(&r.trace);
	allocators_done(&r.allocators);
	images_free(r.images);
	return error < 0 ? error : 0;
}

void recording_trace_more(struct recording *r, const char *name)
{
	size_t n = trace_add(&r->trace, r->images, r->source, name);

	if (!n && trace_knows(&r->trace, name))
		trace_note(&r->trace, alloc_printf("'%s' is being traced already", name));
	else if (!n)
		trace_note_absent(&r->trace, r->images, &r->options.names.symbolize,
				  r->trace.chosen.patterns.n - 1);
	recording_say_change(r, "now also tracing", name, n);
}

void recording_trace_less(struct recording *r, const char *name)
{
	size_t n = trace_remove(&r->trace, r->source, name);

	if (!n)
		trace_note(&r->trace, alloc_printf("'%s' is not being traced", name));
	recording_say_change(r, "no longer tracing", name, n);
}

void recording_reset(struct recording *r)
{
	r->reset_ns = clock_now_ns();
	known_paths_restart(&r->known, workers_builder(r->workers));
	builder_reset(workers_builder(r->workers));
	recording_note(r, "the results so far were discarded");
}

void recording_write_now(struct recording *r)
{
	known_paths_fetch(&r->known, workers_builder(r->workers), clock_now_ns());
	struct profile *profile = workers_profile(r->workers);

	recording_live_describe(r, profile);
	checkpoint_write(&r->checkpoint, &r->output, profile, r->workers, clock_now_ns());
	recording_note(r, "the profile so far is being written");
}
