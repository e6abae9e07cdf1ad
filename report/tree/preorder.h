/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preorder: a number for every scope such that a subtree is a range of numbers. Whether one scope is below
 * another, and so whether a recursive call was already counted, is then a comparison.
 */
#pragma once

#include "structure/scope.h"

struct preorder {
	uint32_t *number; /* by scope */
	uint32_t *end;    /* by scope: one past the last number of its subtree */
	uint32_t *scope;  /* by number */
};

/* For the first n scopes: all of them, or those that are not lines. */
void preorder_init(struct preorder *preorder, const struct scope_tree *tree, size_t n);
void preorder_done(struct preorder *preorder);
