/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "report/export/check_json.h"
#include "tests/test.h"
#include "tests/unit/report/export_fixture.h"

static const struct export_options options = { .totals = true };

static int check(const char *text)
{
	struct json_findings found;

	return json_check((struct bytes){ (const uint8_t *)text, strlen(text) }, "test", &found, NULL);
}

static char *exported(const char *format)
{
	struct fixture fixture;

	fixture_init(&fixture);
	char *text = fixture_export(&fixture, format, &options, NULL);
	fixture_done(&fixture);
	return text;
}

/* The document with the first `from` replaced by `to`, which has the same length. */
static void expect_refused(const char *format, const char *from, const char *to)
{
	char *text = exported(format), *at = strstr(text, from);

	CHECK_EQ(check(text), 0);
	CHECK(at != NULL);
	memcpy(at, to, strlen(to));
	if (check(text) != -EBADMSG)
		print_error("accepted with %s\n", to);
	CHECK_EQ(check(text), -EBADMSG);
	free(text);
}

TEST(check_accepts_what_we_write)
{
	char *document = exported("json"), *stream = exported("ndjson");

	CHECK_EQ(check(document), 0);
	CHECK_EQ(check(stream), 0);
	free(document);
	free(stream);
}

TEST(check_refuses_a_child_before_its_parent)
{
	expect_refused("json", "\"parent\":[-1,0,0,2", "\"parent\":[-1,0,2,2");
	expect_refused("ndjson", "\"parent\":[-1,0,0,2", "\"parent\":[-1,0,2,2");
}

TEST(check_refuses_another_major_version)
{
	expect_refused("json", "\"version\":\"1.2\",\"tool\"", "\"version\":\"2.1\",\"tool\"");
	expect_refused("ndjson", "\"version\":\"1.2\"", "\"version\":\"11.\"");
	expect_refused("json", "\"version\":", "\"revisio\":");
}

TEST(check_refuses_threads_that_do_not_add_up)
{
	expect_refused("json", "\"value\":[2,2000", "\"value\":[3,2000");
}

TEST(check_refuses_an_index_out_of_range)
{
	expect_refused("json", "\"frame\":[0,1", "\"frame\":[0,9");
	expect_refused("json", "\"tid\":[42,43]", "\"tid\":[42,4,]");
}

TEST(check_refuses_sums_that_do_not_agree)
{
	expect_refused("json", "\"exclusive\":{\"0\":[0,0,0,2", "\"exclusive\":{\"0\":[0,0,0,3");
	expect_refused("json", "\"inclusive\":{\"0\":[21", "\"inclusive\":{\"0\":[22");
	expect_refused("json", "\"quality\":{\"samples\":21", "\"quality\":{\"samples\":20");
}

TEST(check_refuses_stacks_that_did_not_end)
{
	expect_refused("json", "\"complete\":20,", "\"complete\":19,");
	expect_refused("ndjson", "\"stack_truncated\":0", "\"stack_truncated\":1");
}

TEST(check_refuses_missing_files_and_loops)
{
	expect_refused("json", "\"dir\":[-1", "\"dir\":[99");
	expect_refused("json", "\"digest\":[null]", "\"digest\":[true]");
	expect_refused("json", "\"loop_parent\":[-1", "\"loop_parent\":[99");
	expect_refused("json", "\"loop_depth\":[0,", "\"loop_depth\":[  ");
}

TEST(check_refuses_another_schema)
{
	expect_refused("json", "\"cpprof-profile\"", "\"cpprof-profilo\"");
}

TEST(check_refuses_every_truncated_document)
{
	char *text = exported("json");
	size_t len = strlen(text);

	for (size_t cut = 1; cut + 1 < len; cut += 7) {
		struct json_findings found;
		CHECK_EQ(json_check((struct bytes){ (const uint8_t *)text, cut }, "test", &found, NULL),
			 -EBADMSG);
	}
	free(text);
}

TEST(check_refuses_a_stream_without_its_end)
{
	char *text = exported("ndjson"), *end = strstr(text, "{\"t\":\"end\"");

	*end = '\0';
	CHECK_EQ(check(text), -EBADMSG);
	free(text);
}

TEST(check_ignores_unknown_members)
{
	char *text = exported("json"), *longer = NULL;

	CHECK(asprintf(&longer, "{\"later\":{\"a\":[1,{}]},%s", text + 1) > 0);
	CHECK_EQ(check(longer), 0);
	free(longer);
	free(text);
}
