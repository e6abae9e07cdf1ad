/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/proto.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"

/* ---- the wire format ------------------------------------------------------------------------ */

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void proto_varint(struct text *to, uint64_t value)
{
	char bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	text_add(to, bytes, n);
}

void proto_uint(struct text *to, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	proto_varint(to, field << 3 | WIRE_VARINT);
	proto_varint(to, value);
}

void proto_fixed64(struct text *to, unsigned field, uint64_t value)
{
	char bytes[8];

	if (value == 0)
		return;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(value >> 8 * i);
	proto_varint(to, field << 3 | WIRE_FIXED64);
	text_add(to, bytes, sizeof(bytes));
}

void proto_bytes(struct text *to, unsigned field, const void *bytes, size_t len)
{
	proto_varint(to, field << 3 | WIRE_BYTES);
	proto_varint(to, len);
	text_add(to, bytes, len);
}

void proto_message(struct text *to, unsigned field, struct text *from)
{
	proto_bytes(to, field, from->at, from->len);
	text_clear(from);
}

/* ---- strings and functions ------------------------------------------------------------------ */

static const char *tables_text(const struct proto_tables *t, uint32_t id)
{
	return profile_text(t->profile, id);
}

struct bytes proto_utf8(struct proto_tables *t, const char *text)
{
	size_t left = strlen(text);

	text_clear(&t->clean);
	while (left) {
		unsigned len = utf8_length(text, left);
		text_add(&t->clean, len ? text : "\xef\xbf\xbd", len ? len : 3);
		text += len ? len : 1;
		left -= len ? len : 1;
	}
	return (struct bytes){ (const uint8_t *)(t->clean.at ? t->clean.at : ""), t->clean.len };
}

uint32_t proto_string(struct proto_tables *t, const char *text)
{
	struct bytes clean = proto_utf8(t, text);

	return intern_add_n(&t->strings, (const char *)clean.at, clean.len);
}

/* A file can choose names that have the same hash, but not with the secret. */
static uint64_t tables_hash(const char *text)
{
	return hash_bytes_secret((struct bytes){ (const uint8_t *)text, strlen(text) });
}

static uint32_t tables_add_function(struct proto_tables *t, const struct scope_frame *scope, const char *name)
{
	const char *linkage = scope->linkage ? tables_text(t, scope->linkage) : name;
	const char *file = tables_text(t, scope->file);
	uint64_t key = hash_u64(tables_hash(name) ^ hash_u64(tables_hash(file) ^ scope->line));
	uint32_t id = map_find(&t->functions, key);

	if (id != MAP_NONE)
		return id;
	id = ++t->n_functions;
	map_put(&t->functions, key, id);
	t->add_function(t->context, &(struct proto_function){
					    .id = id,
					    .name = proto_string(t, name),
					    .linkage = proto_string(t, linkage),
					    .file = proto_string(t, file),
					    .line = scope->kind == SCOPE_LOOP ? 0 : scope->line,
				    });
	return id;
}

static const char *tables_name(const struct proto_tables *t, const struct scope_frame *scope, char *label,
			       size_t size)
{
	if (scope->kind == SCOPE_LOOP) {
		const char *file = tables_text(t, scope->file), *slash = strrchr(file, '/');
		snprintf(label, size, "[loop %s:%u]", slash ? slash + 1 : file, scope->line);
		return label;
	}
	if (scope->kind == SCOPE_INCOMPLETE)
		return "<incomplete>";
	if (scope->kind == SCOPE_UNKNOWN && !scope->name)
		return scope->vaddr ? "<unknown>" : "<other>";
	return tables_text(t, scope->name);
}

static uint32_t tables_function(struct proto_tables *t, uint32_t frame)
{
	const struct scope_frame *what = &t->tree->frames.at[frame];
	char label[512];

	if (!t->function_of[frame])
		t->function_of[frame] =
			tables_add_function(t, what, tables_name(t, what, label, sizeof(label)));
	return t->function_of[frame];
}

/* ---- locations ------------------------------------------------------------------------------ */

static bool tables_is_call(const struct proto_tables *t, uint32_t scope)
{
	enum scope_relation relation = scope_relation(scope_kind(t->tree, scope));

	return relation != RELATION_INLINE && relation != RELATION_LEXICAL;
}

/*
 * Collects the physical frame that contains `scope`, from it outwards to the function, into lines and loops.
 * `line` is the position of the innermost; each outer one is at the call site of the one inside it. Returns
 * the scope around it, and the hash of its contents.
 */
