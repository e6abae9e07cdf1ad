/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/preorder.h"

#include "base/cleanup.h"

void preorder_init(struct preorder *preorder, const struct scope_tree *tree, size_t n)
{
	CLEANUP(freep) uint32_t *next = alloc_zero(n, sizeof(*next)); /* the next free number below a scope */

	preorder->number = alloc_zero(n, sizeof(*preorder->number));
	preorder->end = alloc_zero(n, sizeof(*preorder->end));
	preorder->scope = alloc_zero(n, sizeof(*preorder->scope));

	/* Sizes of subtrees from the leaves up, in end[]; then numbers from the root down. */
	for (size_t i = n; i-- > 0;) {
		preorder->end[i]++;
		if (i > 0)
			preorder->end[tree->scopes.at[i].parent] += preorder->end[i];
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t *free_number = &next[tree->scopes.at[i].parent];
		uint32_t size = preorder->end[i];
		preorder->number[i] = i ? *free_number : 0;
		*free_number += i ? size : 0;
		next[i] = preorder->number[i] + 1;
		preorder->end[i] = preorder->number[i] + size;
		preorder->scope[preorder->number[i]] = (uint32_t)i;
	}
}

void preorder_done(struct preorder *preorder)
{
	free(preorder->number);
	free(preorder->end);
	free(preorder->scope);
	*preorder = (struct preorder){ 0 };
}
