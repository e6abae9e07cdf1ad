/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/row_facts.h"

#include "base/cleanup.h"
#include "report/label.h"
#include "report/number.h"
#include "report/text/text_loops.h"

struct loop_place loop_place_of(const struct scope_tree *tree, const struct scope *loop)
{
	struct loop_place place = { .nesting = 1, .host = loop->name };

	for (uint32_t at = loop->parent; at; at = tree->scopes.at[at].parent) {
		const struct scope around = scope_at(tree, at);
		if (around.kind != SCOPE_LOOP && around.kind != SCOPE_INLINE) {
			place.host = around.name;
			break;
		}
		place.nesting += around.kind == SCOPE_LOOP;
		if (around.kind == SCOPE_INLINE && !place.is_inlined) {
			place.is_inlined = true;
			place.call_file = around.call_file;
			place.call_line = around.call_line;
		}
	}
	return place;
}

static const char *kind_of(const struct scope *scope)
{
	static const char *const names[] = { [SCOPE_ROOT] = "all",          [SCOPE_INCOMPLETE] = "incomplete",
					     [SCOPE_FUNCTION] = "function", [SCOPE_INLINE] = "inline",
					     [SCOPE_LOOP] = "loop",         [SCOPE_LINE] = "line",
					     [SCOPE_UNKNOWN] = "unknown" };

	return names[scope->kind];
}

static void fill_place(const struct text_report *report, const struct scope *scope, struct row_facts *facts)
{
	const struct profile *profile = report->profile;
	bool is_flat = report->options->view == TEXT_FLAT || report->options->view == TEXT_SUMMARY;
	enum group_by group = is_flat ? report->options->group : GROUP_FUNCTION;

	facts->kind = kind_of(scope);
	if (is_flat && scope->kind == SCOPE_INLINE)
		facts->kind =
			kind_of(&(struct scope){ .kind = SCOPE_FUNCTION }); /* it represents all copies */
	facts->module = scope->image < profile->images.n ? label_image(profile, scope->image) : "";
	facts->file = intern_text(&profile->strings, scope->file);
	facts->line = scope->line;
	if (group != GROUP_MODULE && group != GROUP_FILE) {
		label_scope(profile, scope, &facts->name);
		return;
	}
	facts->kind = group_name(group);
	facts->line = 0;
	text_printf(&facts->name, "%s",
		    group == GROUP_MODULE ? label_image(profile, scope->image) : facts->file);
	if (group == GROUP_MODULE)
		facts->file = "";
	else
		facts->module = "";
}

static void fill_costs(const struct text_report *report, const struct view *view, uint32_t row,
		       struct row_facts *facts)
{
	facts->self = view_self(view, row, report->metric);
	facts->total = view_inclusive(view, row, report->metric);
	facts->self_samples = view_self(view, row, 0);
	facts->total_samples = view_inclusive(view, row, 0);
	facts->self_percent = number_share(facts->self, report->total);
	facts->total_percent = number_share(facts->total, report->total);
	facts->imbalance = -1;
	facts->slowest = RANK_NONE;
	if (report->options->ranks)
		facts->imbalance =
			ranks_imbalance(report->options->ranks, &view->inclusive.at[row * view->n_metrics],
					report->metric, &facts->slowest);
}

void row_facts_fill(const struct text_report *report, const struct view *view, uint32_t row,
		    struct row_facts *ret)
{
	ret->view = view;
	ret->view_row = row;
	const struct scope scope = scope_at(report->tree, view->rows.at[row].scope);

	fill_place(report, &scope, ret);
	fill_costs(report, view, row, ret);
	if (scope.kind == SCOPE_LOOP)
		text_loop_tell(report, view->rows.at[row].scope, &ret->told);
}

void row_facts_done(struct row_facts *facts)
{
	text_done(&facts->name);
	text_done(&facts->told);
}

void row_facts_each(const struct text_report *report, const struct view *view,
		    void (*put)(void *context, const struct row_facts *facts), void *context)
{
	CLEANUP(freep) uint32_t *number = alloc_zero(view->rows.n + 1, sizeof(*number));
	CLEANUP(freep) uint32_t *depth = alloc_zero(view->rows.n + 1, sizeof(*depth));
	uint32_t n_shown = 0;

	for (uint32_t row = 0; row < view->rows.n; row++) {
		uint32_t parent = view->rows.at[row].parent;
		struct row_facts facts = { .row = n_shown, .parent = UINT32_MAX };
		number[row] = UINT32_MAX;
		if (!text_is_shown(report, view, row))
			continue;
		number[row] = n_shown++;
		if (parent != VIEW_NONE && number[parent] != UINT32_MAX) {
			facts.parent = number[parent];
			facts.depth = depth[row] = depth[parent] + 1;
		}
		row_facts_fill(report, view, row, &facts);
		put(context, &facts);
		row_facts_done(&facts);
	}
}
