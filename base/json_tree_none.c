/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_tree in a build without cJSON: there is never a tree, so no function that reads one is ever called.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/json_tree.h"

bool json_tree_is_there(void)
{
	return false;
}

int json_tree_parse(struct bytes text, const char *name, struct json_node **ret_root, struct diag *diag)
{
	(void)text;
	(void)ret_root;
	diag_set(diag, -ENOSYS, "cannot read '%s'", name);
	diag_why(diag, "this cpprof was built without cJSON");
	return -ENOSYS;
}

void json_tree_free(struct json_node *root)
{
	(void)root;
}

enum json_kind json_node_kind(const struct json_node *node)
{
	(void)node;
	abort();
}

const struct json_node *json_node_first(const struct json_node *node)
{
	(void)node;
	abort();
}

const struct json_node *json_node_next(const struct json_node *node)
{
	(void)node;
	abort();
}

const struct json_node *json_node_get(const struct json_node *node, const char *name)
{
	(void)node;
	(void)name;
	abort();
}

const char *json_node_name(const struct json_node *node)
{
	(void)node;
	abort();
}

const char *json_node_text(const struct json_node *node)
{
	(void)node;
	abort();
}

bool json_node_bool(const struct json_node *node, bool *ret)
{
	(void)node;
	(void)ret;
	abort();
}

bool json_node_number(const struct json_node *node, double *ret)
{
	(void)node;
	(void)ret;
	abort();
}

bool json_node_integer(const struct json_node *node, int64_t *ret)
{
	(void)node;
	(void)ret;
	abort();
}
