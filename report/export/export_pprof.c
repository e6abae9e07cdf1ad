/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: profile.proto, gzip-compressed: for the pprof tool, Pyroscope, Parca and whatever else reads it.
 *
 * A location is one physical frame: the function and what is inlined into it, innermost line first. A
 * sample is a context of one thread with a value for each metric. Fields are written by hand: the
 * format is varints and length-delimited pieces.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "report/export/exporter.h"
#include "report/limit.h"
#include "report/tree/document.h"

/* ---- the wire format ------------------------------------------------------------------------ */

static void put_varint(struct text *to, uint64_t value)
{
	char bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	text_add(to, bytes, n);
}

static void put_uint(struct text *to, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	put_varint(to, field << 3);
	put_varint(to, value);
}

static void put_bytes(struct text *to, unsigned field, const char *bytes, size_t len)
{
	put_varint(to, field << 3 | 2);
	put_varint(to, len);
	text_add(to, bytes, len);
}

/* Writes a message that was put together in `from`, and clears it. */
static void put_message(struct text *to, unsigned field, struct text *from)
{
	put_bytes(to, field, from->at, from->len);
	text_clear(from);
}

/* ---- the profile ---------------------------------------------------------------------------- */

#define FLUSH_AT 65536

struct pprof {
	FILE *to;
	const struct export_input *input;
	const struct export_options *options;
	const struct scope_tree *tree;
	struct text out, message, inner, clean;
	struct intern strings;
	struct map functions;    /* hash of (name, file) -> id */
	uint32_t *function_of;   /* of each frame: its id, 0 = not yet */
	struct map locations;    /* hash of the chain -> id */
	VEC(uint64_t) stack;     /* location ids of one sample */
	VEC(uint64_t) max_vaddr; /* per image */
	uint32_t n_functions, n_locations;
};

/* Hands on what is finished, so that it need not be kept: the profile is a sequence of messages. */
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

/* The format wants UTF-8. */
static uint32_t pprof_string(struct pprof *p, const char *text)
{
	size_t left = strlen(text);

	text_clear(&p->clean);
	while (left) {
		unsigned len = utf8_length(text, left);
		text_add(&p->clean, len ? text : "\xef\xbf\xbd", len ? len : 3);
		text += len ? len : 1;
		left -= len ? len : 1;
	}
	return intern_add_n(&p->strings, p->clean.at ? p->clean.at : "", p->clean.len);
}

static void put_value_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	put_uint(&p->message, 1, pprof_string(p, type));
	put_uint(&p->message, 2, pprof_string(p, unit));
	put_message(&p->out, field, &p->message);
}

static const char *unit_name(const char *unit)
{
	return strcmp(unit, "ns") == 0 ? "nanoseconds" : unit;
}

static const char *type_name(const struct pprof *p, uint32_t metric)
{
	const struct profile_metric *m = &p->input->profile->metrics.at[metric];

	if (p->options->pyroscope_names && metric == 1 && strcmp(pprof_text_of(p, m->unit), "ns") == 0)
		return "cpu";
	return pprof_text_of(p, m->name);
}

static uint32_t pprof_add_function(struct pprof *p, const struct scope_frame *scope, const char *name)
{
	const char *linkage = scope->linkage ? pprof_text_of(p, scope->linkage) : name;
	const char *file = pprof_text_of(p, scope->file);
	uint64_t key = hash_u64(
		hash_bytes((struct bytes){ (const uint8_t *)name, strlen(name) }) ^
		hash_u64(hash_bytes((struct bytes){ (const uint8_t *)file, strlen(file) }) ^ scope->line));
	uint32_t id = map_find(&p->functions, key);

	if (id != MAP_NONE)
		return id;
	id = ++p->n_functions;
	map_put(&p->functions, key, id);
	put_uint(&p->message, 1, id);
	put_uint(&p->message, 2, pprof_string(p, name));
	put_uint(&p->message, 3, pprof_string(p, linkage));
	put_uint(&p->message, 4, pprof_string(p, file));
	put_uint(&p->message, 5, scope->kind == SCOPE_LOOP ? 0 : scope->line);
	put_message(&p->out, 5, &p->message);
	return id;
}

static const char *pprof_name_of(const struct pprof *p, const struct scope_frame *scope, char *label,
				 size_t size)
{
	if (scope->kind == SCOPE_LOOP) {
		const char *file = pprof_text_of(p, scope->file), *slash = strrchr(file, '/');
		snprintf(label, size, "[loop %s:%u]", slash ? slash + 1 : file, scope->line);
		return label;
	}
	if (scope->kind == SCOPE_INCOMPLETE)
		return "<incomplete>";
	if (scope->kind == SCOPE_UNKNOWN && !scope->name)
		return scope->vaddr ? "<unknown>" : "<other>";
	return pprof_text_of(p, scope->name);
}

