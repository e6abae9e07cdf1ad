/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: profile.proto, gzip-compressed: for the pprof tool, Pyroscope, Parca and others.
 *
 * A sample is a context of one thread with a value for each metric.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "report/export/proto.h"
#include "report/limit.h"

#define FLUSH_AT 65536

struct pprof {
	FILE *to;
	const struct export_input *input;
	const struct export_options *options;
	struct proto_tables tables;
	struct text out, message, inner;
	VEC(uint64_t) max_vaddr; /* per image */
};

/* Writes what is complete, so that it need not be kept: the profile is a sequence of messages. */
static void pprof_flush(struct pprof *p)
{
	if (p->out.len < FLUSH_AT)
		return;
	fwrite(p->out.at, 1, p->out.len, p->to);
	text_clear(&p->out);
}

static const char *pprof_text_of(const struct pprof *p, uint32_t id)
{
	return profile_text(p->input->profile, id);
}

static void put_value_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	proto_uint(&p->message, 1, proto_string(&p->tables, type));
	proto_uint(&p->message, 2, proto_string(&p->tables, unit));
	proto_message(&p->out, field, &p->message);
}

static const char *type_name(const struct pprof *p, uint32_t metric)
{
	const struct profile_metric *m = &p->input->profile->metrics.at[metric];

	if (p->options->pyroscope_names && metric == 1 && strcmp(pprof_text_of(p, m->unit), "ns") == 0)
		return "cpu";
	return pprof_text_of(p, m->name);
}

static void pprof_add_function(void *context, const struct proto_function *function)
{
	struct pprof *p = context;

	proto_uint(&p->message, 1, function->id);
	proto_uint(&p->message, 2, function->name);
	proto_uint(&p->message, 3, function->linkage);
	proto_uint(&p->message, 4, function->file);
	proto_uint(&p->message, 5, function->line);
	proto_message(&p->out, 5, &p->message);
}

static void pprof_add_location(void *context, const struct proto_location *location)
{
	struct pprof *p = context;

	proto_uint(&p->message, 1, location->id);
	if (location->image < p->input->profile->images.n) {
		proto_uint(&p->message, 2, (uint64_t)location->image + 1);
		if (location->vaddr >= p->max_vaddr.at[location->image])
			p->max_vaddr.at[location->image] = location->vaddr + 1;
	}
	proto_uint(&p->message, 3, location->vaddr);
	for (size_t i = 0; i < location->n_lines; i++) {
		proto_uint(&p->inner, 1, location->lines[i].function);
		proto_uint(&p->inner, 2, location->lines[i].line);
		proto_message(&p->message, 4, &p->inner);
	}
	proto_message(&p->out, 4, &p->message);
}

static void pprof_put_label(struct pprof *p, const char *key, const char *text, int64_t number)
{
	proto_uint(&p->inner, 1, proto_string(&p->tables, key));
	if (text)
		proto_uint(&p->inner, 2, proto_string(&p->tables, text));
	else
		proto_uint(&p->inner, 3, (uint64_t)number);
	proto_message(&p->message, 3, &p->inner);
}

static void put_thread_labels(struct pprof *p, uint32_t thread)
{
	const struct profile *profile = p->input->profile;

	if (thread >= profile->threads.n)
		return;
	const struct profile_thread *t = &profile->threads.at[thread];
	pprof_put_label(p, "thread_id", NULL, t->tid);
	pprof_put_label(p, "thread", pprof_text_of(p, t->comm), 0);
	if (t->process >= profile->processes.n)
		return;
	pprof_put_label(p, "pid", NULL, profile->processes.at[t->process].pid);
	pprof_put_label(p, "comm", pprof_text_of(p, profile->processes.at[t->process].comm), 0);
}

static void pprof_put_sample(void *context, uint32_t scope, uint32_t thread, const uint64_t *values)
{
	struct pprof *p = context;

	proto_tables_stack(&p->tables, scope);
	for (size_t i = 0; i < p->tables.stack.n; i++)
		proto_varint(&p->inner, p->tables.stack.at[i]);
	proto_message(&p->message, 1, &p->inner);
	for (uint32_t m = 0; m < p->input->tree->n_metrics; m++)
		proto_varint(&p->inner, values[m]);
	proto_message(&p->message, 2, &p->inner);
	put_thread_labels(p, thread);
	proto_message(&p->out, 2, &p->message);
	pprof_flush(p);
}

