/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

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
