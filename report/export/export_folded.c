/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded: "root;frame;leaf count", one line per path: the input of flame graph scripts. The first frame is
 * the process. Semicolons and control characters in names are replaced, because the format has no escapes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/export/exporter.h"
#include "report/style.h"
#include "report/tree/document.h"

static void folded_add_name(struct text *line, const char *name)
{
	const struct style style = { .utf8 = true };
	size_t start = line->len;

	style_safe(line, &style, name);
	for (char *c = line->at + start; *c; c++)
		*c = *c == ';' ? ':' : *c;
}

static const char *suffix_of(const struct scope_frame *frame)
{
	if (frame->flags & SCOPE_KERNEL)
		return "_[k]";
	return frame->kind == SCOPE_INLINE ? "_[i]" : "";
}

struct folder {
	const struct document *document;
	const struct export_options *options;
	VEC(uint32_t) path;
	struct text line;
};

/* The path to a node below the root, as names. */
static void fold(struct folder *folder, uint32_t node)
{
	const struct document *document = folder->document;
	char label[512];

	vec_clear(&folder->path);
	for (uint32_t at = node; at != NO_NODE && at != 0; at = document_parent(document, at))
		vec_push(&folder->path, at);
	for (size_t i = folder->path.n; i-- > 0;) {
		uint32_t frame = document_frame(document, folder->path.at[i]);
		const char *name = document_frame_label(document, frame, label, sizeof(label));
		text_add(&folder->line, ";", 1);
		folded_add_name(&folder->line, *name ? name : "-");
		if (folder->options->annotate)
			text_printf(&folder->line, "%s", suffix_of(&document->frames.at[frame]));
	}
}

static const char *process_name(const struct profile *profile, uint32_t thread)
{
	if (thread >= profile->threads.n || profile->threads.at[thread].process >= profile->processes.n)
		return "unknown";
	const char *comm =
		profile_text(profile, profile->processes.at[profile->threads.at[thread].process].comm);
	return *comm ? comm : "unknown";
}

/* Values are sorted by node and thread: those of one process and node become one line. */
static int write_folded(const struct export_input *input, const struct export_options *options, FILE *to,
			struct diag *diag)
{
	struct document document;
	struct document_cursor cursor;
	const struct profile *profile = input->profile;

	(void)diag;
	document_init(&document, profile, input->tree);
	document_cursor_init(&cursor, &document);
	struct folder folder = { .document = &document, .options = options };
	for (size_t i = 0; i < document.n_values;) {
		struct scope_value first = document_value(&cursor, i), value = first;
		const char *process = process_name(profile, first.thread);
		uint64_t sum = 0;
		while (value.scope == first.scope &&
		       strcmp(process_name(profile, value.thread), process) == 0) {
			sum += value.metric == options->metric ? value.value : 0;
			if (++i == document.n_values)
				break;
			value = document_value(&cursor, i);
		}
		if (!sum)
			continue;
		text_clear(&folder.line);
		folded_add_name(&folder.line, process);
		fold(&folder, first.scope);
		fprintf(to, "%s %llu\n", folder.line.at, (unsigned long long)sum);
	}
	vec_done(&folder.path);
	text_done(&folder.line);
	document_cursor_done(&cursor);
	document_done(&document);
	return 0;
}

const struct exporter exporter_folded = {
	.name = "folded",
	.suffixes = ".folded .collapsed .folded.txt",
	.summary = "one call path per line with its cost, for flame graph tools",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_CONTEXT,
	.walks_stacks = true,
	.write = write_folded,
};
