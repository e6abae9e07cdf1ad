/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"

void json_reader_init(struct json_reader *r, struct bytes bytes, bool is_stream)
{
	*r = (struct json_reader){ .input = reader_of(bytes), .is_stream = is_stream };
}

/* ---- the window ---------------------------------------------------------------------------------- */

#define WINDOW (256u << 10)
#define WINDOW_MAX (64u << 20) /* no string is that long */
#define CUT 8                  /* bytes: a value cut off by the window ends less than this before its end */
#define LOW 4096               /* when fewer bytes are left, more is read; longer values are tried again */

/* Reads until the window is full; the window grows if a single value fills it. False if there is no more
 * input, or no room. */
static bool json_reader_refill(struct json_reader *r)
{
	size_t left = reader_left(&r->input);

	if (left > r->window_size / 2) {
		if (r->window_size >= WINDOW_MAX)
			return false;
		size_t at = (size_t)(r->input.at - r->window);
		r->window_size *= 2;
		r->window = alloc_resize(r->window, r->window_size, 1);
		r->input.at = r->window + at;
	}
	r->passed += (uint64_t)(r->input.at - r->window);
	memmove(r->window, r->input.at, left);
	size_t got = fread(r->window + left, 1, r->window_size - left, r->from);
	r->input = reader_of((struct bytes){ r->window, left + got });
	return got > 0;
}

void json_reader_init_stream(struct json_reader *r, FILE *from)
{
	*r = (struct json_reader){ .from = from, .window_size = WINDOW };
	r->window = alloc_resize(NULL, WINDOW, 1);
	r->input = reader_of((struct bytes){ r->window, 0 });
	json_reader_refill(r);
}

void json_reader_done(struct json_reader *r)
{
	free(r->window);
	r->window = NULL;
}

bool json_reader_starts(const struct json_reader *r, const char *text)
{
	size_t len = strlen(text);

	return reader_left(&r->input) >= len && memcmp(r->input.at, text, len) == 0;
}

uint64_t json_reader_offset(const struct json_reader *r)
{
	return r->passed + reader_offset(&r->input);
}

static enum json_event bad(struct json_reader *r, const char *why)
{
	r->why = why;
	return JSON_BAD;
}

static int json_reader_peek(const struct json_reader *r)
{
	return reader_left(&r->input) ? *r->input.at : -1;
}

static void skip_space(struct json_reader *r)
{
	while (json_reader_peek(r) == ' ' || json_reader_peek(r) == '\n' || json_reader_peek(r) == '\t' ||
	       json_reader_peek(r) == '\r')
		r->input.at++;
}

/* ---- scalars ------------------------------------------------------------------------------------ */

static bool read_escape(struct json_reader *r)
{
	uint8_t c = read_u8(&r->input);

	if (c != 'u')
		return c && strchr("\"\\/bfnrt", c);
	for (int i = 0; i < 4; i++)
		if (!isxdigit(read_u8(&r->input)))
			return false;
	return true;
}

static enum json_event json_reader_read_string(struct json_reader *r, enum json_event as)
{
	const uint8_t *start = ++r->input.at;

	for (;;) {
		int c = json_reader_peek(r);
		unsigned len = c < 0 ? 0 : utf8_length((const char *)r->input.at, reader_left(&r->input));
		if (c < 0)
			return bad(r, "unterminated string");
		if (c < ' ')
			return bad(r, "control character in a string");
		if (len == 0)
			return bad(r, "string is not valid UTF-8");
		if (c == '"')
			break;
		r->input.at += len;
		if (c == '\\' && !read_escape(r))
			return bad(r, "invalid escape in a string");
	}
	r->text = (struct bytes){ start, (size_t)(r->input.at - start) };
	r->input.at++;
	return as;
}

static bool read_digits(struct json_reader *r)
{
	if (!isdigit(json_reader_peek(r)))
		return false;
	while (isdigit(json_reader_peek(r)))
		r->input.at++;
	return true;
}

static enum json_event json_reader_read_number(struct json_reader *r)
{
	const uint8_t *start = r->input.at;

	if (json_reader_peek(r) == '-')
		r->input.at++;
	bool leading_zero = json_reader_peek(r) == '0';
	const uint8_t *digits = r->input.at;
	if (!read_digits(r) || (leading_zero && r->input.at - digits > 1))
		return bad(r, "invalid number");
	if (json_reader_peek(r) == '.') {
		r->input.at++;
		if (!read_digits(r))
			return bad(r, "invalid number");
	}
	if (json_reader_peek(r) == 'e' || json_reader_peek(r) == 'E') {
		r->input.at++;
		if (json_reader_peek(r) == '+' || json_reader_peek(r) == '-')
			r->input.at++;
		if (!read_digits(r))
			return bad(r, "invalid number");
	}
	r->text = (struct bytes){ start, (size_t)(r->input.at - start) };
	return JSON_NUMBER;
}