static uint32_t function_id(struct pprof *p, uint32_t frame)
{
	const struct scope_frame *what = &p->tree->frames.at[frame];
	char label[512];

	if (!p->function_of[frame])
		p->function_of[frame] =
			pprof_add_function(p, what, pprof_name_of(p, what, label, sizeof(label)));
	return p->function_of[frame];
}

static bool pprof_is_call(const struct pprof *p, uint32_t scope)
{
	enum scope_relation relation = scope_relation(scope_kind(p->tree, scope));

	return relation != RELATION_INLINE && relation != RELATION_LEXICAL;
}

/* A line of a location: a scope and where in it. */
struct line {
	uint32_t scope, line;
};

/* On to the scope around it, and to the line at which it stands there. False if it was the outermost. */
static bool next_line(const struct pprof *p, struct line *at)
{
	const struct scope_row *row = &p->tree->scopes.at[at->scope];
	unsigned kind = p->tree->frames.at[row->frame].kind;

	if (kind == SCOPE_INLINE)
		at->line = p->tree->calls.at[row->call].line;
	bool is_outermost = pprof_is_call(p, at->scope);
	at->scope = row->parent;
	return !is_outermost;
}

static void put_location(struct pprof *p, uint32_t id, struct line at, uint64_t vaddr)
{
	image_id image = scope_frame(p->tree, at.scope)->image;

	put_uint(&p->message, 1, id);
	if (image < p->input->profile->images.n) {
		put_uint(&p->message, 2, (uint64_t)image + 1);
		if (vaddr >= p->max_vaddr.at[image])
			p->max_vaddr.at[image] = vaddr + 1;
	}
	put_uint(&p->message, 3, vaddr);
	do {
		put_uint(&p->inner, 1, function_id(p, p->tree->scopes.at[at.scope].frame));
		put_uint(&p->inner, 2, at.line);
		put_message(&p->message, 4, &p->inner);
	} while (next_line(p, &at));
	put_message(&p->out, 4, &p->message);
}

/*
 * The location of the physical frame that `scope` lies in: from it outwards to the function. `line` is
 * where the innermost of them stands; each one further out stands where the one inside it is inlined.
 */
static uint64_t location_id(struct pprof *p, uint32_t scope, uint32_t line, uint64_t vaddr,
			    uint32_t *ret_outer)
{
	struct line at = { scope, line };
	uint64_t key = hash_u64(vaddr);

	/* Functions are written before the location that names them. */
	do
		key = hash_u64(
			key ^ ((uint64_t)function_id(p, p->tree->scopes.at[at.scope].frame) << 32 | at.line));
	while (next_line(p, &at));
	*ret_outer = at.scope;

	key = hash_u64(key ^ scope_frame(p->tree, scope)->image);
	uint32_t id = map_find(&p->locations, key);
	if (id != MAP_NONE)
		return id;
	id = ++p->n_locations;
	map_put(&p->locations, key, id);
	put_location(p, id, (struct line){ scope, line }, vaddr);
	return id;
}

/* The stack of a scope, leaf first. */
static void collect_stack(struct pprof *p, uint32_t scope)
{
	const struct scope_frame *leaf = scope_frame(p->tree, scope);
	uint32_t line = leaf->line;
	uint64_t vaddr = leaf->vaddr;

	vec_clear(&p->stack);
	if (leaf->kind == SCOPE_LINE)
		scope = p->tree->scopes.at[scope].parent;
	while (scope != 0) {
		/* The function at the bottom of this physical frame says where it was called from. */
		uint32_t bottom = scope, outer;
		while (!pprof_is_call(p, bottom))
			bottom = p->tree->scopes.at[bottom].parent;
		uint64_t id = location_id(p, scope, line, vaddr, &outer);
		const struct scope_call *call = &p->tree->calls.at[p->tree->scopes.at[bottom].call];
		vec_push(&p->stack, id);
		line = call->line;
		vaddr = call->vaddr ? call->vaddr - 1 : scope_frame(p->tree, outer)->vaddr;
		scope = outer;
	}
}

