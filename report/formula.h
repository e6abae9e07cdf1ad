/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula: a small expression over metrics, such as "ipc = instructions / cycles", shown as a column. The
 * language is that of the HTML report (html/page/formula.js):
 *
 *     [label =] sum      sum: product {(+|-) product}      product: factor {(*|/) factor}
 *     factor: number | (sum) | -factor | metric | self(metric) | all(metric)
 *
 * A metric alone is its total; self() is its self cost, all() that of everything shown. The longest matching
 * name of a metric is used, so that "cache-misses" is one; quotes can be used to prevent that.
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
	uint32_t metric; /* if the formula is a single metric, so that its amounts have a unit; otherwise
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

/* -EINVAL with a diag that contains the error and its position. */
int formula_parse(const char *text, const struct profile *profile, struct formula *ret, struct diag *diag);
void formula_done(struct formula *formula);
/* Not finite if there is no value: 0 divided by 0. */
double formula_value(const struct formula *formula, const struct formula_costs *costs);

/* Common ratios, by their number; NULL = no more. Those whose events a profile does not have do not parse. */
const char *formula_usual(size_t number);
