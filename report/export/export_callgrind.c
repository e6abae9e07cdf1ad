/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgrind: a call graph with costs by line, for KCachegrind and callgrind_annotate.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/export/callgrind.h"
#include "report/export/exporter.h"
#include "report/limit.h"

struct callgrind_writer {
	FILE *to;
	struct callgrind graph;
	bool *is_named_file, *is_named_image;
};

static bool is_same_place(const struct callgrind_entry *a, const struct callgrind_entry *b)
{
	return a->function == b->function && a->callee == b->callee && a->file == b->file &&
	       a->line == b->line;
}

/* Each line of the format has its own meaning, so names must not contain line breaks; nor anything else that
 * a terminal would obey. */
static void write_text(FILE *to, const char *text)
{
	for (size_t left = strlen(text); left > 0;) {
		unsigned len = utf8_length(text, left);
		bool is_shown = len > 0 && !utf8_is_control(text, len);
		fwrite(is_shown ? text : " ", 1, is_shown ? len : 1, to);
		text += len ? len : 1;
		left -= len ? len : 1;
	}
}

/* "key=(number) name" the first time, "key=(number)" from then on. */
static void callgrind_file_write_name(struct callgrind_writer *w, const char *key, uint32_t number,
				      bool *is_named, const char *name)
{
	fprintf(w->to, "%s=(%u)", key, number);
	if (!*is_named) {
		fputc(' ', w->to);
		write_text(w->to, *name ? name : "???");
	}
	fputc('\n', w->to);
	*is_named = true;
}

static void write_file(struct callgrind_writer *w, const char *key, uint32_t file)
{
	callgrind_file_write_name(w, key, file + 1, &w->is_named_file[file],
				  profile_text(w->graph.document->profile, file));
}

static void callgrind_file_write_function(struct callgrind_writer *w, uint32_t function,
					  const char *const keys[3])
{
	const struct profile *profile = w->graph.document->profile;
	struct callgrind_function *f = &w->graph.functions[function];
	const struct scope_frame *frame = &w->graph.document->frames.at[f->frame];
	uint32_t image = frame->image < profile->images.n ? frame->image : (uint32_t)profile->images.n;
	char label[512];

	callgrind_file_write_name(
		w, keys[0], image + 1, &w->is_named_image[image],
		image < profile->images.n ? profile_text(profile, profile->images.at[image].path) : "");
	write_file(w, keys[1], f->file);
	callgrind_file_write_name(w, keys[2], function + 1, &f->is_named,
				  document_frame_label(w->graph.document, f->frame, label, sizeof(label)));
}

static void callgrind_file_write_costs(struct callgrind_writer *w, uint32_t line, const uint64_t *columns)
{
	fprintf(w->to, "%u", line);
	for (uint32_t k = 0; k + 1 < w->graph.n_columns; k++)
		fprintf(w->to, " %llu", (unsigned long long)columns[k]);
	fputc('\n', w->to);
}

static void write_place(struct callgrind_writer *w, const struct callgrind_entry *place, uint32_t *file,
			const uint64_t *columns)
{
	static const char *const callee_keys[3] = { "cob", "cfi", "cfn" };
	uint32_t own_file = w->graph.functions[place->function].file;

	if (place->file != *file)
		write_file(w, place->file == own_file ? "fe" : "fi", place->file);
	*file = place->file;
	if (place->callee != NO_CALL) {
		uint32_t callee = place->callee - 1;
		uint64_t calls = columns[w->graph.n_columns - 1];
		callgrind_file_write_function(w, callee, callee_keys);
		/* Readers drop a call with a count of 0. */
		fprintf(w->to, "calls=%llu %u\n", (unsigned long long)(calls ? calls : 1),
			w->graph.document->frames.at[w->graph.functions[callee].frame].line);
	}
	callgrind_file_write_costs(w, place->line, columns);
}

static void write_entries(struct callgrind_writer *w, uint32_t function, uint64_t *columns)
{
	static const char *const keys[3] = { "ob", "fl", "fn" };
	uint32_t file = w->graph.functions[function].file;

	if (w->graph.entries.n == 0)
		return;
	fputc('\n', w->to);
	callgrind_file_write_function(w, function, keys);
	for (size_t i = 0; i < w->graph.entries.n;) {
		const struct callgrind_entry *place = &w->graph.entries.at[i];
		memset(columns, 0, w->graph.n_columns * sizeof(uint64_t));
		for (; i < w->graph.entries.n && is_same_place(place, &w->graph.entries.at[i]); i++)
			columns[w->graph.entries.at[i].column] += w->graph.entries.at[i].value;
		write_place(w, place, &file, columns);
	}
}

