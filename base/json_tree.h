/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_tree: a small JSON document in memory, such as the settings, accessed by name. Large documents are
 * streamed (json_reader.h).
 *
 * It is parsed by cJSON after json_reader has checked the text: invalid JSON (RFC 8259), names that occur
 * twice in one object, and texts with a zero byte are refused with their position, and so are large or deeply
 * nested documents. Without cJSON (json_tree_is_there) every document is refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/diag.h"

#define JSON_TREE_SIZE 65536 /* bytes of the largest document */
#define JSON_TREE_DEPTH 8    /* nested objects and arrays */

enum json_kind {
	JSON_KIND_OBJECT,
	JSON_KIND_ARRAY,
	JSON_KIND_TEXT,
	JSON_KIND_NUMBER,
	JSON_KIND_BOOL,
	JSON_KIND_NULL,
};

/* The root is the document's. Nodes and their texts live as long as it does. */
struct json_node;

bool json_tree_is_there(void);
/* `name` is used in error messages. -EINVAL invalid, -E2BIG too large or too deep, -ENOSYS built without
 * cJSON. */
int json_tree_parse(struct bytes text, const char *name, struct json_node **ret_root, struct diag *diag);
/* root may be NULL. */
void json_tree_free(struct json_node *root);

enum json_kind json_node_kind(const struct json_node *node);
/* Iterates over the members of an object or array, in the order written: for (n = json_node_first(o); n; n =
 * json_node_next(n)). */
const struct json_node *json_node_first(const struct json_node *node);
const struct json_node *json_node_next(const struct json_node *node);
/* NULL if there is none, or this is not an object. */
const struct json_node *json_node_get(const struct json_node *node, const char *name);
/* The name of a member; NULL for the root and for elements of an array. */
const char *json_node_name(const struct json_node *node);
/* NULL if it is not a string. */
const char *json_node_text(const struct json_node *node);
/* Each returns false if the node is of another type. */
bool json_node_bool(const struct json_node *node, bool *ret);
bool json_node_number(const struct json_node *node, double *ret);
/* Exact integers only: cJSON stores numbers as double, so values from 2^53 on are refused, because 2^53+1
 * cannot be distinguished from it. */
bool json_node_integer(const struct json_node *node, int64_t *ret);
