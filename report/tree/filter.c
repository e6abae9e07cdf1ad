/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/filter.h"

#include <errno.h>
#include <regex.h>

#include "base/cleanup.h"
#include "report/label.h"
#include "report/tree/numbering.h"

/* Scopes of the new tree with the same key are merged. */
struct key {
	uint64_t vaddr;
	uint32_t parent, kind, name, linkage, image, file, line, zero;
};

static struct key filter_key_of(const struct scope *scope, uint32_t parent, bool has_addresses)
{
	return (struct key){ .vaddr = scope->kind == SCOPE_LINE && !has_addresses ? 0 : scope->vaddr,
			     .parent = parent,
			     .kind = scope->kind,
			     .name = scope->name,
			     .linkage = scope->linkage,
			     .image = scope->image,
			     .file = scope->file,
			     .line = scope->line };
}

struct filtering {
	const struct scope_tree *tree;
	const struct filter *filter;
	/* By scope: */
	uint32_t *moved_to; /* what it becomes, or becomes part of */
	bool *is_kept;      /* it or one of its ancestors is in focus */
	bool *is_hidden;
};

/* The position of the scope in the new tree; added if necessary. */
static uint32_t filter_add_scope(struct numbering *numbering, struct scope_maker *maker, struct scope scope,
				 uint32_t parent)
{
	struct key key = filter_key_of(&scope, parent, maker->tree->has_addresses);
	uint32_t index = numbering_add(numbering, &key);

	scope.parent = parent;
	if (index == maker->tree->scopes.n)
		return scope_maker_add(maker, &scope);
	struct scope_row *known = &maker->tree->scopes.at[index];
	struct scope_call call = maker->tree->calls.at[known->call];
	if (call.vaddr != scope.call_vaddr)
		call.vaddr = 0;
	if (call.file != scope.call_file || call.line != scope.call_line)
		call.file = call.line = 0;
	known->call = scope_maker_call(maker, call);
	return index;
}

static void filter_move_scopes(struct filtering *f, struct scope_tree *ret)
{
	CLEANUP(numbering_done) struct numbering numbering;
	CLEANUP(scope_maker_done) struct scope_maker maker;

	numbering_init(&numbering, sizeof(struct key));
	scope_maker_init(&maker, ret);
	for (size_t i = 0; i < f->tree->scopes.n; i++) {
		const struct scope scope = scope_at(f->tree, i);
		bool is_part = scope.kind == SCOPE_LOOP || scope.kind == SCOPE_LINE;
		bool is_root = i <= 1;
		f->is_kept[i] =
			!f->filter->is_focus || f->filter->is_focus[i] || (i > 0 && f->is_kept[scope.parent]);
		f->is_hidden[i] = !is_root && ((f->filter->is_hidden && f->filter->is_hidden[i]) ||
					       (is_part && f->is_hidden[scope.parent]));
		if (f->is_hidden[i])
			f->moved_to[i] = f->moved_to[scope.parent];
		else
			f->moved_to[i] = filter_add_scope(&numbering, &maker, scope,
							  i ? f->moved_to[scope.parent] : 0);
	}
}

static bool filter_keeps(const struct filtering *f, uint32_t scope)
{
	return f->is_kept[scope] && (!f->filter->is_place || f->filter->is_place[scope]);
}

static void filter_move_values(const struct filtering *f, struct scope_tree *ret)
{
	for (size_t i = 0; i < f->tree->durations.n; i++) {
		struct scope_value value = f->tree->durations.at[i];
		if (!filter_keeps(f, value.scope))
			continue;
		value.scope = f->moved_to[value.scope];
		vec_push(&ret->durations, value);
	}
	for (size_t i = 0; i < f->tree->values.n; i++) {
		struct scope_value value = f->tree->values.at[i];
		if (!filter_keeps(f, value.scope))
			continue;
		value.scope = f->moved_to[value.scope];
		vec_push(&ret->values, value);
	}
	ret->values.n = scope_values_settle(ret->values.at, ret->values.n, ret->scopes.n);
}

void scope_tree_filter(const struct scope_tree *tree, const struct filter *filter, struct scope_tree *ret)
{
	struct filtering f = { .tree = tree, .filter = filter };

	*ret = (struct scope_tree){ .n_metrics = tree->n_metrics,
				    .activations = tree->activations,
				    .n_rounds = tree->n_rounds,
				    .has_addresses = tree->has_addresses };
	f.moved_to = alloc_zero(tree->scopes.n + 1, sizeof(*f.moved_to));
	f.is_kept = alloc_zero(tree->scopes.n + 1, sizeof(*f.is_kept));
	f.is_hidden = alloc_zero(tree->scopes.n + 1, sizeof(*f.is_hidden));
	filter_move_scopes(&f, ret);
	filter_move_values(&f, ret);
	free(f.moved_to);
	free(f.is_kept);
	free(f.is_hidden);
}

int scope_tree_match(const struct scope_tree *tree, const struct profile *profile, const char *regex,
		     bool **ret, struct diag *diag)
{
	CLEANUP(text_done) struct text label = { 0 };
	regex_t compiled;
	char why[128];
	int error = regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB);

	if (error) {
		regerror(error, &compiled, why, sizeof(why));
		diag_set(diag, -EINVAL, "cannot search for '%s'", regex);
		diag_why(diag, "%s", why);
		return -EINVAL;
	}
	*ret = alloc_zero(tree->scopes.n + 1, sizeof(**ret));
	for (size_t i = 0; i < tree->scopes.n; i++) {
		const struct scope scope = scope_at(tree, i);
		if (scope.kind == SCOPE_ROOT || scope.kind == SCOPE_LOOP || scope.kind == SCOPE_LINE)
			continue;
		text_clear(&label);
		label_scope(profile, &scope, &label);
		(*ret)[i] = regexec(&compiled, label.at, 0, NULL, 0) == 0;
	}
	regfree(&compiled);
	return 0;
}