static void pprof_put_label(struct pprof *p, const char *key, const char *text, int64_t number)
{
	put_uint(&p->inner, 1, pprof_string(p, key));
	if (text)
		put_uint(&p->inner, 2, pprof_string(p, text));
	else
		put_uint(&p->inner, 3, (uint64_t)number);
	put_message(&p->message, 3, &p->inner);
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

static void pprof_put_sample(struct pprof *p, uint32_t scope, uint32_t thread, const uint64_t *values)
{
	collect_stack(p, scope);
	for (size_t i = 0; i < p->stack.n; i++)
		put_varint(&p->inner, p->stack.at[i]);
	put_message(&p->message, 1, &p->inner);
	for (uint32_t m = 0; m < p->tree->n_metrics; m++)
		put_varint(&p->inner, values[m]);
	put_message(&p->message, 2, &p->inner);
	put_thread_labels(p, thread);
	put_message(&p->out, 2, &p->message);
	pprof_flush(p);
}

/* Values are sorted by scope and thread: each run of them is a sample. */
static void put_samples(struct pprof *p)
{
	uint64_t *values = alloc_zero(p->tree->n_metrics, sizeof(uint64_t));

	for (size_t i = 0; i < p->tree->values.n;) {
		const struct scope_value *first = &p->tree->values.at[i];
		memset(values, 0, p->tree->n_metrics * sizeof(uint64_t));
		for (; i < p->tree->values.n && p->tree->values.at[i].scope == first->scope &&
		       p->tree->values.at[i].thread == first->thread;
		     i++)
			values[p->tree->values.at[i].metric] += p->tree->values.at[i].value;
		pprof_put_sample(p, first->scope, first->thread, values);
	}
	free(values);
}

static void put_mappings(struct pprof *p)
{
	const struct profile *profile = p->input->profile;
	char build_id[2 * BUILD_ID_MAX + 1];

	for (size_t i = 0; i < profile->images.n; i++) {
		const struct profile_image *image = &profile->images.at[i];
		build_id_format(&image->build_id, build_id);
		put_uint(&p->message, 1, i + 1);
		put_uint(&p->message, 3, p->max_vaddr.at[i] ? p->max_vaddr.at[i] : 1);
		put_uint(&p->message, 5, pprof_string(p, pprof_text_of(p, image->path)));
		put_uint(&p->message, 6, pprof_string(p, build_id));
		for (unsigned field = 7; field <= 10;
		     field++) /* has_functions ... has_inline_frames: nothing to look up again */
			put_uint(&p->message, field, 1);
		put_message(&p->out, 3, &p->message);
	}
}

static void pprof_put_header(struct pprof *p)
{
	const struct profile *profile = p->input->profile;
	struct text folded = { 0 };

	for (uint32_t m = 0; m < p->tree->n_metrics; m++)
		put_value_type(p, 1, type_name(p, m),
			       unit_name(pprof_text_of(p, profile->metrics.at[m].unit)));
	put_uint(&p->out, 9, profile->run.start_unix_ns);
	put_uint(&p->out, 10, profile->run.duration_ns);
	if (profile->events.n) {
		const struct profile_event *event = &profile->events.at[0];
		bool is_time = strcmp(pprof_text_of(p, event->unit), "ns") == 0;
		put_value_type(p, 11, type_name(p, 1 < p->tree->n_metrics ? 1 : 0),
			       unit_name(pprof_text_of(p, event->unit)));
		put_uint(&p->out, 12,
			 event->period                 ? event->period
			 : is_time && event->frequency ? 1000000000 / event->frequency
						       : 1);
	}
	put_uint(&p->out, 13, pprof_string(p, pprof_text_of(p, profile->run.command_line)));
	for (size_t i = 0; i < profile->notes.n; i++)
		put_uint(&p->out, 13, pprof_string(p, pprof_text_of(p, profile->notes.at[i])));
	limit_note(p->input->tree, profile, &folded);
	if (folded.len)
		put_uint(&p->out, 13, pprof_string(p, folded.at));
	text_done(&folded);
	put_uint(&p->out, 14, pprof_string(p, type_name(p, p->options->metric)));
}

static void put_strings(struct pprof *p)
{
	for (size_t i = 0; i < p->strings.strings.n; i++) {
		put_bytes(&p->out, 6, p->strings.strings.at[i], p->strings.lengths.at[i]);
		pprof_flush(p);
	}
}

static int write_pprof(const struct export_input *input, const struct export_options *options, FILE *to,
		       struct diag *diag)
{
	struct pprof p = { .input = input,
			   .options = options,
			   .tree = input->tree,
			   .to = compress_stream(to, COMPRESS_GZIP) };

	intern_init(&p.strings);
	p.function_of = alloc_zero(input->tree->frames.n + 1, sizeof(uint32_t));
	for (size_t i = 0; i < input->profile->images.n; i++)
		vec_push(&p.max_vaddr, 0);
	pprof_put_header(&p);
	put_samples(&p);
	put_mappings(&p);
	put_strings(&p);
	if (p.out.len)
		fwrite(p.out.at, 1, p.out.len, p.to);
	errno = 0;
	int error = fclose(p.to) == 0 ? 0 : errno ? -errno : -EIO;
	text_done(&p.out);
	text_done(&p.message);
	text_done(&p.inner);
	text_done(&p.clean);
	intern_done(&p.strings);
	map_done(&p.functions);
	free(p.function_of);
	map_done(&p.locations);
	vec_done(&p.stack);
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
	.write = write_pprof,
};
