/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/compress.h"
#include "report/limit.h"
#include "report/tree/flatten.h"
#include "tests/support/tree_sums.h"
#include "tests/test.h"
#include "tests/unit/report/export_fixture.h"

static const struct export_options samples = { .metric = 0, .totals = true };

static void expect_text(const char *format, const char *want)
{
	struct fixture fixture;

	fixture_init(&fixture);
	char *got = fixture_export(&fixture, format, &samples, NULL);
	CHECK_STR(got, want);
	free(got);
	fixture_done(&fixture);
}

static void expect_contains(const char *format, const struct export_options *options, const char *want)
{
	struct fixture fixture;

	fixture_init(&fixture);
	char *got = fixture_export(&fixture, format, options, NULL);
	if (!strstr(got, want))
		print_error("no\n  %s\nin\n  %s\n", want, got);
	CHECK(strstr(got, want) != NULL);
	free(got);
	fixture_done(&fixture);
}

TEST(folded_lists_every_path_once)
{
	expect_text("folded", "app;main;[loop app.c:12] 2\n"
			      "app;main;[loop app.c:12];dot 13\n"
			      "app;main;main;evil:\"</script>?\\?__proto__ 5\n"
			      "app;<incomplete>;main 1\n");
}

TEST(rows_are_in_depth_first_order_with_one_root)
{
	struct fixture fixture;

	fixture_init(&fixture);
	char *got = fixture_export(&fixture, "rows", &samples, NULL);
	CHECK(strncmp(got, "[{\"level\":0,\"label\":\"total\",\"value\":21,\"self\":0,", 48) == 0);
	CHECK(strstr(strstr(got, "\"level\":1,\"label\":\"main\",\"value\":20"),
		     "\"level\":2,\"label\":\"[loop app.c:12]\",\"value\":15"));
	CHECK(strstr(got, "\"level\":1,\"label\":\"<incomplete>\",\"value\":1"));
	free(got);
	fixture_done(&fixture);
}

TEST(json_columns_hold_the_tree)
{
	expect_contains("json", &samples, "\"parent\":[-1,0,0,2,3,2,5,1]");
	expect_contains("json", &samples, "\"exclusive\":{\"0\":[0,0,0,2,13,0,5,1],");
	expect_contains("json", &samples, "\"inclusive\":{\"0\":[21,1,20,15,13,5,5,1],");
	expect_contains("json", &samples,
			"\"relation\":[\"none\",\"none\",\"call\",\"lexical\",\"inline\",\"call\",\"call\","
			"\"call\"]");
	expect_contains("json", &samples, "\"build_id\":\"abcd\"");
	expect_contains("json", &samples, "\"by_end\":{\"no_recipe\":1}");
	expect_contains("json", &samples, "evil;\\\"</script>\\n\\\\\xef\xbf\xbd__proto__");
}

TEST(json_points_have_the_lines)
{
	expect_contains("json", &samples, "\"points\":{\"node\":[4,4,4,4]");
}

TEST(ndjson_ends_with_its_end_record)
{
	struct fixture fixture;

	fixture_init(&fixture);
	char *got = fixture_export(&fixture, "ndjson", &samples, NULL);
	CHECK(strncmp(got, "{\"t\":\"header\",\"schema\":\"cpprof-profile\"", 38) == 0);
	CHECK(strstr(got, "\n{\"t\":\"end\",\"nodes\":8,\"complete\":true}\n") != NULL);
	free(got);
	fixture_done(&fixture);
}

TEST(wide_ndjson_has_one_line_per_node)
{
	struct export_options wide = { .wide = true };

	expect_contains("ndjson", &wide,
			"{\"t\":\"node\",\"id\":4,\"parent\":3,\"kind\":\"inline\",\"relation\":\"inline\","
			"\"name\":\"dot\"");
	expect_contains("ndjson", &wide, "\"self\":{\"samples\":13,\"cpu-clock\":13000}");
}

TEST(top_counts_recursion_once)
{
	expect_contains("top", &samples,
			"{\"function\":\"main\",\"kind\":\"function\",\"module\":\"app\",\"file\":\"/src/"
			"app.c\",\"line\":10,"
			"\"self\":3,\"self_pct\":14.28571429,\"total\":21,\"total_pct\":100");
}

