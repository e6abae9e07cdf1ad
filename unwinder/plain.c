/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/plain.h"

enum plain_kind { PLAIN_UNKNOWN, PLAIN_NOT, PLAIN };

#define OFFSET_MAX (1 << 24) /* bytes; tables may be damaged */

static bool plain_rule_fits(const struct rule *rule, const struct isa *isa)
{
	return rule->kind == RULE_AT_CFA && rule->reg != isa->sp &&
	       (rule->reg != isa->pc || isa->pc == isa->ra) && rule->offset > -OFFSET_MAX &&
	       rule->offset < OFFSET_MAX;
}

static void plain_add_slot(struct plain_step *step, const struct rule *rule)
{
	if (rule->offset < step->low || !step->restored)
		step->low = rule->offset;
	if (rule->offset + 8 > step->high || !step->restored)
		step->high = rule->offset + 8;
	step->restored |= 1ull << rule->reg;
}

static struct plain_step plain_compile(const struct recipes *recipes, const struct isa *isa,
				       const struct recipe *recipe)
{
	const struct plain_step not = { .kind = PLAIN_NOT };
	struct plain_step step = { .kind = PLAIN,
				   .cfa_reg = recipe->cfa_reg,
				   .n_rules = recipe->n_rules,
				   .witness = recipe->witness,
				   .cfa_offset = recipe->cfa_offset,
				   .rules = recipe->rules };

	/* A step by the frame pointer alone is a guess, which the walk has to remember. */
	if (recipe->cfa_kind != CFA_REG || recipe->is_signal_frame || recipe->witness == WITNESS_FP)
		return not ;
	for (unsigned i = 0; i < recipe->n_rules; i++) {
		const struct rule *rule = &recipes->rules.at[recipe->rules + i];
		if (!plain_rule_fits(rule, isa))
			return not ;
		plain_add_slot(&step, rule);
		if (rule->reg == isa->ra) {
			step.has_ra_slot = true;
			step.ra_offset = rule->offset;
		}
	}
	return step;
}

static struct plain_step *plain_entry_of(struct plain_steps *steps, uint32_t recipe)
{
	while (steps->by_recipe.n <= recipe)
		vec_push(&steps->by_recipe, (struct plain_step){ .kind = PLAIN_UNKNOWN });
	return &steps->by_recipe.at[recipe];
}

const struct plain_step *plain_step_of(struct plain_steps *steps, const struct recipes *recipes,
				       const struct isa *isa, uint32_t recipe)
{
	if (recipe == RECIPE_NONE)
		return NULL;
	struct plain_step *step = plain_entry_of(steps, recipe);
	if (step->kind == PLAIN_UNKNOWN)
		*step = plain_compile(recipes, isa, &recipes->recipes.at[recipe]);
	return step->kind == PLAIN ? step : NULL;
}

void plain_steps_done(struct plain_steps *steps)
{
	vec_done(&steps->by_recipe);
}
