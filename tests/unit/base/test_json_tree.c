/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json_tree.h"

/* Parses; returns NULL if the text is refused, with the reason in the diag. */
static struct json_node *parse(const char *text, struct diag *diag)
{
	struct json_node *root = NULL;

	*diag = (struct diag){ 0 };
	if (!json_tree_is_there())
		SKIP("this build has no cJSON");
	int error = json_tree_parse((struct bytes){ (const uint8_t *)text, strlen(text) }, "some.json", &root,
				    diag);
	CHECK_EQ(error, diag->error);
	CHECK((error == 0) == (root != NULL));
	return root;
}

static void check_refused(const char *text, int error, const char *why)
{
	struct diag diag;

	CHECK(parse(text, &diag) == NULL);
	CHECK_EQ(diag.error, error);
	CHECK(strstr(diag.what, "some.json") != NULL);
	if (!strstr(diag.why, why))
		CHECK_STR(diag.why, why);
}

TEST(json_tree_returns_what_was_written)
{
	struct diag diag;
	struct json_node *root = parse("{\"t\": \"a\\u00e9\\n\", \"n\": -2.5, \"b\": true, \"z\": null, "
				       "\"l\": [1, \"x\"], \"o\": {}}",
				       &diag);
	const struct json_node *list = json_node_get(root, "l");
	double number;
	bool flag;

	CHECK_EQ(json_node_kind(root), JSON_KIND_OBJECT);
	CHECK_STR(json_node_text(json_node_get(root, "t")), "a\xc3\xa9\n");
	CHECK(json_node_number(json_node_get(root, "n"), &number) && number == -2.5);
	CHECK(json_node_bool(json_node_get(root, "b"), &flag) && flag);
	CHECK_EQ(json_node_kind(json_node_get(root, "z")), JSON_KIND_NULL);
	CHECK_EQ(json_node_kind(list), JSON_KIND_ARRAY);
	CHECK_STR(json_node_name(list), "l");
	CHECK_STR(json_node_text(json_node_next(json_node_first(list))), "x");
	CHECK(json_node_next(json_node_next(json_node_first(list))) == NULL);
	CHECK(json_node_first(json_node_get(root, "o")) == NULL);
	CHECK(json_node_get(root, "T") == NULL);
	CHECK(json_node_get(list, "l") == NULL);
	CHECK(json_node_text(list) == NULL && !json_node_bool(list, &flag) &&
	      !json_node_number(list, &number));
	json_tree_free(root);
}

TEST(json_tree_returns_only_exact_integers)
{
	static const struct {
		const char *text;
		bool is_exact;
		int64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "-7", true, -7 },
		{ "1e3", true, 1000 },
		{ "9007199254740991", true, 9007199254740991 },
		{ "-9007199254740991", true, -9007199254740991 },
		{ "9007199254740992", false, 0 }, /* 2^53: 2^53 + 1 is rounded to the same double */
		{ "9007199254740993", false, 0 },
		{ "-9007199254740992", false, 0 },
		{ "18446744073709551616", false, 0 },
		{ "1e400", false, 0 },
		{ "1.5", false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag diag;
		struct json_node *root = parse(cases[i].text, &diag);
		int64_t value = 0;
		CHECK(root != NULL);
		CHECK_EQ(json_node_integer(root, &value), cases[i].is_exact);
		CHECK_EQ(value, cases[i].value);
		json_tree_free(root);
	}
}

TEST(json_tree_reports_the_position_of_an_error)
{
	check_refused("", -EINVAL, "line 1, column 1");
	check_refused("{\n  \"a\": 01\n}", -EINVAL, "line 2");
	check_refused("{\"a\": 1} x", -EINVAL, "line 1, column 10");
	check_refused("{\"a\": 1,}", -EINVAL, "line 1");
	check_refused("{'a': 1}", -EINVAL, "line 1");
	check_refused("\"\xff\"", -EINVAL, "not valid UTF-8");
	check_refused("{\"a\": \"x\\u0000y\"}", -EINVAL, "zero byte");
	check_refused("{\"a\\u0000\": 1}", -EINVAL, "zero byte");
	check_refused("{\"a\": 1, \"b\": {\"c\": 1, \"d\": 2, \"c\": 3}}", -EINVAL, "\"c\" occurs twice");
	check_refused("\"\\ud800\"", -EINVAL, "not valid JSON");
}

TEST(json_tree_reads_an_escaped_backslash)
{
	struct diag diag;
	struct json_node *root = parse("\"\\\\u0000\"", &diag);

	CHECK(root != NULL);
	CHECK_STR(json_node_text(root), "\\u0000");
	json_tree_free(root);
}

TEST(json_tree_is_bounded_in_size_and_depth)
{
	char *text = alloc_zero(1, JSON_TREE_SIZE + 2);
	struct diag diag;

	memset(text, ' ', JSON_TREE_SIZE);
	text[0] = '1';
	struct json_node *root = parse(text, &diag);
	CHECK(root != NULL);
	json_tree_free(root);
	text[JSON_TREE_SIZE] = ' ';
	check_refused(text, -E2BIG, "larger than");

	memset(text, 0, JSON_TREE_SIZE + 2);
	memset(text, '[', JSON_TREE_DEPTH);
	memset(text + JSON_TREE_DEPTH, ']', JSON_TREE_DEPTH);
	root = parse(text, &diag);
	CHECK(root != NULL);
	json_tree_free(root);
	memset(text, '[', JSON_TREE_DEPTH + 1);
	memset(text + JSON_TREE_DEPTH + 1, ']', JSON_TREE_DEPTH + 1);
	check_refused(text, -E2BIG, "too deeply");
	memset(text, '[', JSON_TREE_SIZE); /* unterminated and too deep: the depth is checked first */
	check_refused(text, -E2BIG, "too deeply");
	free(text);
}

TEST(json_tree_says_when_it_was_built_without_cjson)
{
	struct json_node *root = NULL;
	struct diag diag = { 0 };

	if (json_tree_is_there())
		SKIP("this build has cJSON");
	CHECK_EQ(json_tree_parse((struct bytes){ (const uint8_t *)"{}", 2 }, "some.json", &root, &diag),
		 -ENOSYS);
	CHECK(root == NULL && strstr(diag.why, "without cJSON"));
}
