/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/outermost.h"

#include "base/cleanup.h"
#include "report/tree/preorder.h"

void outermost_visit(const struct outermost *outermost, const struct scope_tree *tree, size_t n)
{
	CLEANUP(preorder_done) struct preorder preorder;
	/* By group: the end of the subtree below the last scope that was counted. */
	CLEANUP(freep) uint32_t *covered = alloc_zero(outermost->n_groups + 1, sizeof(*covered));

	preorder_init(&preorder, tree, n);
	for (uint32_t number = 0; number < n; number++) {
		uint32_t scope = preorder.scope[number], group = outermost->group(outermost->context, scope);
		if (group == GROUP_NONE || number < covered[group])
			continue;
		covered[group] = preorder.end[scope];
		outermost->count(outermost->context, scope, group);
	}
}
