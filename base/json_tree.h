/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_tree: a small JSON document, whole in memory: settings and the like, which people write and which are
 * looked into by name. Large documents are streamed (json_reader.h).
 *
 * Read by cJSON, after json_reader has found the text sound, small and shallow: what RFC 8259 does not allow,
 * a name that occurs twice in one object and a text with a zero byte in it are refused with their place.
 * Without cJSON (json_tree_is_there) every document is refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/diag.h"

#define JSON_TREE_SIZE 65536 /* bytes of the longest document */
#define JSON_TREE_DEPTH 8    /* objects and arrays within each other */

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
/* `name` is said in the diag. -EINVAL bad, -E2BIG too large or too deep, -ENOSYS built without cJSON. */
int json_tree_parse(struct bytes text, const char *name, struct json_node **ret_root, struct diag *diag);
/* Takes NULL, too. */
void json_tree_free(struct json_node *root);

enum json_kind json_node_kind(const struct json_node *node);
/* What is in an object or array, in the order written: for (n = json_node_first(o); n; n =
 * json_node_next(n)). */
const struct json_node *json_node_first(const struct json_node *node);
const struct json_node *json_node_next(const struct json_node *node);
/* NULL if there is none, or this is no object. */
const struct json_node *json_node_get(const struct json_node *node, const char *name);
/* Of a member; NULL of the root and of what is in an array. */
const char *json_node_name(const struct json_node *node);
/* NULL if it is none. */
const char *json_node_text(const struct json_node *node);
/* Each false if it is nothing of the kind. */
bool json_node_bool(const struct json_node *node, bool *ret);
bool json_node_number(const struct json_node *node, double *ret);
/* An exact one: cJSON keeps numbers as double, so there is none from 2^53 on, which 2^53+1 looks like. */
bool json_node_integer(const struct json_node *node, int64_t *ret);