static void put_mappings(struct pprof *p)
{
	const struct profile *profile = p->input->profile;
	char build_id[2 * BUILD_ID_MAX + 1];

	for (size_t i = 0; i < profile->images.n; i++) {
		const struct profile_image *image = &profile->images.at[i];
		build_id_format(&image->build_id, build_id);
		proto_uint(&p->message, 1, i + 1);
		proto_uint(&p->message, 3, p->max_vaddr.at[i] ? p->max_vaddr.at[i] : 1);
		proto_uint(&p->message, 5, proto_string(&p->tables, pprof_text_of(p, image->path)));
		proto_uint(&p->message, 6, proto_string(&p->tables, build_id));
		for (unsigned field = 7; field <= 10;
		     field++) /* has_functions ... has_inline_frames: nothing needs to be looked up again */
			proto_uint(&p->message, field, 1);
		proto_message(&p->out, 3, &p->message);
	}
}

static void pprof_put_header(struct pprof *p)
{
	const struct profile *profile = p->input->profile;
	struct text folded = { 0 };

	for (uint32_t m = 0; m < p->input->tree->n_metrics; m++)
		put_value_type(p, 1, type_name(p, m),
			       proto_unit(pprof_text_of(p, profile->metrics.at[m].unit)));
	proto_uint(&p->out, 9, profile->run.start_unix_ns);
	proto_uint(&p->out, 10, profile->run.duration_ns);
	if (profile->events.n) {
		const struct profile_event *event = &profile->events.at[0];
		bool is_time = strcmp(pprof_text_of(p, event->unit), "ns") == 0;
		put_value_type(p, 11, type_name(p, 1 < p->input->tree->n_metrics ? 1 : 0),
			       proto_unit(pprof_text_of(p, event->unit)));
		proto_uint(&p->out, 12,
			   event->period                 ? event->period
			   : is_time && event->frequency ? 1000000000 / event->frequency
							 : 1);
	}
	proto_uint(&p->out, 13, proto_string(&p->tables, pprof_text_of(p, profile->run.command_line)));
	for (size_t i = 0; i < profile->notes.n; i++)
		proto_uint(&p->out, 13, proto_string(&p->tables, pprof_text_of(p, profile->notes.at[i])));
	limit_note(p->input->tree, profile, &folded);
	if (folded.len)
		proto_uint(&p->out, 13, proto_string(&p->tables, folded.at));
	text_done(&folded);
	proto_uint(&p->out, 14, proto_string(&p->tables, type_name(p, p->options->metric)));
}

static void put_strings(struct pprof *p)
{
	for (size_t i = 0; i < p->tables.strings.strings.n; i++) {
		proto_bytes(&p->out, 6, p->tables.strings.strings.at[i], p->tables.strings.lengths.at[i]);
		pprof_flush(p);
	}
}

static int write_pprof(const struct export_input *input, const struct export_options *options, FILE *to,
		       struct diag *diag)
{
	struct pprof p = { .input = input, .options = options, .to = compress_stream(to, COMPRESS_GZIP) };

	p.tables = (struct proto_tables){ .profile = input->profile,
					  .tree = input->tree,
					  .loops_are_lines = true,
					  .context = &p,
					  .add_function = pprof_add_function,
					  .add_location = pprof_add_location };
	proto_tables_init(&p.tables);
	for (size_t i = 0; i < input->profile->images.n; i++)
		vec_push(&p.max_vaddr, 0);
	pprof_put_header(&p);
	proto_tables_samples(&p.tables, pprof_put_sample);
	put_mappings(&p);
	put_strings(&p);
	if (p.out.len)
		fwrite(p.out.at, 1, p.out.len, p.to);
	errno = 0;
	int error = fclose(p.to) == 0 ? 0 : errno ? -errno : -EIO;
	text_done(&p.out);
	text_done(&p.message);
	text_done(&p.inner);
	proto_tables_done(&p.tables);
	vec_done(&p.max_vaddr);
	return error < 0 ? diag_set(diag, error, "cannot write the pprof export") : 0;
}

const struct exporter exporter_pprof = {
	.name = "pprof",
	.suffixes = ".pb.gz .pprof",
	.summary = "profile.proto, for pprof, Pyroscope, Parca",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_THREADS | CARRIES_METRICS | CARRIES_BUILD_IDS |
		   CARRIES_LINES | CARRIES_CONTEXT,
	.needs_lines = true,
	.is_binary = true,
	.walks_stacks = true,
	.write = write_pprof,
};
