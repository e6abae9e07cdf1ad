/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/fail_rule.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_tree.h"
#include "report/diff/signed_number.h"
#include "report/label.h"

#define LEVEL 0.05

static const char *const scope_names[] = { [RULE_TOTAL] = "total",
					   [RULE_FUNCTION] = "function",
					   [RULE_LOOP] = "loop",
					   [RULE_MODULE] = "module",
					   [RULE_LINE] = "line" };

/* ---- reading them --------------------------------------------------------------------------------- */

static int rule_wrong(const char *text, const char *why, struct diag *diag)
{
	diag_set(diag, -EINVAL, "invalid rule '%s'", text);
	diag_why(diag, "%s", why);
	diag_hint(diag, "a rule is SCOPE>LIMIT such as 'total>2%%', 'function:parse_.*>5%%', "
			"'loop:.*>10%%', 'module:libz.*>20ms'");
	return -EINVAL;
}

static bool rule_parse_limit(const char *text, struct fail_rule *rule)
{
	static const struct {
		const char *suffix;
		double factor;
	} units[] = { { "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *rest;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	rule->limit = strtod(text, &rest);
	if (rest == text || !isfinite(rule->limit))
		return false;
	rest += strspn(rest, " ");
	rule->is_percent = strcmp(rest, "%") == 0;
	for (size_t i = 0; i < ARRAY_LEN(units) && !rule->is_percent; i++)
		if (strcmp(rest, units[i].suffix) == 0) {
			rule->limit *= units[i].factor;
			return isfinite(rule->limit);
		}
	return rule->is_percent;
}

/* "function:REGEX" up to the '>'; the whole name must match. */
static int rule_parse_scope(const char *text, size_t len, struct fail_rule *rule, struct diag *diag)
{
	const char *colon = memchr(text, ':', len);
	size_t word = colon ? (size_t)(colon - text) : len;
	size_t i = 0;

	while (i < ARRAY_LEN(scope_names) &&
	       (strlen(scope_names[i]) != word || memcmp(scope_names[i], text, word) != 0))
		i++;
	if (i == ARRAY_LEN(scope_names))
		return rule_wrong(rule->text, "it must start with total, function, loop, module or line",
				  diag);
	rule->scope = (enum rule_scope)i;
	if (rule->scope == RULE_TOTAL)
		return colon ? rule_wrong(rule->text, "'total' must not be followed by a name", diag) : 0;
	if (!colon || colon + 1 == text + len)
		return rule_wrong(rule->text, "a regular expression must follow the colon", diag);
	CLEANUP(freep)
	char *regex = alloc_printf("^(%.*s)$", (int)(text + len - colon - 1), colon + 1);
	int error = regcomp(&rule->regex, regex, REG_EXTENDED | REG_NOSUB);
	if (error) {
		char why[128];
		regerror(error, &rule->regex, why, sizeof(why));
		rule->scope = RULE_TOTAL; /* there is no expression to free */
		return rule_wrong(rule->text, why, diag);
	}
	return 0;
}

static void rule_done(struct fail_rule *rule)
{
	if (rule->scope != RULE_TOTAL)
		regfree(&rule->regex);
	free(rule->text);
	free(rule->why);
}

int fail_rules_add(fail_rules *rules, const char *text, const char *why, struct diag *diag)
{
	const char *more = strrchr(text, '>');
	struct fail_rule rule = { .text = alloc_text(text), .why = why ? alloc_text(why) : NULL };
	int error;

	if (!more)
		error = rule_wrong(text, "there is no '>'", diag);
	else if (!rule_parse_limit(more + 1 + strspn(more + 1, " "), &rule))
		error = rule_wrong(text, "the limit must be a percentage, a time or a number", diag);
	else
		error = rule_parse_scope(text, (size_t)(more - text), &rule, diag);
	if (error < 0) {
		rule_done(&rule);
		return error;
	}
	vec_push(rules, rule);
	return 0;
}

static int fail_rules_read_node(fail_rules *rules, const struct json_node *node, const char *name,
				struct diag *diag)
{
	const char *text = json_node_text(node);
	const struct json_node *why = json_node_get(node, "why");

	if (!text)
		text = json_node_text(json_node_get(node, "rule"));
	if (!text || (why && !json_node_text(why))) {
		diag_set(diag, -EINVAL, "invalid rules in '%s'", name);
		diag_why(diag, "each must be a string, or an object with the strings \"rule\" and \"why\"");
		return -EINVAL;
	}
	return fail_rules_add(rules, text, why ? json_node_text(why) : NULL, diag);
}

static void json_tree_freep(struct json_node **root)
{
	json_tree_free(*root);
}

int fail_rules_read(fail_rules *rules, struct bytes text, const char *name, struct diag *diag)
{
	CLEANUP(json_tree_freep) struct json_node *root = NULL;
	int error = json_tree_parse(text, name, &root, diag);

	if (error < 0)
		return error;
	const struct json_node *list = json_node_get(root, "rules");
	if (!list || json_node_kind(list) != JSON_KIND_ARRAY || !json_node_first(list)) {
		diag_set(diag, -EINVAL, "invalid rules in '%s'", name);
		diag_why(diag, "it must be an object with a non-empty list \"rules\"");
		return -EINVAL;
	}
	for (const struct json_node *node = json_node_first(list); node; node = json_node_next(node)) {
		error = fail_rules_read_node(rules, node, name, diag);
		if (error < 0)
			return error;
	}
	return 0;
}

void fail_rules_done(fail_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		rule_done(&rules->at[i]);
	vec_done(rules);
}

bool fail_rules_need_lines(const fail_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		if (rules->at[i].scope == RULE_LINE)
			return true;
	return false;
}

/* ---- judging -------------------------------------------------------------------------------------- */

/* The rows that rules of one scope are applied to. */
struct candidates {
	struct groups groups;
	struct view view;
};

static void candidates_init(struct candidates *candidates, const struct diff *diff, enum rule_scope scope)
{
	static const enum group_by groups[] = { [RULE_FUNCTION] = GROUP_FUNCTION,
						[RULE_LOOP] = GROUP_LOOP,
						[RULE_MODULE] = GROUP_MODULE,
						[RULE_LINE] = GROUP_LINE };

	joint_groups(&diff->joint, groups[scope], &candidates->groups);
	view_groups(&diff->joint.tree, &diff->costs, &candidates->groups, &candidates->view);
}

static void candidates_done(struct candidates *candidates)
{
	groups_done(&candidates->groups);
	view_done(&candidates->view);
}

static bool rule_is_match(const struct fail_rule *rule, const char *name)
{
	return *name && regexec(&rule->regex, name, 0, NULL, 0) == 0;
}

/* A function matches by its displayed name or its linkage name; a loop also by that of its function. */
static bool rule_fits(const struct fail_rule *rule, const struct diff *diff, uint32_t number,
		      struct text *label)
{
	const struct profile *names = diff->joint.names;
	struct scope scope = scope_at(&diff->joint.tree, number);

	text_clear(label);
	if (rule->scope == RULE_MODULE)
		text_printf(label, "%s", label_image(names, scope.image));
	else
		label_scope(names, &scope, label);
	if (rule_is_match(rule, label->at))
		return true;
	return rule->scope != RULE_MODULE && rule->scope != RULE_LINE &&
	       (rule_is_match(rule, intern_text(&names->strings, scope.linkage)) ||
		rule_is_match(rule, intern_text(&names->strings, scope.name)));
}

/* The probability of this growth by chance if the true one is just the limit. */
static double rule_p(const struct fail_rule *rule, const struct diff *diff, const uint64_t *values)
{
	struct change change = diff_change(diff, values, rule->is_percent ? 1 + rule->limit / 100 : 1);

	return welch_p_above(&change.welch, rule->is_percent ? 0 : rule->limit);
}

/* The lower bound of the growth, at 95 %. */
static double rule_at_least(const struct fail_rule *rule, const struct change *change, size_t n_matches)
{
	double t = change->welch.error > 0 ? student_quantile(1 - LEVEL / (double)n_matches, change->welch.df)
					   : 0;
	double low = change->delta - t * change->welch.error;

	if (!rule->is_percent)
		return low;
	return change->a > 0 ? 100 * low / change->a : low > 0 ? INFINITY : 0;
}

struct match {
	const uint64_t *values;
	uint32_t scope;
};
typedef VEC(struct match) rule_matches;

static void rule_find(const struct fail_rule *rule, const struct diff *diff,
		      const struct candidates *candidates, rule_matches *ret)
{
	bool is_total = rule->scope == RULE_FUNCTION || rule->scope == RULE_LOOP;
	const struct view *view = &candidates->view;
	CLEANUP(text_done) struct text label = { 0 };

	for (size_t row = 0; row < view->rows.n; row++) {
		uint32_t scope = view->rows.at[row].scope;
		const uint64_t *all = is_total ? view->inclusive.at : view->self.at;
		if (rule_fits(rule, diff, scope, &label))
			vec_push(ret, (struct match){ all + row * view->n_metrics, scope });
	}
}

static struct rule_verdict rule_judge(const struct fail_rule *rule, const struct diff *diff,
				      const rule_matches *matches)
{
	struct rule_verdict verdict = { .rule = rule, .n_matches = matches->n };
	CLEANUP(text_done) struct text label = { 0 };
	double worst = 2;

	for (size_t i = 0; i < matches->n; i++) {
		const struct match *match = &matches->at[i];
		double p = rule_p(rule, diff, match->values);
		verdict.n_failed += p < LEVEL / (double)matches->n;
		if (p >= worst)
			continue;
		worst = p;
		verdict.worst = diff_change(diff, match->values, 1);
		verdict.at_least = rule_at_least(rule, &verdict.worst, matches->n);
		text_clear(&label);
		if (rule->scope == RULE_TOTAL)
			text_printf(&label, "total");
		else
			rule_fits(rule, diff, match->scope, &label);
	}
	verdict.name = label.len ? alloc_text(label.at) : NULL;
	return verdict;
}

void fail_rules_judge(const fail_rules *rules, const struct diff *diff, rule_verdicts *ret)
{
	size_t n = diff->costs.n_metrics;
	CLEANUP(freep) uint64_t *all = alloc_zero(n + 1, sizeof(*all));

	for (uint32_t i = 0; i < n; i++)
		all[i] = costs_inclusive(&diff->costs, 0, i);
	for (size_t i = 0; i < rules->n; i++) {
		rule_matches matches = { 0 };
		struct candidates candidates = { 0 };
		if (rules->at[i].scope == RULE_TOTAL) {
			vec_push(&matches, (struct match){ all, 0 });
		} else {
			candidates_init(&candidates, diff, rules->at[i].scope);
			rule_find(&rules->at[i], diff, &candidates, &matches);
		}
		vec_push(ret, rule_judge(&rules->at[i], diff, &matches));
		candidates_done(&candidates);
		vec_done(&matches);
	}
}

void rule_verdicts_done(rule_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->n; i++)
		free(verdicts->at[i].name);
	vec_done(verdicts);
}

void rule_verdict_say(const struct rule_verdict *verdict, const char *unit, struct text *ret)
{
	const struct fail_rule *rule = verdict->rule;
	const struct change *worst = &verdict->worst;
	char delta[SIGNED_MAX], least[SIGNED_MAX];
	bool is_named = rule->scope != RULE_TOTAL && verdict->name;

	signed_value(worst->delta, unit, delta);
	if (rule->is_percent && worst->a > 0)
		signed_percent(100 * worst->delta / worst->a, delta);
	if (rule->is_percent)
		signed_percent(verdict->at_least, least);
	else
		signed_value(verdict->at_least, unit, least);
	text_printf(ret, "%s: %s: %s%s%s", rule->text, verdict->n_failed ? "failed" : "passed",
		    is_named ? verdict->name : "", is_named ? " " : "", delta);
	if (isfinite(verdict->at_least))
		text_printf(ret, ", at least %s at 95 %%", least);
	if (verdict->n_matches > 1)
		text_printf(ret, " (%zu of %zu that match)", verdict->n_failed, verdict->n_matches);
	if (verdict->n_failed && rule->why)
		text_printf(ret, "; %s", rule->why);
}
