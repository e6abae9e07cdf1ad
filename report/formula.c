/* SPDX-License-Identifier: Apache-2.0 */
#include "report/formula.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const char *at;
	const struct profile *profile;
	struct formula *formula;
	struct diag *diag;
	bool failed;
};

static void formula_fail(struct parser *p, const char *what)
{
	if (!p->failed)
		diag_why(p->diag, "%s at \"%.12s\"", what, *p->at ? p->at : "the end");
	p->failed = true;
}

static bool formula_take(struct parser *p, const char *token)
{
	size_t len = strlen(token);

	p->at += strspn(p->at, " ");
	if (p->failed || strncmp(p->at, token, len) != 0)
		return false;
	p->at += len;
	return true;
}

static void formula_expect(struct parser *p, const char *token)
{
	char what[32];

	if (formula_take(p, token))
		return;
	snprintf(what, sizeof(what), "'%s' is missing", token);
	formula_fail(p, what);
}

static void formula_push(struct parser *p, enum formula_op op, uint32_t metric, double number)
{
	vec_push(&p->formula->steps, (struct formula_step){ op, metric, number });
}

/* The longest metric name at this position, or the one in quotes; 0 = none. */
static size_t formula_match(const char *at, const char *name)
{
	size_t len = strlen(name);

	if (*at == '"')
		return strncmp(at + 1, name, len) == 0 && at[1 + len] == '"' ? len + 2 : 0;
	bool goes_on = strncmp(at, name, len) == 0 &&
		       (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == '.');
	return strncmp(at, name, len) == 0 && !goes_on ? len : 0;
}

static uint32_t formula_metric(struct parser *p)
{
	uint32_t found = UINT32_MAX;
	size_t longest = 0;

	p->at += strspn(p->at, " ");
	for (uint32_t i = 0; i < p->profile->metrics.n; i++) {
		size_t len = formula_match(p->at,
					   intern_text(&p->profile->strings, p->profile->metrics.at[i].name));
		if (len > longest) {
			longest = len;
			found = i;
		}
	}
	if (found == UINT32_MAX)
		formula_fail(p, "no such metric");
	p->at += longest;
	return found;
}

static void formula_sum(struct parser *p);

static bool formula_number(struct parser *p)
{
	char *end;

	p->at += strspn(p->at, " ");
	if (!isdigit((unsigned char)*p->at) || (p->at[0] == '0' && tolower((unsigned char)p->at[1]) == 'x'))
		return false;
	double number = strtod(p->at, &end);
	p->at = end;
	formula_push(p, FORMULA_NUMBER, 0, number);
	return true;
}

static void formula_factor(struct parser *p)
{
	if (p->failed || formula_number(p))
		return;
	if (formula_take(p, "(")) {
		formula_sum(p);
		formula_expect(p, ")");
		return;
	}
	if (formula_take(p, "-")) {
		formula_factor(p);
		formula_push(p, FORMULA_NEGATE, 0, 0);
		return;
	}
	enum formula_op op = formula_take(p, "self(")  ? FORMULA_SELF
			     : formula_take(p, "all(") ? FORMULA_ALL
						       : FORMULA_TOTAL;
	formula_push(p, op, formula_metric(p), 0);
	if (op != FORMULA_TOTAL)
		formula_expect(p, ")");
}

static void formula_product(struct parser *p)
{
	formula_factor(p);
	while (!p->failed) {
		bool is_times = formula_take(p, "*");
		if (!is_times && !formula_take(p, "/"))
			return;
		formula_factor(p);
		formula_push(p, is_times ? FORMULA_MULTIPLY : FORMULA_DIVIDE, 0, 0);
	}
}

static void formula_sum(struct parser *p)
{
	formula_product(p);
	while (!p->failed) {
		bool is_plus = formula_take(p, "+");
		if (!is_plus && !formula_take(p, "-"))
			return;
		formula_product(p);
		formula_push(p, is_plus ? FORMULA_ADD : FORMULA_SUBTRACT, 0, 0);
	}
}

