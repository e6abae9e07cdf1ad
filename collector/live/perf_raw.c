/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_raw: the records of a live source, kept as a perf.data file.
 */
#include "collector/live/perf_source_private.h"

int perf_source_raw_open(struct source *source, int fd, const char *name, struct diag *diag)
{
	struct perf_live *live = perf_live_of(source);
	VEC(struct perf_writer_event) events = { 0 };

	for (size_t i = 0; i < live->events.attrs.n; i++) {
		bool is_sampling = i < live->events.n_sampling;
		vec_push(&events, ((struct perf_writer_event){ &live->events.attrs.at[i],
							       is_sampling ? source->info.events.at[i].name
									   : "dummy" }));
	}
	if (live->events.deep.program)
		vec_push(&events, ((struct perf_writer_event){ &live->events.deep.attr, "deep-stack" }));
	if (live->events.waits.program)
		vec_push(&events, ((struct perf_writer_event){ &live->events.waits.attr, PERF_WAIT_ENDS }));
	int error = perf_writer_open(fd, name, events.at, events.n, &live->raw, diag);
	vec_done(&events);
	if (error)
		return error;
	for (size_t i = 0; i < live->events.deep.fds.n; i++)
		perf_writer_add_id(live->raw, live->events.attrs.n, live->events.deep.fds.at[i].id);
	size_t wait_attr = live->events.attrs.n + (live->events.deep.program != NULL);
	for (size_t i = 0; i < live->events.waits.fds.n; i++)
		perf_writer_add_id(live->raw, wait_attr, live->events.waits.fds.at[i].id);
	for (size_t i = 0; i < live->events.fds.n; i++)
		perf_writer_add_id(live->raw, live->events.fds.at[i].attr, live->events.fds.at[i].id);

	size_t n_known;
	const struct event *known = known_all(live->known, &n_known);
	for (size_t i = 0; i < n_known; i++)
		perf_writer_known(live->raw, source->images, &known[i]);
	return 0;
}

void perf_source_raw_event(struct source *source, const struct event *event)
{
	struct perf_live *live = perf_live_of(source);

	if (live->raw)
		perf_writer_event(live->raw, source->images, event);
}

int perf_source_raw_close(struct source *source, const char *command_line, struct diag *diag)
{
	struct perf_live *live = perf_live_of(source);
	struct perf_writer *raw = live->raw;

	live->raw = NULL;
	return raw ? perf_writer_close(raw, source->images, command_line, diag) : 0;
}
