/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/search.h"
#include "report/shorten.h"

#define MOST_ALIKE 256 /* names of one skeleton that are compared with each other; more are numbered */
#define SHORTEST 8     /* columns: with fewer, no part of a name can be kept */
#define SLACK 20       /* additional columns for differences if names need not fit */

/* A name, and its shortest form. */
struct named {
	uint64_t skeleton; /* hash */
	const char *name;
};

struct names {
	const struct profile *profile;
	bool is_known;
	VEC(struct named) all; /* by skeleton, then by name */
};

static uint64_t names_skeleton(const char *name)
{
	CLEANUP(text_done) struct text text = { 0 };

	name_shorten(name, 0, &text);
	return hash_bytes((struct bytes){ (const uint8_t *)text.at, text.len });
}

static int names_compare(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	if (a->skeleton != b->skeleton)
		return a->skeleton < b->skeleton ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void names_add(struct names *names, bool *seen, uint32_t id)
{
	const char *name = intern_text(&names->profile->strings, id);

	if (seen[id] || !strpbrk(name, "<("))
		return;
	seen[id] = true;
	vec_push(&names->all, (struct named){ names_skeleton(name), name });
}

static void names_learn(struct names *names)
{
	const struct profile *profile = names->profile;
	bool *seen = alloc_zero(profile->strings.strings.n + 1, sizeof(bool));

	names->is_known = true;
	for (size_t i = 0; i < profile->functions.n; i++) {
		const struct function_map *map = &profile->functions.at[i];
		names_add(names, seen, map->name);
		for (size_t k = 0; k < map->inlines.n; k++)
			names_add(names, seen, map->inlines.at[k].name);
	}
	free(seen);
	if (names->all.n)
		qsort(names->all.at, names->all.n, sizeof(*names->all.at), names_compare);
}

struct names *names_new(const struct profile *profile)
{
	struct names *names = alloc_zero(1, sizeof(*names));

	names->profile = profile;
	return names;
}

void names_free(struct names *names)
{
	if (names)
		vec_done(&names->all);
	free(names);
}

/* ---- names that look alike ---------------------------------------------------------------------- */

struct alike {
	const struct named *at;
	size_t n, own; /* own: index of the requested name; n = it is not there */
};

static struct alike names_alike(struct names *names, const char *name)
{
	uint64_t skeleton;

	if (!names->is_known)
		names_learn(names);
	skeleton = names_skeleton(name);
	size_t first = search_first(i, names->all.n, names->all.at[i].skeleton >= skeleton);
	struct alike alike = { names->all.n ? names->all.at + first : NULL, 0, 0 };
	while (first + alike.n < names->all.n && alike.at[alike.n].skeleton == skeleton)
		alike.n++;
	while (alike.own < alike.n && strcmp(alike.at[alike.own].name, name) != 0)
		alike.own++;
	return alike;
}

/* Does another of them get the same text in this many columns? */
static bool names_are_confused(const struct alike *alike, const char *text, size_t columns)
{
	for (size_t i = 0; i < alike->n && i < MOST_ALIKE; i++) {
		CLEANUP(text_done) struct text other = { 0 };
		if (i == alike->own)
			continue;
		name_shorten(alike->at[i].name, columns, &other);
		if (strcmp(other.at, text) == 0)
			return true;
	}
	return alike->n > MOST_ALIKE;
}

/* ---- what distinguishes a name ------------------------------------------------------------------------ */

/* A word with its namespaces, or a sign. */
struct token {
	const char *at;
	size_t len;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':' || c == '~';
}

/* The token of a slot at an offset or after it; its length is 0 at the end of the slot. */
static struct token slot_token(const struct name_slot *slot, size_t offset)
{
	size_t start = offset, end;

	while (start < slot->len && slot->at[start] == ' ')
		start++;
	end = start;
	while (end < slot->len && is_word(slot->at[end]))
		end++;
	end += end == start && end < slot->len;
	return (struct token){ slot->at + start, end - start };
}

/* The position in one of the names while all of them are read in parallel. */
struct reading {
	struct name_parts parts;
	struct token token;
	bool is_apart; /* differs from the requested name in what was read */
};

struct reader_of_names {
	struct reading *all;
	size_t n, own;
};

/* Reads the next token of a slot, for all names that do not differ yet. True if one of them differs here. */
static bool read_on(struct reader_of_names *r, size_t slot)
{
	bool any = false;

	for (size_t i = 0; i < r->n; i++) {
		struct reading *it = &r->all[i];
		if (it->is_apart)
			continue;
		const struct name_slot *from = slot < it->parts.slots.n ? &it->parts.slots.at[slot] : NULL;
		size_t offset = from && it->token.at ? (size_t)(it->token.at + it->token.len - from->at) : 0;
		it->token = from ? slot_token(from, offset) : (struct token){ "", 0 };
	}
	const struct token *own = &r->all[r->own].token;
	for (size_t i = 0; i < r->n; i++) {
		const struct token *other = &r->all[i].token;
		if (r->all[i].is_apart ||
		    (other->len == own->len && strncmp(other->at, own->at, own->len) == 0))
			continue;
		r->all[i].is_apart = any = true;
	}
	return any;
}

/* For a slot: the words at which another name differs. Names that agree so far keep the same words, so that
 * the shortened names differ where the names do. */
static void tell_slot(struct reader_of_names *r, size_t slot, struct text *ret)
{
	const struct name_slot *own = &r->all[r->own].parts.slots.at[slot];
	const char *behind = own->at; /* what was kept */

	for (size_t i = 0; i < r->n; i++)
		r->all[i].token = (struct token){ 0 };
	do {
		bool differs = read_on(r, slot);
		const struct token *token = &r->all[r->own].token;
		if (!differs || token->len == 0)
			continue;
		if (token->at > behind && token->at[-1] != ' ')
			text_printf(ret, "...");
		else if (token->at > behind)
			text_printf(ret, token->at - 1 > behind ? "... " : " ");
		text_add(ret, token->at, token->len);
		behind = token->at + token->len;
	} while (r->all[r->own].token.len);
	if (behind < own->at + own->len)
		text_printf(ret, "...");
}

/* The skeleton of a name, with what distinguishes it from the others in the gaps. */
static void names_tell_apart(const struct alike *alike, struct text *ret)
{
	struct reader_of_names r = { alloc_zero(alike->n, sizeof(*r.all)), alike->n, alike->own };
	const struct name_parts *own = &r.all[r.own].parts;
	size_t at = 0;

	for (size_t i = 0; i < r.n; i++)
		name_take_apart(alike->at[i].name, &r.all[i].parts);
	for (size_t k = 0; k < own->slots.n; k++) {
		text_add(ret, own->text.at + at, own->slots.at[k].place - at);
		at = own->slots.at[k].place;
		tell_slot(&r, k, ret);
	}
	text_add(ret, own->text.at + at, own->text.len - at);
	for (size_t i = 0; i < r.n; i++)
		name_parts_done(&r.all[i].parts);
	free(r.all);
}

/* If there is no room: the name without its namespaces, and without parameters of which nothing is kept. */
static void names_strip(struct text *text, size_t columns)
{
	static const char parameters[] = "(...)";
	CLEANUP(text_done) struct text bare = { 0 };
	size_t start = 0, end = strcspn(text->at, "<(");

	for (size_t at = 0; at + 1 < end; at++)
		if (text->at[at] == ':' && text->at[at + 1] == ':')
			start = at + 2;
	text_printf(&bare, "%s", text->at + start);
	char *gone = bare.len > columns ? strstr(bare.at, parameters) : NULL;
	text_clear(text);
	text_add(text, bare.at, gone ? (size_t)(gone - bare.at) : bare.len);
	if (gone)
		text_printf(text, "%s", gone + strlen(parameters));
}

/* slack: additional columns to distinguish a name from others. */
static void names_make(struct names *names, const char *name, size_t columns, size_t slack, struct text *ret)
{
	CLEANUP(text_done) struct text text = { 0 }, distinct = { 0 };

	name_shorten(name, columns, &text);
	if (!names || strlen(name) <= columns) {
		text_add(ret, text.at, text.len);
		return;
	}
	struct alike alike = names_alike(names, name);
	if (alike.own == alike.n || alike.n < 2 || !names_are_confused(&alike, text.at, columns)) {
		text_add(ret, text.at, text.len);
		return;
	}
	if (alike.n <= MOST_ALIKE)
		names_tell_apart(&alike, &distinct);
	if (distinct.len > columns + slack)
		names_strip(&distinct, columns + slack);
	if (distinct.len && distinct.len <= columns + slack)
		text_add(ret, distinct.at, distinct.len);
	else
		text_printf(ret, "%s #%zu", text.at, alike.own + 1);
}

void names_shorten(struct names *names, const char *name, size_t columns, struct text *ret)
{
	names_make(names, name, columns, SLACK, ret);
}

/* ---- names that are still too long ------------------------------------------------------------------- */

static bool is_inside_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void names_fit(struct names *names, const char *name, size_t columns, struct text *ret)
{
	static const char gap[] = "...";
	CLEANUP(text_done) struct text text = { 0 };

	names_make(names, name, columns, 0, &text);
	if (text.len <= columns || columns < SHORTEST) {
		text_add(ret, text.at, text.len);
		return;
	}
	size_t kept = columns - strlen(gap), head = kept / 2, tail = text.len - (kept - head);
	while (head > 0 && is_inside_character(text.at[head]))
		head--;
	while (tail < text.len && is_inside_character(text.at[tail]))
		tail++;
	text_printf(ret, "%.*s%s%s", (int)head, text.at, gap, text.at + tail);
}