static uint32_t tables_collect(struct proto_tables *t, uint32_t scope, uint32_t line, uint64_t *ret_hash)
{
	uint64_t hash = hash_secret();
	bool is_outermost = false;

	vec_clear(&t->lines);
	vec_clear(&t->loops);
	while (!is_outermost) {
		const struct scope_row *row = &t->tree->scopes.at[scope];
		unsigned kind = t->tree->frames.at[row->frame].kind;
		if (kind == SCOPE_LOOP && !t->loops_are_lines) {
			vec_push(&t->loops, row->frame);
			hash = hash_u64(hash ^ ~(uint64_t)row->frame);
		} else {
			struct proto_line at = { tables_function(t, row->frame), line };
			vec_push(&t->lines, at);
			hash = hash_u64(hash ^ ((uint64_t)at.function << 32 | line));
		}
		if (kind == SCOPE_INLINE)
			line = t->tree->calls.at[row->call].line;
		is_outermost = tables_is_call(t, scope);
		scope = row->parent;
	}
	*ret_hash = hash;
	return scope;
}

static uint32_t tables_location(struct proto_tables *t, uint32_t scope, uint32_t line, uint64_t vaddr,
				uint32_t *ret_outer)
{
	image_id image = scope_frame(t->tree, scope)->image;
	uint64_t hash;

	*ret_outer = tables_collect(t, scope, line, &hash);
	uint64_t key = hash_u64(hash ^ hash_u64(hash_u64(vaddr) ^ image));
	uint32_t id = map_find(&t->locations, key);
	if (id != MAP_NONE)
		return id;
	id = ++t->n_locations;
	map_put(&t->locations, key, id);
	t->add_location(t->context, &(struct proto_location){
					    .id = id,
					    .image = image,
					    .vaddr = vaddr,
					    .lines = t->lines.at,
					    .n_lines = t->lines.n,
					    .loops = t->loops.at,
					    .n_loops = t->loops.n,
				    });
	return id;
}

void proto_tables_stack(struct proto_tables *t, uint32_t scope)
{
	const struct scope_frame *leaf = scope_frame(t->tree, scope);
	uint32_t line = leaf->line;
	uint64_t vaddr = leaf->vaddr;

	vec_clear(&t->stack);
	if (leaf->kind == SCOPE_LINE)
		scope = t->tree->scopes.at[scope].parent;
	while (scope != 0) {
		/* The function of this physical frame has the call site. */
		uint32_t bottom = scope, outer;
		while (!tables_is_call(t, bottom))
			bottom = t->tree->scopes.at[bottom].parent;
		vec_push(&t->stack, tables_location(t, scope, line, vaddr, &outer));
		const struct scope_call *call = &t->tree->calls.at[t->tree->scopes.at[bottom].call];
		line = call->line;
		vaddr = call->vaddr ? call->vaddr - 1 : scope_frame(t->tree, outer)->vaddr;
		scope = outer;
	}
}

/* ---- samples -------------------------------------------------------------------------------- */

/* Values are sorted by scope and thread: each run of them is a sample. */
void proto_tables_samples(struct proto_tables *t,
			  void (*put)(void *context, uint32_t scope, uint32_t thread, const uint64_t *values))
{
	const struct scope_tree *tree = t->tree;
	uint64_t *values = alloc_zero(tree->n_metrics, sizeof(uint64_t));

	for (size_t i = 0; i < tree->values.n;) {
		const struct scope_value *first = &tree->values.at[i];
		memset(values, 0, tree->n_metrics * sizeof(uint64_t));
		for (; i < tree->values.n && tree->values.at[i].scope == first->scope &&
		       tree->values.at[i].thread == first->thread;
		     i++)
			values[tree->values.at[i].metric] += tree->values.at[i].value;
		put(t->context, first->scope, first->thread, values);
	}
	free(values);
}

/* ---- creation and destruction ----------------------------------------------------------------- */

void proto_tables_init(struct proto_tables *t)
{
	intern_init(&t->strings);
	t->function_of = alloc_zero(t->tree->frames.n + 1, sizeof(uint32_t));
}

void proto_tables_done(struct proto_tables *t)
{
	intern_done(&t->strings);
	map_done(&t->functions);
	map_done(&t->locations);
	text_done(&t->clean);
	vec_done(&t->stack);
	vec_done(&t->lines);
	vec_done(&t->loops);
	free(t->function_of);
}

const char *proto_unit(const char *unit)
{
	return strcmp(unit, "ns") == 0 ? "nanoseconds" : unit;
}
