/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula: a small expression over metrics, such as "ipc = instructions / cycles", as a column of its own.
 * The language is that of the HTML report (html/page/formula.js):
 *
 *     [label =] sum      sum: product {(+|-) product}      product: factor {(*|/) factor}
 *     factor: number | (sum) | -factor | metric | self(metric) | all(metric)
 *
 * A metric alone is its total; self() is without what is called, all() that of everything shown. Metrics are
 * known by their names, the longest that fits, so that "cache-misses" is one; quotes help where that is not
 * what was meant.
 */
#pragma once

#include "base/diag.h"
#include "profile/profile.h"

#define FORMULA_LONGEST 200

enum formula_op {
	FORMULA_NUMBER,
	FORMULA_TOTAL,
	FORMULA_SELF,
	FORMULA_ALL,
	FORMULA_ADD,
	FORMULA_SUBTRACT,
	FORMULA_MULTIPLY,
	FORMULA_DIVIDE,
	FORMULA_NEGATE,
};

struct formula {
	char *label;
	uint32_t metric; /* of a formula that is nothing else, so that its amounts have a unit; else
			    UINT32_MAX */
	VEC(struct formula_step {
		enum formula_op op;
		uint32_t metric;
		double number;
	})
	steps; /* operands before their operator */
};

struct formula_costs {
	const uint64_t *self, *total; /* by metric */
	uint64_t (*all)(const void *context, uint32_t metric);
	const void *context;
};

/* -EINVAL with a diag that says what is wrong and where. */
int formula_parse(const char *text, const struct profile *profile, struct formula *ret, struct diag *diag);
void formula_done(struct formula *formula);
/* Not finite where it has no value: nothing divided by nothing. */
double formula_value(const struct formula *formula, const struct formula_costs *costs);

/* Ratios that everybody asks for, by their number; NULL = there are no more. Those whose events a profile
 * does not have do not parse. */
const char *formula_usual(size_t number);