static char *formula_trim(const char *text, size_t len)
{
	size_t skip = strspn(text, " ");

	if (skip > len)
		skip = len;
	while (len > skip && text[len - 1] == ' ')
		len--;
	return alloc_text_n(text + skip, len - skip);
}

int formula_parse(const char *text, const struct profile *profile, struct formula *ret, struct diag *diag)
{
	struct formula formula = { .metric = UINT32_MAX };
	size_t label = strcspn(text, "=\"()");
	const char *body = text[label] == '=' ? text + label + 1 : text;
	struct parser p = { body, profile, &formula, diag, false };

	diag_set(diag, -EINVAL, "cannot derive '%.80s'", text);
	if (strlen(text) > FORMULA_LONGEST)
		formula_fail(&p, "it is too long");
	if (!p.failed)
		formula_sum(&p);
	p.at += strspn(p.at, " ");
	if (!p.failed && *p.at)
		formula_fail(&p, "not understood");
	if (p.failed) {
		formula_done(&formula);
		return -EINVAL;
	}
	formula.label = formula_trim(text, body == text ? strlen(text) : label);
	if (!formula.label[0]) {
		free(formula.label);
		formula.label = formula_trim(body, strlen(body));
	}
	if (formula.steps.n == 1 && formula.steps.at[0].op != FORMULA_NUMBER)
		formula.metric = formula.steps.at[0].metric;
	*ret = formula;
	return 0;
}

void formula_done(struct formula *formula)
{
	free(formula->label);
	vec_done(&formula->steps);
	*formula = (struct formula){ 0 };
}

static double formula_apply(enum formula_op op, double a, double b)
{
	switch (op) {
	case FORMULA_ADD:
		return a + b;
	case FORMULA_SUBTRACT:
		return a - b;
	case FORMULA_MULTIPLY:
		return a * b;
	case FORMULA_DIVIDE:
		return b != 0 ? a / b : NAN;
	case FORMULA_NEGATE:
	case FORMULA_NUMBER:
	case FORMULA_TOTAL:
	case FORMULA_SELF:
	case FORMULA_ALL:
		break;
	}
	return NAN;
}

double formula_value(const struct formula *formula, const struct formula_costs *costs)
{
	double stack[FORMULA_LONGEST + 1] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < formula->steps.n; i++) {
		const struct formula_step *step = &formula->steps.at[i];
		switch (step->op) {
		case FORMULA_NUMBER:
			stack[n++] = step->number;
			break;
		case FORMULA_TOTAL:
			stack[n++] = (double)costs->total[step->metric];
			break;
		case FORMULA_SELF:
			stack[n++] = (double)costs->self[step->metric];
			break;
		case FORMULA_ALL:
			stack[n++] = (double)costs->all(costs->context, step->metric);
			break;
		case FORMULA_NEGATE:
			stack[n - 1] = -stack[n - 1];
			break;
		case FORMULA_ADD:
		case FORMULA_SUBTRACT:
		case FORMULA_MULTIPLY:
		case FORMULA_DIVIDE:
			n--;
			stack[n - 1] = formula_apply(step->op, stack[n - 1], stack[n]);
			break;
		}
	}
	return n == 1 ? stack[0] : NAN;
}

const char *formula_usual(size_t number)
{
	static const char *const usual[] = {
		"ipc = instructions / cycles",
		"cache-miss-rate = cache-misses / cache-references",
		"branch-miss-rate = branch-misses / branches",
		"branch-miss-rate = branch-misses / branch-instructions",
		"l1d-miss-rate = L1-dcache-load-misses / L1-dcache-loads",
		"llc-miss-rate = LLC-load-misses / LLC-loads",
		"dtlb-miss-rate = dTLB-load-misses / dTLB-loads",
	};

	return number < sizeof(usual) / sizeof(usual[0]) ? usual[number] : NULL;
}