static void write_body(struct callgrind_writer *w)
{
	uint64_t *columns = alloc_zero(w->graph.n_columns, sizeof(uint64_t));

	for (uint32_t function = 0; function < w->graph.n_functions; function++) {
		callgrind_add_up(&w->graph, function);
		write_entries(w, function, columns);
	}
	free(columns);
}

/* Event names must be single words. The readable name is beside it; so what is not ASCII is left out. */
static void write_event_name(FILE *to, const char *name)
{
	for (; *name; name++)
		fputc(*name > ' ' && *name < 0x7f && !strchr("-:=,.;", *name) ? *name : '_', to);
}

static void write_line_of(FILE *to, const char *key, const char *text)
{
	fprintf(to, "%s: ", key);
	write_text(to, text);
	fputc('\n', to);
}

static void write_totals(struct callgrind_writer *w, const char *key)
{
	fprintf(w->to, "%s:", key);
	for (uint32_t k = 0; k < w->graph.document->n_metrics; k++)
		fprintf(w->to, " %llu",
			(unsigned long long)document_inclusive(w->graph.document, 0,
							       callgrind_metric(&w->graph, k)));
	fputc('\n', w->to);
}

static void callgrind_file_write_header(struct callgrind_writer *w)
{
	const struct profile *profile = w->graph.document->profile;
	struct text folded = { 0 };

	fputs("# callgrind format\nversion: 1\n", w->to);
	fputs("creator: cpprof ", w->to);
	write_text(w->to, profile_text(profile, profile->run.tool_version));
	fputc('\n', w->to);
	write_line_of(w->to, "cmd", profile_text(profile, profile->run.command_line));
	fputs(w->graph.seen->by_scope.n ? "desc: numbers of calls are lower bounds, from observed calls; 1 "
					  "where they are not counted\n"
					: "desc: calls are numbers of samples taken during the call\n",
	      w->to);
	limit_note(w->graph.document->tree, profile, &folded);
	if (folded.len)
		write_line_of(w->to, "desc", folded.at);
	text_done(&folded);
	fputs("positions: line\n", w->to);
	for (uint32_t k = 0; k < w->graph.document->n_metrics; k++) {
		const struct profile_metric *metric = &profile->metrics.at[callgrind_metric(&w->graph, k)];
		fputs("event: ", w->to);
		write_event_name(w->to, profile_text(profile, metric->name));
		fputs(" : ", w->to);
		write_text(w->to, profile_text(profile, metric->name));
		fputs(" [", w->to);
		write_text(w->to, profile_text(profile, metric->unit));
		fputs("]\n", w->to);
	}
	fputs("events:", w->to);
	for (uint32_t k = 0; k < w->graph.document->n_metrics; k++) {
		fputc(' ', w->to);
		write_event_name(
			w->to,
			profile_text(profile, profile->metrics.at[callgrind_metric(&w->graph, k)].name));
	}
	fputc('\n', w->to);
	write_totals(w, "summary");
}

static int write_callgrind(const struct export_input *input, const struct export_options *options, FILE *to,
			   struct diag *diag)
{
	struct document document;
	struct callgrind_writer w = { .to = to };
	struct scope_calls calls;

	(void)diag;
	scope_calls_take(input->tree, &calls);
	document_init(&document, input->profile, input->tree);
	callgrind_init(&w.graph, &document, &calls, options->metric);
	w.is_named_file = alloc_zero(input->profile->strings.strings.n + 1, sizeof(bool));
	w.is_named_image = alloc_zero(input->profile->images.n + 1, sizeof(bool));
	callgrind_file_write_header(&w);
	write_body(&w);
	fputc('\n', to);
	write_totals(&w, "totals");
	free(w.is_named_file);
	free(w.is_named_image);
	callgrind_done(&w.graph);
	document_done(&document);
	scope_calls_done(&calls);
	return 0;
}

const struct exporter exporter_callgrind = {
	.name = "callgrind",
	.suffixes = ".callgrind callgrind.out",
	.summary = "a call graph with lines, for KCachegrind and callgrind_annotate",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_METRICS | CARRIES_LINES | CARRIES_CALL_SITES,
	.needs_lines = true,
	.needs_calls = true,
	.write = write_callgrind,
};