TEST(speedscope_lists_stacks_root_first)
{
	expect_contains("speedscope", &samples,
			"\"samples\":[[2,3],[2,3,4],[2,2,5],[1,2]],\"weights\":[2,13,5,1]");
	expect_contains("speedscope", &samples, "\"name\":\"samples: worker tid 43 (aggregated)\"");
}

/* A minimal reader for the wire format: sums of the values of all samples. */
static uint64_t varint(struct reader *r)
{
	return read_uleb(r);
}

static void sum_sample(struct bytes sample, uint64_t sums[2], size_t *locations)
{
	struct reader r = reader_of(sample);

	while (reader_left(&r)) {
		uint64_t key = varint(&r);
		struct bytes body = read_bytes(&r, varint(&r));
		struct reader inner = reader_of(body);
		for (size_t i = 0; (key >> 3 == 1 || key >> 3 == 2) && reader_left(&inner); i++) {
			uint64_t value = varint(&inner);
			if (key >> 3 == 2)
				sums[i] += value;
			else
				++*locations;
		}
	}
	CHECK(!r.failed);
}

TEST(pprof_sums_equal_the_tree)
{
	struct fixture fixture;
	struct buffer plain;
	uint64_t sums[2] = { 0 };
	size_t locations = 0, n_samples = 0, n_strings = 0, len;

	fixture_init(&fixture);
	char *got = fixture_export(&fixture, "pprof", &samples, &len);
	CHECK_EQ(decompress_zlib((struct bytes){ (uint8_t *)got, len }, 1 << 20, &plain), 0);
	struct reader r = reader_of((struct bytes){ plain.at, plain.len });
	while (reader_left(&r)) {
		uint64_t key = varint(&r);
		if ((key & 7) == 0) {
			varint(&r);
			continue;
		}
		struct bytes body = read_bytes(&r, varint(&r));
		if (key >> 3 == 2) {
			sum_sample(body, sums, &locations);
			n_samples++;
		}
		n_strings += key >> 3 == 6;
		if (n_strings == 1 && key >> 3 == 6)
			CHECK_EQ(body.len, 0);
	}
	CHECK(!r.failed);
	CHECK_EQ(sums[0], 21);
	CHECK_EQ(sums[1], 21000);
	CHECK_EQ(n_samples, 5);
	CHECK_EQ(locations, 1 + 1 + 1 + 3 + 2); /* loop; dot, twice; main main evil; incomplete main */
	free(plain.at);
	free(got);
	fixture_done(&fixture);
}

TEST(a_limited_tree_keeps_its_totals)
{
	struct fixture fixture;
	struct scope_tree *tree = &fixture.tree;

	fixture_init(&fixture);
	size_t n = tree->scopes.n;
	scope_tree_limit(tree, 0, 3);
	uint64_t *self = sums_self(tree), *inclusive = sums_inclusive(tree, self);
	CHECK_EQ(inclusive[0], 21);
	CHECK_EQ(inclusive[1], 21000);
	CHECK(tree->scopes.n < n);
	for (size_t i = 1; i < tree->scopes.n; i++)
		CHECK(tree->scopes.at[i].parent < i);
	free(self);
	free(inclusive);
	fixture_done(&fixture);
}

TEST(the_longest_suffix_determines_the_format)
{
	CHECK_STR(exporter_for_file("out.json")->name, "json");
	CHECK_STR(exporter_for_file("x.speedscope.json")->name, "speedscope");
	CHECK_STR(exporter_for_file("x.top.json")->name, "top");
	CHECK_STR(exporter_for_file("x.pb.gz")->name, "pprof");
	CHECK_STR(exporter_for_file("x.json.gz")->name, "json");
	CHECK_STR(exporter_for_file("x.prof")->name, "llvm-sample");
	CHECK(exporter_instead_of_profile("x.prof") == NULL);
	CHECK_STR(exporter_instead_of_profile("x.afdo")->name, "llvm-sample");
	CHECK_STR(exporter_instead_of_profile("x.html")->name, "html");
	CHECK(exporter_for_file("x.gz") == NULL);
	CHECK(exporter_for_file("x.txt") == NULL);
	CHECK(exporter_named("nothing") == NULL);
}
