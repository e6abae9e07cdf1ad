/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_file: what is specific to a recording read from a perf.data file: it finds out on which machine
 * that was made, and reports what is missing.
 */
#include "base/clock.h"
#include "recording/recording_private.h"

int recording_file_open(struct recording *r, struct diag *diag)
{
	const struct recording_options *o = &r->options;
	struct workers_options options = { .n_workers = o->n_workers,
					   .max_memory = recording_max_memory(o),
					   .notes_writers = o->epoch_ns > 0,
					   .unwinding = { .mode = o->unwind,
							  .patience = recording_patience(o),
							  .store = o->names.symbolize.store } };
	int error = perf_file_open(o->file, &o->file_options, r->images, &r->source, diag);

	if (error)
		return error;
	if (o->is_machine) {
		struct perf_file_origin origin = perf_file_origin(r->source);
		struct machine_options machine = { .rules = o->rules,
						   .splits = true,
						   .kallsyms = o->kallsyms             ? o->kallsyms
							       : origin.is_this_kernel ? NULL
										       : "" };
		r->source->info.is_machine = true;
		r->machine = machine_new(&machine);
	}
	r->names = o->names;
	r->start_ns = clock_now_ns();
	r->workers = workers_new(r->images, &r->source->info, &options);
	return 0;
}

void recording_file_event(struct recording *r, const struct event *event)
{
	if (!r->first_pid)
		r->first_pid = event->pid;
	if (event->kind == EVENT_SAMPLE)
		r->has_kernel |= event->sample.n_kernel_pc > 0;
}

static void recording_file_note(struct recording *r, const char *note)
{
	builder_note(workers_builder(r->workers), note); /* keeps each only once */
	recording_note(r, note);
}

void recording_file_notes(struct recording *r)
{
	struct perf_file_origin origin = perf_file_origin(r->source);
	const struct source_info *info = &r->source->info;
	bool has_names = r->options.kallsyms || origin.is_this_kernel;

	if (!origin.has_stacks)
		recording_file_note(r, "the recording contains no stacks, only addresses; record stacks with "
				       "`perf record --call-graph dwarf`");
	for (size_t i = 0; i < info->notes.n; i++)
		recording_file_note(r, info->notes.at[i]);
	if (r->options.resolves && r->has_kernel && !has_names)
		recording_file_note(r,
				    "the recording was made on another kernel, so kernel functions have no "
				    "names; give a copy of that kernel's /proc/kallsyms with --kallsyms");
}

void recording_file_names(struct recording *r)
{
	struct perf_file_origin origin = perf_file_origin(r->source);
	const char *kallsyms = r->options.kallsyms;

	r->names.symbolize.is_elsewhere = !origin.is_this_host;
	r->names.symbolize.kallsyms = kallsyms ? kallsyms : origin.is_this_kernel ? NULL : "";
}

void recording_file_users(struct recording *r)
{
	struct user user = { 0 };

	for (image_id i = 0; i < images_count(r->images); i++) {
		const struct image *image = images_peek(r->images, i);
		if (!image->foreign || user.uid == USER_NOBODY)
			continue;
		bool is_one = image->owner && (!user.uid || user.uid == image->owner);
		user = is_one ? (struct user){ image->owner, image->group }
			      : (struct user){ USER_NOBODY, USER_NOBODY };
	}
	for (size_t i = 0; user.uid && i < r->profile->processes.n; i++)
		if (!r->profile->processes.at[i].user) {
			r->profile->processes.at[i].user = user.uid + 1;
			r->profile->processes.at[i].group = user.gid;
		}
}
