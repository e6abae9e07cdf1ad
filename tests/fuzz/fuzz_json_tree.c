/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json_tree: a small document whose nodes are all visited; none is nested deeper than allowed, and every
 * exact integer is one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct json_node *node, unsigned depth)
{
	volatile size_t sum = 0;
	int64_t integer;
	double number;

	if (depth > JSON_TREE_DEPTH)
		abort();
	if (json_node_text(node))
		sum += strlen(json_node_text(node));
	if (json_node_integer(node, &integer) &&
	    (!json_node_number(node, &number) || (double)integer != number))
		abort();
	for (const struct json_node *child = json_node_first(node); child; child = json_node_next(child)) {
		if (json_node_name(child) && json_node_get(node, json_node_name(child)) != child)
			abort(); /* names are unique */
		look_at(child, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_node *root = NULL;
	struct diag diag = { 0 };

	if (json_tree_parse((struct bytes){ data, size }, "fuzz", &root, &diag) == 0)
		look_at(root, 0);
	json_tree_free(root);
	return 0;
}
