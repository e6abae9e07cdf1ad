/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "tests/test.h"

static char *written;
static size_t written_len;

static struct json start(void)
{
	struct json json;

	json_init(&json, open_memstream(&written, &written_len));
	return json;
}

static void expect(struct json *json, const char *want)
{
	CHECK_EQ(json_done(json), 0);
	fclose(json->to);
	CHECK_STR(written, want);
	free(written);
}

TEST(json_places_commas_itself)
{
	struct json json = start();

	json_object(&json);
	json_uint_of(&json, "a", 1);
	json_name(&json, "b");
	json_array(&json);
	json_int(&json, -2);
	json_number(&json, 0.5);
	json_object(&json);
	json_end_object(&json);
	json_end_array(&json);
	json_bool_of(&json, "c", true);
	json_text_of(&json, "d", NULL);
	json_end_object(&json);
	expect(&json, "{\"a\":1,\"b\":[-2,0.5,{}],\"c\":true,\"d\":null}");
}

TEST(json_escapes_what_would_end_a_string)
{
	struct json json = start();

	json_text(&json, "a\"b\\c\nd\te\x01");
	expect(&json, "\"a\\\"b\\\\c\\nd\\te\\u0001\"");
}

TEST(json_replaces_what_is_not_utf8)
{
	struct json json = start();

	json_text(&json, "\xc3\xa9 \xff \xc0\x80 \xed\xa0\x80 \xe2\x82");
	expect(&json, "\"\xc3\xa9 \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd "
		      "\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(json_has_no_nan_and_no_infinity)
{
	struct json json = start();

	json_array(&json);
	json_number(&json, (double)NAN);
	json_number(&json, (double)INFINITY);
	json_uint(&json, UINT64_MAX);
	json_int(&json, INT64_MIN);
	json_end_array(&json);
	expect(&json, "[null,null,18446744073709551615,-9223372036854775808]");
}

TEST(json_writes_addresses_as_text)
{
	struct json json = start();

	json_array(&json);
	json_hex(&json, 0);
	json_hex(&json, UINT64_MAX);
	json_end_array(&json);
	expect(&json, "[\"0x0\",\"0xffffffffffffffff\"]");
}

TEST(json_escapes_bytes_at_every_position)
{
	static const char *const escapes[] = {
		['"'] = "\\\"", ['\\'] = "\\\\", [0x1f] = "\\u001f", [0x7f] = "\\u007f"
	};

	for (unsigned c = 1; c < ARRAY_LEN(escapes); c++)
		for (size_t at = 0; escapes[c] && at < 17; at++) {
			char text[18], want[32];
			struct json json = start();
			memset(text, '~', 17);
			text[17] = '\0';
			text[at] = (char)c;
			json_text(&json, text);
			snprintf(want, sizeof(want), "\"%.*s%s%s\"", (int)at, text, escapes[c],
				 text + at + 1);
			expect(&json, want);
		}
}

TEST(json_escapes_control_characters_of_latin1)
{
	struct json json = start();

	json_text(&json, "\xc2\x80 \xc2\x9b"
			 "2J \xc2\xa0 \xc3\x9b");
	expect(&json, "\"\\u0080 \\u009b2J \xc2\xa0 \xc3\x9b\"");
}

TEST(json_is_written_to_the_stream_when_all_arrays_are_closed)
{
	struct json json = start();
	char *text = alloc_zero(1, 10001);

	memset(text, 'a', 10000); /* larger than the buffer */
	json_array(&json);
	json_text(&json, text);
	json_text(&json, text);
	json_end_array(&json);
	fflush(json.to);
	CHECK_EQ(written_len, 2 * 10002 + 3);
	fputs("behind", json.to);
	fflush(json.to);
	CHECK_STR(written + written_len - 9, "a\"]behind");
	CHECK_EQ(json_done(&json), 0);
	fclose(json.to);
	free(written);
	free(text);
}
