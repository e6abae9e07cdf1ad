/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derived.h"

#include <stdlib.h>
#include <string.h>

static bool derived_has(const struct derived *derived, const char *label)
{
	for (size_t i = 0; i < derived->of.n; i++)
		if (strcmp(derived->of.at[i].label, label) == 0)
			return true;
	return false;
}

/* One of each name: requested ones come first. */
static int derived_add(struct derived *derived, const struct profile *profile, const char *text,
		       struct diag *diag)
{
	struct formula formula;
	int error = formula_parse(text, profile, &formula, diag);

	if (error)
		return error;
	if (derived_has(derived, formula.label)) {
		formula_done(&formula);
		return 0;
	}
	vec_push(&derived->of, formula);
	vec_push(&derived->texts, text);
	return 0;
}

int derived_make(struct derived *derived, const struct profile *profile, char *const *asked, size_t n,
		 struct diag *diag)
{
	struct diag ignored = { 0 };
	int error = 0;

	*derived = (struct derived){ 0 };
	for (size_t i = 0; !error && i < n; i++)
		error = derived_add(derived, profile, asked[i], diag);
	for (size_t i = 0; !error && formula_usual(i); i++)
		derived_add(derived, profile, formula_usual(i), &ignored);
	if (error)
		derived_done(derived);
	return error;
}

void derived_done(struct derived *derived)
{
	for (size_t i = 0; i < derived->of.n; i++)
		formula_done(&derived->of.at[i]);
	vec_done(&derived->of);
	vec_done(&derived->texts);
}

static uint64_t derived_all(const void *context, uint32_t metric)
{
	const struct document *document = context;

	return metric < document->n_metrics ? document_inclusive(document, 0, metric) : 0;
}

double derived_value(const struct derived *derived, size_t formula, const struct document *document,
		     const uint64_t *self, const uint64_t *total)
{
	return formula_value(&derived->of.at[formula],
			     &(struct formula_costs){ self, total, derived_all, document });
}

void derived_nodes_init(struct derived_nodes *nodes, const struct derived *derived,
			struct document_cursor *cursor)
{
	size_t n = cursor->document->profile->metrics.n + 1;

	*nodes = (struct derived_nodes){ derived, cursor, alloc_zero(n, sizeof(uint64_t)),
					 alloc_zero(n, sizeof(uint64_t)) };
}

void derived_nodes_done(struct derived_nodes *nodes)
{
	free(nodes->self);
	free(nodes->total);
}

double derived_node(struct derived_nodes *nodes, size_t formula, size_t node)
{
	const struct document *document = nodes->cursor->document;

	for (uint32_t m = 0; m < document->n_metrics && m < document->profile->metrics.n; m++) {
		nodes->self[m] = document_self(nodes->cursor, node, m);
		nodes->total[m] = document_inclusive(document, node, m);
	}
	return derived_value(nodes->derived, formula, document, nodes->self, nodes->total);
}
