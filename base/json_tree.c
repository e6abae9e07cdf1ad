/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_tree: the only file that uses cJSON. A node is a cJSON item under another name.
 */
#include "base/json_tree.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/json_reader.h"

#define EXACT 9007199254740992.0 /* 2^53 */

static const cJSON *json_tree_item(const struct json_node *node)
{
	return (const cJSON *)node;
}

static const struct json_node *json_tree_node(const cJSON *item)
{
	return (const struct json_node *)item;
}

bool json_tree_is_there(void)
{
	return true;
}

/* Escapes as they were written: a zero byte can only be written as \u0000. */
static bool json_tree_has_zero(struct bytes text)
{
	for (size_t i = 0; i + 1 < text.len; i++) {
		if (text.at[i] != '\\')
			continue;
		if (text.len - i >= 6 && memcmp(text.at + i, "\\u0000", 6) == 0)
			return true;
		i++; /* an escaped character does not start an escape */
	}
	return false;
}

/* Line and column are more helpful than an offset to somebody with an editor. */
static int json_tree_refuse(struct bytes text, uint64_t offset, int error, const char *name, const char *why,
			    struct diag *diag)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < text.len && i < offset; i++) {
		column = text.at[i] == '\n' ? 1 : column + 1;
		line += text.at[i] == '\n';
	}
	diag_set(diag, error, "cannot read '%s'", name);
	diag_why(diag, "line %zu, column %zu: %s", line, column, why);
	return error;
}

/* Before cJSON sees it: is it well-formed, and not nested too deeply? */
static int json_tree_check(struct bytes text, const char *name, struct diag *diag)
{
	struct json_reader reader;

	json_reader_init(&reader, text, false);
	for (;;) {
		enum json_event event = json_reader_next(&reader);
		uint64_t at = json_reader_offset(&reader);

		if (event == JSON_END && !reader.has_value)
			return json_tree_refuse(text, at, -EINVAL, name, "it is empty", diag);
		if (event == JSON_END)
			return 0;
		if (event == JSON_BAD)
			return json_tree_refuse(text, at, -EINVAL, name, reader.why, diag);
		if (reader.depth > JSON_TREE_DEPTH)
			return json_tree_refuse(text, at, -E2BIG, name, "it is nested too deeply", diag);
		if ((event == JSON_NAME || event == JSON_STRING) && json_tree_has_zero(reader.text))
			return json_tree_refuse(text, at, -EINVAL, name, "a string contains a zero byte",
						diag);
	}
}

/* A name that occurs twice in one object of the tree; NULL if none does. Recurses as deep as the tree. */
static const char *json_tree_find_double(const cJSON *item)
{
	for (const cJSON *a = item->child; a; a = a->next) {
		for (const cJSON *b = a->next; b && cJSON_IsObject(item); b = b->next)
			if (strcmp(a->string, b->string) == 0)
				return a->string;
		const char *found = json_tree_find_double(a);
		if (found)
			return found;
	}
	return NULL;
}

int json_tree_parse(struct bytes text, const char *name, struct json_node **ret_root, struct diag *diag)
{
	if (text.len > JSON_TREE_SIZE) {
		diag_set(diag, -E2BIG, "cannot read '%s'", name);
		diag_why(diag, "it is larger than %d bytes", JSON_TREE_SIZE);
		return -E2BIG;
	}
	int error = json_tree_check(text, name, diag);
	if (error < 0)
		return error;
	cJSON *root = cJSON_ParseWithLength((const char *)text.at, text.len);
	if (!root) {
		diag_set(diag, -EINVAL, "cannot read '%s'", name);
		diag_why(diag, "it is not valid JSON");
		return -EINVAL;
	}
	const char *twice = json_tree_find_double(root);
	if (twice) {
		diag_set(diag, -EINVAL, "cannot read '%s'", name);
		diag_why(diag, "\"%s\" occurs twice in one object", twice);
		cJSON_Delete(root);
		return -EINVAL;
	}
	*ret_root = (struct json_node *)root;
	return 0;
}

void json_tree_free(struct json_node *root)
{
	cJSON_Delete((cJSON *)root);
}

enum json_kind json_node_kind(const struct json_node *node)
{
	const cJSON *item = json_tree_item(node);

	if (cJSON_IsObject(item))
		return JSON_KIND_OBJECT;
	if (cJSON_IsArray(item))
		return JSON_KIND_ARRAY;
	if (cJSON_IsString(item))
		return JSON_KIND_TEXT;
	if (cJSON_IsNumber(item))
		return JSON_KIND_NUMBER;
	return cJSON_IsBool(item) ? JSON_KIND_BOOL : JSON_KIND_NULL;
}

const struct json_node *json_node_first(const struct json_node *node)
{
	return json_tree_node(json_tree_item(node)->child);
}

const struct json_node *json_node_next(const struct json_node *node)
{
	return json_tree_node(json_tree_item(node)->next);
}

const struct json_node *json_node_get(const struct json_node *node, const char *name)
{
	if (!cJSON_IsObject(json_tree_item(node)))
		return NULL;
	return json_tree_node(cJSON_GetObjectItemCaseSensitive(json_tree_item(node), name));
}

const char *json_node_name(const struct json_node *node)
{
	return json_tree_item(node)->string;
}

const char *json_node_text(const struct json_node *node)
{
	return cJSON_IsString(json_tree_item(node)) ? json_tree_item(node)->valuestring : NULL;
}

bool json_node_bool(const struct json_node *node, bool *ret)
{
	if (!cJSON_IsBool(json_tree_item(node)))
		return false;
	*ret = cJSON_IsTrue(json_tree_item(node));
	return true;
}

bool json_node_number(const struct json_node *node, double *ret)
{
	const cJSON *item = json_tree_item(node);

	if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
		return false;
	*ret = item->valuedouble;
	return true;
}

bool json_node_integer(const struct json_node *node, int64_t *ret)
{
	double value;

	if (!json_node_number(node, &value) || value <= -EXACT || value >= EXACT || value != trunc(value))
		return false;
	*ret = (int64_t)value;
	return true;
}
