/* SPDX-License-Identifier: Apache-2.0 */
#include "report/filter.h"

#include <errno.h>
#include <regex.h>

#include "base/cleanup.h"
#include "report/label.h"
#include "report/numbering.h"

/* Scopes of the new tree that agree in this become one. */
struct key {
	uint64_t vaddr;
	uint32_t parent, kind, name, linkage, image, file, line, zero;
};

static struct key key_of(const struct scope *scope, uint32_t parent)
{
	return (struct key){ .vaddr = scope->kind == SCOPE_LINE ? 0 : scope->vaddr,
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
	bool *is_kept; /* it or a scope above is in focus */
	bool *is_hidden;
};

static uint32_t add_scope(struct numbering *numbering, const struct scope *scope, uint32_t parent,
			  struct scope_tree *ret)
{
	struct key key = key_of(scope, parent);
	uint32_t index = numbering_add(numbering, &key);

	if (index == ret->scopes.n) {
		vec_push(&ret->scopes, *scope);
		ret->scopes.at[index].parent = parent;
		return index;
	}
	struct scope *known = &ret->scopes.at[index];
	if (known->call_vaddr != scope->call_vaddr)
		known->call_vaddr = 0;
	if (known->call_file != scope->call_file || known->call_line != scope->call_line)
		known->call_file = known->call_line = 0;
	return index;
}

static void move_scopes(struct filtering *f, struct scope_tree *ret)
{
	CLEANUP(numbering_done) struct numbering numbering;

	numbering_init(&numbering, sizeof(struct key));
	for (size_t i = 0; i < f->tree->scopes.n; i++) {
		const struct scope *scope = &f->tree->scopes.at[i];
		bool is_part = scope->kind == SCOPE_LOOP || scope->kind == SCOPE_LINE;
		bool is_root = i <= 1;
		f->is_kept[i] = !f->filter->is_focus || f->filter->is_focus[i] || (i > 0 && f->is_kept[scope->parent]);
		f->is_hidden[i] = !is_root && ((f->filter->is_hidden && f->filter->is_hidden[i]) ||
					       (is_part && f->is_hidden[scope->parent]));
		if (f->is_hidden[i])
			f->moved_to[i] = f->moved_to[scope->parent];
		else
			f->moved_to[i] = add_scope(&numbering, scope, i ? f->moved_to[scope->parent] : 0, ret);
	}
}

static int compare_values(const void *a, const void *b)
{
	const struct scope_value *x = a, *y = b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

static void move_values(const struct filtering *f, struct scope_tree *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < f->tree->values.n; i++) {
		struct scope_value value = f->tree->values.at[i];
		if (!f->is_kept[value.scope])
			continue;
		value.scope = f->moved_to[value.scope];
		vec_push(&ret->values, value);
	}
	if (ret->values.n == 0)
		return;
	qsort(ret->values.at, ret->values.n, sizeof(*ret->values.at), compare_values);
	for (size_t i = 1; i < ret->values.n; i++) {
		if (compare_values(&ret->values.at[n], &ret->values.at[i]) == 0)
			ret->values.at[n].value += ret->values.at[i].value;
		else
			ret->values.at[++n] = ret->values.at[i];
	}
	ret->values.n = n + 1;
}

void scope_tree_filter(const struct scope_tree *tree, const struct filter *filter, struct scope_tree *ret)
{
	struct filtering f = { .tree = tree, .filter = filter };

	*ret = (struct scope_tree){ .n_metrics = tree->n_metrics };
	f.moved_to = alloc_zero(tree->scopes.n + 1, sizeof(*f.moved_to));
	f.is_kept = alloc_zero(tree->scopes.n + 1, sizeof(*f.is_kept));
	f.is_hidden = alloc_zero(tree->scopes.n + 1, sizeof(*f.is_hidden));
	move_scopes(&f, ret);
	move_values(&f, ret);
	free(f.moved_to);
	free(f.is_kept);
	free(f.is_hidden);
}

int scope_tree_match(const struct scope_tree *tree, const struct profile *profile, const char *regex, bool **ret,
		     struct diag *diag)
{
	CLEANUP(text_done) struct text label = { 0 };
	regex_t compiled;
	char why[128];
	int error = regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB);

	if (error) {
		regerror(error, &compiled, why, sizeof(why));
		diag_set(diag, -EINVAL, "cannot look for '%s'", regex);
		diag_why(diag, "%s", why);
		return -EINVAL;
	}
	*ret = alloc_zero(tree->scopes.n + 1, sizeof(**ret));
	for (size_t i = 0; i < tree->scopes.n; i++) {
		const struct scope *scope = &tree->scopes.at[i];
		if (scope->kind == SCOPE_ROOT || scope->kind == SCOPE_LOOP || scope->kind == SCOPE_LINE)
			continue;
		text_clear(&label);
		label_scope(profile, scope, &label);
		(*ret)[i] = regexec(&compiled, label.at, 0, NULL, 0) == 0;
	}
	regfree(&compiled);
	return 0;
}
