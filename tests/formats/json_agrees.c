/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_agrees: compares our streaming JSON reader with cJSON on a file, value by value.
 * usage: json_agrees [-l] FILE [OTHER]
 * -l: every line is a document; OTHER: cJSON reads this file instead of FILE
 * exit: 0 they agree, 1 they do not; prints where
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_reader.h"

struct comparison {
	struct json_reader reader;
	size_t n_values;
	const char *why; /* NULL while they agree */
};

static bool differ(struct comparison *c, const char *why)
{
	c->why = why;
	return false;
}

static unsigned hex4(const uint8_t *at)
{
	char digits[5] = { (char)at[0], (char)at[1], (char)at[2], (char)at[3], 0 };

	return (unsigned)strtoul(digits, NULL, 16);
}

static char *put_utf8(char *to, unsigned code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 63));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 63));
		*to++ = (char)(0x80 | (code & 63));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 63));
		*to++ = (char)(0x80 | (code >> 6 & 63));
		*to++ = (char)(0x80 | (code & 63));
	}
	return to;
}

/* The reader returns text with its escapes, which it has validated. */
static char *unescape(struct bytes text)
{
	static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
	char *result = malloc(text.len + 1), *to = result;

	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] != '\\') {
			*to++ = (char)text.at[i];
			continue;
		}
		char escape = (char)text.at[++i];
		const char *letter = strchr(letters, escape);
		if (escape == 'u') {
			unsigned code = hex4(text.at + i + 1);
			i += 4;
			if (code >> 10 == 0xd800 >> 10 && i + 6 < text.len) { /* a surrogate pair */
				code = 0x10000 + ((code & 0x3ff) << 10 | (hex4(text.at + i + 3) & 0x3ff));
				i += 6;
			}
			to = put_utf8(to, code);
		} else {
			*to++ = letter ? meant[letter - letters] : escape;
		}
	}
	*to = '\0';
	return result;
}

static bool is_text(struct comparison *c, const char *text)
{
	char *ours = unescape(c->reader.text);
	bool is_same = strcmp(ours, text) == 0;

	free(ours);
	return is_same || differ(c, "another text");
}

static bool is_number(struct comparison *c, double value)
{
	char digits[512];
	int64_t integer;

	if (c->reader.text.len >= sizeof(digits))
		return differ(c, "a number of more than 511 digits");
	memcpy(digits, c->reader.text.at, c->reader.text.len);
	digits[c->reader.text.len] = '\0';
	if (strtod(digits, NULL) != value)
		return differ(c, "another number");
	if (json_reader_int(&c->reader, &integer) && (double)integer != value)
		return differ(c, "another integer");
	return true;
}

static bool is_same_value(struct comparison *c, enum json_event event, const cJSON *item);

static bool is_same_inside(struct comparison *c, const cJSON *item)
{
	for (const cJSON *child = item->child; child; child = child->next) {
		if (cJSON_IsObject(item)) {
			if (json_reader_next(&c->reader) != JSON_NAME)
				return differ(c, "a member is missing");
			if (!is_text(c, child->string))
				return false;
		}
		if (!is_same_value(c, json_reader_next(&c->reader), child))
			return false;
	}
	return json_reader_next(&c->reader) == JSON_CLOSE || differ(c, "something more");
}

static bool is_same_value(struct comparison *c, enum json_event event, const cJSON *item)
{
	c->n_values++;
	switch (event) {
	case JSON_OBJECT:
		return cJSON_IsObject(item) ? is_same_inside(c, item) : differ(c, "no object");
	case JSON_ARRAY:
		return cJSON_IsArray(item) ? is_same_inside(c, item) : differ(c, "no array");
	case JSON_STRING:
		return cJSON_IsString(item) ? is_text(c, item->valuestring) : differ(c, "no string");
	case JSON_NUMBER:
		return cJSON_IsNumber(item) ? is_number(c, item->valuedouble) : differ(c, "no number");
	case JSON_TRUE:
		return cJSON_IsTrue(item) || differ(c, "not true");
	case JSON_FALSE:
		return cJSON_IsFalse(item) || differ(c, "not false");
	case JSON_NULL:
		return cJSON_IsNull(item) || differ(c, "not null");
	case JSON_BAD:
		return differ(c, c->reader.why);
	case JSON_END:
	case JSON_CLOSE:
	case JSON_NAME:
		break;
	}
	return differ(c, "no value");
}

static bool is_same_document(struct bytes ours, struct bytes theirs, size_t *n_values, const char *name)
{
	struct comparison c = { 0 };
	cJSON *root = cJSON_ParseWithLength((const char *)theirs.at, theirs.len);

	json_reader_init(&c.reader, ours, false);
	if (!root)
		printf("%s: cJSON cannot read it\n", name);
	bool is_same = root && is_same_value(&c, json_reader_next(&c.reader), root);
	if (is_same && json_reader_next(&c.reader) != JSON_END)
		is_same = differ(&c, "data after the end");
	if (c.why)
		printf("%s: at byte %llu: cJSON disagrees: %s\n", name,
		       (unsigned long long)json_reader_offset(&c.reader), c.why);
	cJSON_Delete(root);
	*n_values += c.n_values;
	return is_same;
}

static struct bytes read_whole(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *at = NULL;
	size_t len = 0, cap = 0, got = 0;

	if (!file) {
		perror(path);
		exit(1);
	}
	do {
		len += got;
		if (cap - len < 65536)
			at = realloc(at, cap = 2 * cap + 65536);
		got = fread(at + len, 1, cap - len, file);
	} while (got > 0);
	fclose(file);
	return (struct bytes){ at, len };
}

/* Splits off a line, or takes everything. */
static struct bytes next_document(struct bytes *rest, bool by_line)
{
	const uint8_t *end = by_line ? memchr(rest->at, '\n', rest->len) : NULL;
	struct bytes document = { rest->at, end ? (size_t)(end - rest->at) : rest->len };

	*rest = bytes_from(*rest, document.len + (end != NULL));
	return document;
}

int main(int argc, char **argv)
{
	bool by_line = argc > 1 && strcmp(argv[1], "-l") == 0, is_same = true;
	char **paths = argv + 1 + by_line;
	size_t n_values = 0, n_documents = 0;

	if (!paths[0])
		return 2;
	struct bytes file = read_whole(paths[0]), other = read_whole(paths[1] ? paths[1] : paths[0]);
	struct bytes ours = file, theirs = other;
	while (ours.len && is_same) {
		is_same = is_same_document(next_document(&ours, by_line), next_document(&theirs, by_line),
					   &n_values, paths[0]);
		n_documents++;
	}
	is_same = is_same && theirs.len == 0 && n_documents > 0;
	printf("%s: %zu documents, %zu values, %s\n", paths[0], n_documents, n_values,
	       is_same ? "the same" : "different");
	free((void *)file.at);
	free((void *)other.at);
	return is_same ? 0 : 1;
}
