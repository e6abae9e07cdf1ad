/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_reader.h"
#include "tests/test.h"

static struct json_reader over(const char *text, bool is_stream)
{
	struct json_reader reader;

	json_reader_init(&reader, (struct bytes){ (const uint8_t *)text, strlen(text) }, is_stream);
	return reader;
}

static enum json_event last_event(const char *text, bool is_stream)
{
	struct json_reader reader = over(text, is_stream);
	enum json_event event;

	do
		event = json_reader_next(&reader);
	while (event != JSON_END && event != JSON_BAD);
	return event;
}

TEST(json_reader_tells_events_in_order)
{
	struct json_reader r = over(" {\"a\" : [1, -2.5e3, \"x\\n\"], \"b\":{}, \"c\":null} ", false);
	static const enum json_event want[] = { JSON_OBJECT, JSON_NAME, JSON_ARRAY, JSON_NUMBER, JSON_NUMBER, JSON_STRING, JSON_CLOSE,
						JSON_NAME, JSON_OBJECT, JSON_CLOSE, JSON_NAME, JSON_NULL, JSON_CLOSE, JSON_END };

	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		CHECK_EQ(json_reader_next(&r), want[i]);
}

TEST(json_reader_skips_whole_values)
{
	struct json_reader r = over("[{\"a\":[[],[1]]},7]", false);
	int64_t value;

	CHECK_EQ(json_reader_next(&r), JSON_ARRAY);
	CHECK(json_reader_skip(&r, json_reader_next(&r)));
	CHECK_EQ(json_reader_next(&r), JSON_NUMBER);
	CHECK(json_reader_int(&r, &value));
	CHECK_EQ(value, 7);
}

TEST(json_reader_refuses_what_is_no_json)
{
	static const char *const wrong[] = { "{", "[1", "[1,]", "[1 2]", "{\"a\" 1}", "{\"a\":}", "{a:1}", "[01]", "[1.]", "[-]", "[\"\\x\"]",
					     "[\"\x01\"]", "[\"\xff\"]", "nul", "1 2", "{} {}", "[\"open" };

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		if (last_event(wrong[i], false) != JSON_BAD)
			print_error("accepted: %s\n", wrong[i]);
		CHECK_EQ(last_event(wrong[i], false), JSON_BAD);
	}
}

TEST(json_reader_reads_one_value_after_another_in_a_stream)
{
	CHECK_EQ(last_event("{}\n{\"a\":1}\n[]\n", true), JSON_END);
	CHECK_EQ(last_event("", true), JSON_END);
}

TEST(json_reader_stops_at_its_depth)
{
	char deep[200];

	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	CHECK_EQ(last_event(deep, false), JSON_BAD);
}

TEST(json_reader_takes_only_whole_numbers_that_fit)
{
	struct json_reader r = over("[1.5,99999999999999999999,-3]", false);
	int64_t value;

	json_reader_next(&r);
	json_reader_next(&r);
	CHECK(!json_reader_int(&r, &value));
	json_reader_next(&r);
	CHECK(!json_reader_int(&r, &value));
	json_reader_next(&r);
	CHECK(json_reader_int(&r, &value));
	CHECK_EQ(value, -3);
}
