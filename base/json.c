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
	json->to = to;
	json->depth = 0;
	json->after_name = false;
	json->n_pending = 0;
	json->error = 0;
}

/* Keeps the first error: a stream forgets its own. */
static void pass_on(struct json *json, const char *bytes, size_t n)
{
	if (n && fwrite_unlocked(bytes, 1, n, json->to) != n && !json->error)
		json->error = errno ? -errno : -EIO;
}

static void json_flush(struct json *json)
{
	pass_on(json, json->pending, json->n_pending);
	json->n_pending = 0;
}

int json_done(struct json *json)
{
	assert(json->depth == 0 && json->n_pending == 0);
	if (fflush(json->to) != 0 && !json->error)
		json->error = errno ? -errno : -EIO;
	return json->error ? json->error : ferror(json->to) ? -EIO : 0;
}

/* ---- bytes --------------------------------------------------------------------------------- */

static void json_put(struct json *json, const char *bytes, size_t n)
{
	if (n > sizeof(json->pending) - json->n_pending)
		json_flush(json);
	if (n > sizeof(json->pending)) {
		pass_on(json, bytes, n);
		return;
	}
	memcpy(json->pending + json->n_pending, bytes, n);
	json->n_pending += (uint32_t)n;
}

static void put_char(struct json *json, char c)
{
	if (json->n_pending == sizeof(json->pending))
		json_flush(json);
	json->pending[json->n_pending++] = c;
}

#define put_literal(json, text) json_put(json, text, sizeof(text) - 1)

/* ---- nesting ------------------------------------------------------------------------------- */

static void before_value(struct json *json)
{
	if (json->after_name)
		json->after_name = false;
	else if (json->depth > 0) {
		if (json->has_members[json->depth - 1])
			put_char(json, ',');
		json->has_members[json->depth - 1] = true;
	}
}

static void after_value(struct json *json)
{
	if (json->depth == 0)
		json_flush(json);
}

static void open_with(struct json *json, char bracket)
{
	before_value(json);
	assert(json->depth < JSON_MAX_DEPTH);
	json->has_members[json->depth++] = false;
	put_char(json, bracket);
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
	put_char(json, bracket);
	after_value(json);
}

void json_end_object(struct json *json)
{
	close_with(json, '}');
}

void json_end_array(struct json *json)
{
	close_with(json, ']');
}

/* ---- strings ------------------------------------------------------------------------------- */

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

bool utf8_is_control(const char *text, unsigned len)
{
	const unsigned char *at = (const unsigned char *)text;

	if (len == 2)
		return at[0] == 0xc2 && at[1] < 0xa0;
	return len == 1 && (at[0] < 0x20 || at[0] == 0x7f);
}

static void put_escaped(struct json *json, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	const char escape[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };

	switch (c) {
	case '"':
		put_literal(json, "\\\"");
		break;
	case '\\':
		put_literal(json, "\\\\");
		break;
	case '\n':
		put_literal(json, "\\n");
		break;
	case '\t':
		put_literal(json, "\\t");
		break;
	case '\r':
		put_literal(json, "\\r");
		break;
	default:
		if (c < 0x20 || c >= 0x7f)
			json_put(json, escape, sizeof(escape));
		else
			put_char(json, (char)c);
	}
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Eight bytes at once: the top bit of a byte is set in the result if that byte, or a lower one, is not plain.
 */
static uint64_t plain_word(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u, tops = ones * 0x80;
	uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';
	uint64_t is_low = word - ones * 0x20, is_quote = quote - ones, is_backslash = backslash - ones;

	return (is_low | is_quote | is_backslash | word | (word + ones)) & tops;
}

/* How many bytes at text can be written unchanged: printable ASCII with nothing to escape. */
static size_t plain_run(const char *text, size_t left)
{
	size_t n = 0;

	for (uint64_t word; n + sizeof(word) <= left; n += sizeof(word)) {
		memcpy(&word, text + n, sizeof(word));
		if (plain_word(word))
			break;
	}
	while (n < left && is_plain((unsigned char)text[n]))
		n++;
	return n;
}

static void put_string(struct json *json, const char *text)
{
	size_t left = strlen(text);

	put_char(json, '"');
	while (left) {
		size_t run = plain_run(text, left);
		json_put(json, text, run);
		text += run;
		left -= run;
		if (!left)
			break;
		unsigned len = utf8_length(text, left);
		if (len == 0)
			put_literal(json, "\xef\xbf\xbd"); /* U+FFFD */
		else if (len == 1 || utf8_is_control(text, len))
			put_escaped(json, (unsigned char)text[len - 1]);
		else
			json_put(json, text, len);
		text += len ? len : 1;
		left -= len ? len : 1;
	}
	put_char(json, '"');
}

void json_name(struct json *json, const char *name)
{
	before_value(json);
	put_string(json, name);
	put_char(json, ':');
	json->after_name = true;
}

void json_text(struct json *json, const char *text)
{
	if (!text) {
		json_null(json);
		return;
	}
	before_value(json);
	put_string(json, text);
	after_value(json);
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

void json_hex(struct json *json, uint64_t value)
{
	char text[24];
	size_t at = sizeof(text);

	text[--at] = '"';
	do
		text[--at] = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	text[--at] = 'x';
	text[--at] = '0';
	text[--at] = '"';
	before_value(json);
	json_put(json, text + at, sizeof(text) - at);
	after_value(json);
}

/* ---- numbers and words --------------------------------------------------------------------- */

void json_uint(struct json *json, uint64_t value)
{
	char digits[24];
	size_t at = sizeof(digits);

	/* By hand: columns of millions of integers are written through here. */
	before_value(json);
	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	json_put(json, digits + at, sizeof(digits) - at);
	after_value(json);
}

void json_int(struct json *json, int64_t value)
{
	if (value >= 0) {
		json_uint(json, (uint64_t)value);
		return;
	}
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRId64, value);
	before_value(json);
	json_put(json, digits, (size_t)len);
	after_value(json);
}

void json_number(struct json *json, double value)
{
	char digits[32]; /* ten digits, a sign, a point and an exponent */

	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	int len = snprintf(digits, sizeof(digits), "%.10g", value);
	before_value(json);
	json_put(json, digits, (size_t)len);
	after_value(json);
}

void json_bool(struct json *json, bool value)
{
	before_value(json);
	if (value)
		put_literal(json, "true");
	else
		put_literal(json, "false");
	after_value(json);
}

void json_null(struct json *json)
{
	before_value(json);
	put_literal(json, "null");
	after_value(json);
}

void json_line(struct json *json)
{
	assert(json->depth == 0);
	put_char(json, '\n');
	json_flush(json);
}

/* ---- name and value ------------------------------------------------------------------------ */

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
