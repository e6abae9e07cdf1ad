/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/push_request.h"

#include <string.h>

#include "tests/test.h"

/* The name of the file, and back. */
static struct push_item same_item(const char *service, bool is_otlp)
{
	struct push_item item = { .start_ms = 1700000000000, .end_ms = 1700000600000, .is_otlp = is_otlp },
			 back;
	struct text name = { 0 };

	snprintf(item.service, sizeof(item.service), "%s", service);
	push_item_name(&item, &name);
	CHECK(!strchr(name.at, '/'));
	CHECK(push_item_parse(name.at, &back));
	CHECK_EQ(back.start_ms, item.start_ms);
	CHECK_EQ(back.end_ms, item.end_ms);
	CHECK(back.is_otlp == is_otlp);
	text_done(&name);
	return back;
}

TEST(the_file_name_of_a_queued_profile_encodes_any_process_name)
{
	static const char *const services[] = { "nginx",     "1234", "[kernel threads]", "../../etc/passwd",
						"a-b.pprof", "%41",  "\xff\x01 x",       "a&name=b" };

	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		struct push_item back = same_item(services[i], i % 2);
		CHECK(strcmp(back.service, services[i]) == 0);
	}
}

TEST(foreign_files_in_the_queue_are_not_sent)
{
	static const char *const names[] = { "",
					     ".",
					     "..",
					     "x.pprof",
					     "1-2-.pprof",
					     "1-2.pprof",
					     "1-2-a.pprof.new",
					     "1-2-%4.pprof",
					     "1-2-%zz.otlp",
					     "1-2-% 4.otlp",
					     "1--2-a.otlp",
					     "-1-2-a.otlp",
					     "1-2-a" };
	struct push_item item;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(!push_item_parse(names[i], &item));
}

static void url_is(const char *url, bool is_otlp, const char *want)
{
	struct push_item item = { 1700000000123, 1700000600000, "a b", is_otlp };
	struct push_request request;
	struct text profile = { 0 };

	text_printf(&profile, "profile");
	push_request_make(url, &item, "box", &profile, &request);
	CHECK(strcmp(request.url.at, want) == 0);
	push_request_done(&request);
	text_done(&profile);
}

TEST(the_path_of_a_url_determines_the_protocol)
{
	static const char ingest[] =
		"http://h:1/ingest?name=a%20b%7Bhost%3Dbox%7D&from=1700000000&until=1700000600"
		"&format=pprof&spyName=cpprof";

	url_is("http://h:1", false, ingest);
	url_is("http://h:1/", false, ingest);
	url_is("http://h:1/ingest", false, ingest);
	url_is("http://h:1/push.v1.PusherService/Push", false, "http://h:1/push.v1.PusherService/Push");
	url_is("http://h:1/api/profiles/writeraw", false, "http://h:1/api/profiles/writeraw");
	url_is("http://h:1", true, "http://h:1/v1development/profiles");
	url_is("http://h:1/v1development/profiles", true, "http://h:1/v1development/profiles");
}

TEST(only_valid_urls_are_accepted_and_passwords_are_not_shown)
{
	static const char *const wrong[] = { "",           "h:1",           "ftp://h",   "http://",
					     "https:///x", "http://h/?a=b", "http://h\n" };
	struct text place = { 0 };
	struct diag diag = { 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(push_check_url(wrong[i], &diag) < 0);
	CHECK_EQ(push_check_url("https://user:secret@h:1/x", &diag), 0);
	push_place("https://user:secret@h:1/x", &place);
	CHECK(strcmp(place.at, "https://h:1/x") == 0);
	text_clear(&place);
	push_place("http://h/a@b", &place);
	CHECK(strcmp(place.at, "http://h/a@b") == 0);
	text_done(&place);
}
