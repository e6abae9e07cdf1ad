/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail_rule: a rule that defines a regression, such as "total>2%", "function:parse_.*>5%" or
 * "module:libz.so>20ms".
 *
 * A percentage is relative to the cost of the same thing before; new things exceed any percentage. A rule
 * fails if the cost has grown by more than its limit with 95 % confidence: at most one in twenty comparisons
 * fails by chance. If a rule matches several things, this confidence applies to all of them together.
 */
#pragma once

#include <regex.h>

#include "base/bytes.h"
#include "report/diff/diff.h"

enum rule_scope { RULE_TOTAL, RULE_FUNCTION, RULE_LOOP, RULE_MODULE, RULE_LINE };

struct fail_rule {
	char *text, *why; /* as given; why may be NULL */
	enum rule_scope scope;
	regex_t regex; /* for all except RULE_TOTAL; the whole name must match */
	double limit;
	bool is_percent;
};
typedef VEC(struct fail_rule) fail_rules;

/* -EINVAL and a diag that says what is wrong. `why` may be NULL. */
int fail_rules_add(fail_rules *rules, const char *text, const char *why, struct diag *diag);
/*
 * A JSON document: {"rules": ["total>2%", {"rule": "function:parse_.*>5%", "why": "every request waits for
 * it"}]}.
 */
int fail_rules_read(fail_rules *rules, struct bytes text, const char *name, struct diag *diag);
void fail_rules_done(fail_rules *rules);
/* Does any rule need the costs of lines? */
bool fail_rules_need_lines(const fail_rules *rules);

struct rule_verdict {
	const struct fail_rule *rule;
	size_t n_matches; /* things that the rule matches */
	size_t n_failed;
	struct change worst; /* of the match that most certainly exceeds the limit, or comes closest to it */
	double at_least;     /* lower bound of its growth, at 95 %; in percent if the limit is */
	char *name;          /* of that match; NULL if there are none */
};
typedef VEC(struct rule_verdict) rule_verdicts;

/* One verdict per rule. A verdict without matches means that the rule matches nothing. */
void fail_rules_judge(const fail_rules *rules, const struct diff *diff, rule_verdicts *ret);
void rule_verdicts_done(rule_verdicts *verdicts);
/* "total>2%: failed: +6.5 %, at least +3.2 % at 95 %" */
void rule_verdict_say(const struct rule_verdict *verdict, const char *unit, struct text *ret);
