/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

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

TEST(json_reader_reports_events_in_order)
{
	struct json_reader r = over(" {\"a\" : [1, -2.5e3, \"x\\n\"], \"b\":{}, \"c\":null} ", false);
	static const enum json_event want[] = { JSON_OBJECT, JSON_NAME,  JSON_ARRAY, JSON_NUMBER, JSON_NUMBER,
						JSON_STRING, JSON_CLOSE, JSON_NAME,  JSON_OBJECT, JSON_CLOSE,
						JSON_NAME,   JSON_NULL,  JSON_CLOSE, JSON_END };

	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		CHECK_EQ(json_reader_next(&r), want[i]);
}

/* The same from a stream with a much smaller window; strings and words cross its end. */
TEST(json_reader_reads_streams_of_any_length)
{
	char *text = NULL;
	size_t len = 0, n = 0, n_strings = 0;
	FILE *to = open_memstream(&text, &len);
	struct json_reader r;
	enum json_event event;

	fputs("[\"", to);
	for (int i = 0; i < 300000; i++)
		fputs("\xe2\x82\xac", to); /* longer than the initial window */
	fputs("\"", to);
	for (int i = 0; i < 200000; i++)
		fputs(i % 3 == 0 ? ",false" : i % 3 == 1 ? ",\"\\u00e4\xc3\xa4\"" : ", -12345", to);
	fputs("]\n", to);
	fclose(to);
	FILE *from = fmemopen(text, len, "r");
	json_reader_init_stream(&r, from);
	CHECK(json_reader_starts(&r, "[\""));
	while ((event = json_reader_next(&r)) != JSON_END && event != JSON_BAD) {
		CHECK(event != JSON_STRING || r.text.len == (n_strings++ ? 8 : 900000));
		n++;
	}
	CHECK_EQ(event, JSON_END);
	CHECK_EQ(n, 200003);
	CHECK_EQ(json_reader_offset(&r), len);
	json_reader_done(&r);
	fclose(from);
	free(text);
}

TEST(json_reader_reports_where_a_stream_is_invalid)
{
	char text[] = "[true, tru]";
	struct json_reader r;
	FILE *from = fmemopen(text, strlen(text), "r");

	json_reader_init_stream(&r, from);
	CHECK_EQ(json_reader_next(&r), JSON_ARRAY);
	CHECK_EQ(json_reader_next(&r), JSON_TRUE);
	CHECK_EQ(json_reader_next(&r), JSON_BAD);
	CHECK_EQ(json_reader_offset(&r), 7);
	json_reader_done(&r);
	fclose(from);
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

TEST(json_reader_refuses_invalid_json)
{
	static const char *const wrong[] = { "{",          "[1",   "[1,]", "[1 2]", "{\"a\" 1}", "{\"a\":}",
					     "{a:1}",      "[01]", "[1.]", "[-]",   "[\"\\x\"]", "[\"\x01\"]",
					     "[\"\xff\"]", "nul",  "1 2",  "{} {}", "[\"open" };

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

TEST(json_reader_accepts_only_integers_that_fit)
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
