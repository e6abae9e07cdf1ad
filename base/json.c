/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void json_init(struct json *json, FILE *to)
{
	*json = (struct json){ .to = to };
}

int json_done(struct json *json)
{
	assert(json->depth == 0);
	return fflush(json->to) != 0 || ferror(json->to) ? -EIO : 0;
}

static void before_value(struct json *json)
{
	if (json->after_name)
		json->after_name = false;
	else if (json->depth > 0) {
		if (json->has_members[json->depth - 1])
			putc_unlocked(',', json->to);
		json->has_members[json->depth - 1] = true;
	}
}

static void open_with(struct json *json, char bracket)
{
	before_value(json);
	assert(json->depth < JSON_MAX_DEPTH);
	json->has_members[json->depth++] = false;
	putc_unlocked(bracket, json->to);
}

void json_object(struct json *json)
{
	open_with(json, '{');
}

void json_array(struct json *json)
{
	open_with(json, '[');
}

static void close_with(struct json *json, char bracket)
{
	assert(json->depth > 0 && !json->after_name);
	json->depth--;
	putc_unlocked(bracket, json->to);
}

void json_end_object(struct json *json)
{
	close_with(json, '}');
}

void json_end_array(struct json *json)
{
	close_with(json, ']');
}

/* Smallest code point that needs a sequence of this length: anything below is an overlong form. */
static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

unsigned utf8_length(const char *text, size_t left)
{
	const unsigned char *at = (const unsigned char *)text;

	if (left == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	unsigned len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	if (at[0] < 0xc2 || at[0] > 0xf4 || len > left)
		return 0;
	uint32_t code = at[0] & (0xffu >> (len + 1));
	for (unsigned i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}

static void put_escaped(FILE *to, unsigned char c)
{
	switch (c) {
	case '"':
		fputs_unlocked("\\\"", to);
		break;
	case '\\':
		fputs_unlocked("\\\\", to);
		break;
	case '\n':
		fputs_unlocked("\\n", to);
		break;
	case '\t':
		fputs_unlocked("\\t", to);
		break;
	case '\r':
		fputs_unlocked("\\r", to);
		break;
	default:
		if (c < 0x20 || c == 0x7f)
			fprintf(to, "\\u%04x", c);
		else
			putc_unlocked(c, to);
	}
}

/* How many bytes at text can be written as they are: printable ASCII and nothing to escape. */
static size_t plain_run(const char *text, size_t left)
{
	size_t n = 0;

	while (n < left && (unsigned char)text[n] >= 0x20 && (unsigned char)text[n] < 0x7f && text[n] != '"' &&
	       text[n] != '\\')
		n++;
	return n;
}

static void put_string(FILE *to, const char *text)
{
	size_t left = strlen(text);

	putc_unlocked('"', to);
	while (left) {
		size_t run = plain_run(text, left);
		fwrite_unlocked(text, 1, run, to);
		text += run;
		left -= run;
		if (!left)
			break;
		unsigned len = utf8_length(text, left);
		if (len == 0)
			fputs_unlocked("\xef\xbf\xbd", to); /* U+FFFD */
		else if (len == 1)
			put_escaped(to, (unsigned char)*text);
		else
			fwrite_unlocked(text, 1, len, to);
		text += len ? len : 1;
		left -= len ? len : 1;
	}
	putc_unlocked('"', to);
}

void json_name(struct json *json, const char *name)
{
	before_value(json);
	put_string(json->to, name);
	putc_unlocked(':', json->to);
	json->after_name = true;
}

void json_text(struct json *json, const char *text)
{
	if (!text) {
		json_null(json);
		return;
	}
	before_value(json);
	put_string(json->to, text);
}

void json_printf(struct json *json, const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	int len = vasprintf(&text, format, args);
	va_end(args);
	json_text(json, len < 0 ? "" : text);
	free(text);
}

void json_uint(struct json *json, uint64_t value)
{
	char digits[24];
	size_t at = sizeof(digits);

	/* By hand: columns of millions of integers are written through here. */
	before_value(json);
	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	fwrite_unlocked(digits + at, 1, sizeof(digits) - at, json->to);
}

void json_int(struct json *json, int64_t value)
{
	if (value >= 0) {
		json_uint(json, (uint64_t)value);
		return;
	}
	before_value(json);
	fprintf(json->to, "%" PRId64, value);
}

void json_number(struct json *json, double value)
{
	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	before_value(json);
	fprintf(json->to, "%.10g", value);
}

void json_bool(struct json *json, bool value)
{
	before_value(json);
	fputs_unlocked(value ? "true" : "false", json->to);
}

void json_null(struct json *json)
{
	before_value(json);
	fputs_unlocked("null", json->to);
}

void json_line(struct json *json)
{
	assert(json->depth == 0);
	putc_unlocked('\n', json->to);
}

void json_text_of(struct json *json, const char *name, const char *text)
{
	json_name(json, name);
	json_text(json, text);
}

void json_uint_of(struct json *json, const char *name, uint64_t value)
{
	json_name(json, name);
	json_uint(json, value);
}

void json_int_of(struct json *json, const char *name, int64_t value)
{
	json_name(json, name);
	json_int(json, value);
}

void json_number_of(struct json *json, const char *name, double value)
{
	json_name(json, name);
	json_number(json, value);
}

void json_bool_of(struct json *json, const char *name, bool value)
{
	json_name(json, name);
	json_bool(json, value);
}