static enum json_event json_reader_read_word(struct json_reader *r)
{
	static const struct {
		const char *word;
		enum json_event event;
	} words[] = { { "true", JSON_TRUE }, { "false", JSON_FALSE }, { "null", JSON_NULL } };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t len = strlen(words[i].word);
		if (reader_left(&r->input) >= len && memcmp(r->input.at, words[i].word, len) == 0) {
			r->input.at += len;
			return words[i].event;
		}
	}
	return bad(r, "a JSON value is expected");
}

/* ---- structure ----------------------------------------------------------------------------------- */

static enum json_event open_container(struct json_reader *r, bool is_object)
{
	if (r->depth == JSON_READER_DEPTH)
		return bad(r, "nested too deeply");
	r->input.at++;
	r->is_object[r->depth] = is_object;
	r->is_empty[r->depth++] = true;
	return is_object ? JSON_OBJECT : JSON_ARRAY;
}

static enum json_event json_reader_read_value(struct json_reader *r)
{
	r->wants_value = false;
	r->has_value = true;
	switch (json_reader_peek(r)) {
	case '{':
		return open_container(r, true);
	case '[':
		return open_container(r, false);
	case '"':
		return json_reader_read_string(r, JSON_STRING);
	case -1:
		return bad(r, "unexpected end of the document");
	default:
		return json_reader_peek(r) == '-' || isdigit(json_reader_peek(r)) ? json_reader_read_number(r)
										  : json_reader_read_word(r);
	}
}

static enum json_event read_name(struct json_reader *r)
{
	if (json_reader_peek(r) != '"')
		return bad(r, "a member name is expected");
	enum json_event event = json_reader_read_string(r, JSON_NAME);
	if (event == JSON_BAD)
		return event;
	skip_space(r);
	if (json_reader_peek(r) != ':')
		return bad(r, "':' is expected after a name");
	r->input.at++;
	r->wants_value = true;
	return JSON_NAME;
}

static enum json_event read_member(struct json_reader *r)
{
	unsigned top = r->depth - 1;
	int close = r->is_object[top] ? '}' : ']';

	if (json_reader_peek(r) == close) {
		r->input.at++;
		r->depth--;
		return JSON_CLOSE;
	}
	if (!r->is_empty[top]) {
		if (json_reader_peek(r) != ',')
			return bad(r, "',' is expected between two values");
		r->input.at++;
		skip_space(r);
	}
	r->is_empty[top] = false;
	return r->is_object[top] ? read_name(r) : json_reader_read_value(r);
}

static enum json_event json_reader_read_event(struct json_reader *r)
{
	skip_space(r);
	if (r->wants_value)
		return json_reader_read_value(r);
	if (r->depth)
		return read_member(r);
	if (json_reader_peek(r) < 0)
		return JSON_END;
	if (r->has_value && !r->is_stream)
		return bad(r, "unexpected data after the document");
	return json_reader_read_value(r);
}

/* A value that reaches the end of the window may continue beyond it: it is then read again with a fuller
 * window. */
enum json_event json_reader_next(struct json_reader *r)
{
	if (!r->from)
		return json_reader_read_event(r);
	if (reader_left(&r->input) < LOW)
		json_reader_refill(r);
	for (;;) {
		struct json_reader before = *r;
		enum json_event event = json_reader_read_event(r);
		if (reader_left(&r->input) > (event == JSON_BAD ? CUT : 0))
			return event;
		*r = before;
		if (json_reader_refill(r))
			continue;
		event = json_reader_read_event(r);
		return ferror(r->from) ? bad(r, "the rest cannot be read") : event;
	}
}

bool json_reader_skip(struct json_reader *r, enum json_event first)
{
	if (first == JSON_BAD)
		return false;
	if (first != JSON_OBJECT && first != JSON_ARRAY)
		return true;
	for (unsigned outside = r->depth - 1; r->depth > outside;)
		if (json_reader_next(r) == JSON_BAD)
			return false;
	return true;
}

bool json_reader_int(const struct json_reader *r, int64_t *ret)
{
	bool negative = r->text.len && r->text.at[0] == '-';
	uint64_t value = 0;

	for (size_t i = negative; i < r->text.len; i++) {
		if (!isdigit(r->text.at[i]) || value > (UINT64_MAX >> 1) / 10)
			return false;
		value = value * 10 + (uint64_t)(r->text.at[i] - '0');
	}
	if (value > INT64_MAX)
		return false;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

bool json_reader_is(const struct json_reader *r, const char *text)
{
	return r->text.len == strlen(text) && memcmp(r->text.at, text, r->text.len) == 0;
}
