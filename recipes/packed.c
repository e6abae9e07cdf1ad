/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/packed.h"

#include <string.h>

static bool packed_is_word(int32_t offset)
{
	return offset % PACKED_WORD == 0 && offset / PACKED_WORD >= INT16_MIN &&
	       offset / PACKED_WORD <= INT16_MAX;
}

static bool packed_is_slot(const struct rule *rule)
{
	return rule->kind == RULE_AT_CFA && rule->from == 0 && rule->reg < REG_MAX &&
	       packed_is_word(rule->offset);
}

/* Does the last rule say that its register is unchanged? */
static bool packed_is_leaf(const struct rule *rules, unsigned n)
{
	return n && rules[n - 1].kind == RULE_SAME && rules[n - 1].from == 0 && rules[n - 1].offset == 0;
}

/* Are the rules sorted, and do their registers fit into one mask? */
static bool packed_is_mask(const struct rule *rules, unsigned n)
{
	if (n > PACKED_MAX_SLOTS)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (rules[i].reg >= REG_MAX || rules[i].reg - rules[0].reg >= 16 ||
		    (i && rules[i].reg <= rules[i - 1].reg))
			return false;
	return true;
}

/* Packs the first n rules, if all of them are slots near each other. */
static bool packed_put_slots(const struct rule *rules, unsigned n, struct packed_rule *ret)
{
	int32_t low = INT32_MAX, high = INT32_MIN;

	for (unsigned i = 0; i < n; i++) {
		if (!packed_is_slot(&rules[i]))
			return false;
		low = rules[i].offset < low ? rules[i].offset : low;
		high = rules[i].offset > high ? rules[i].offset : high;
	}
	if (n == 0)
		return true;
	if ((high - low) / PACKED_WORD >= PACKED_MAX_WORDS)
		return false;
	ret->low = (int16_t)(low / PACKED_WORD);
	ret->n_words = (uint8_t)((high - low) / PACKED_WORD + 1);
	for (unsigned i = 0; i < n; i++)
		ret->slots[i / 2] |= (uint8_t)((rules[n - 1 - i].offset - low) / PACKED_WORD << (i % 2 * 4));
	return true;
}

static bool packed_put_rules(const struct rule *rules, unsigned n, struct packed_rule *ret)
{
	bool is_leaf = packed_is_leaf(rules, n);

	if (!packed_is_mask(rules, n) || !packed_put_slots(rules, n - is_leaf, ret))
		return false;
	if (n)
		ret->first_reg = rules[0].reg;
	for (unsigned i = 0; i < n; i++)
		ret->ruled |= (uint16_t)(1u << (rules[i].reg - rules[0].reg));
	return true;
}

static uint8_t packed_head(const struct recipe *recipe, enum packed_kind kind)
{
	return (uint8_t)(kind | (unsigned)recipe->witness << 2 | (unsigned)recipe->trust << 5 |
			 (unsigned)recipe->ra_is_signed << 7);
}

struct packed_rule packed_rule_of(const struct recipe *recipe, const struct rule *rules, uint32_t whole)
{
	enum packed_kind kind = packed_is_leaf(rules, recipe->n_rules) ? PACKED_LEAF : PACKED_SLOTS;
	struct packed_rule packed = { .head = packed_head(recipe, kind), .cfa_reg = recipe->cfa_reg };
	bool is_simple = recipe->cfa_kind == CFA_REG && !recipe->is_signal_frame && !recipe->cfa_addend &&
			 !recipe->cfa_expr && packed_is_word(recipe->cfa_offset);

	if (is_simple && packed_put_rules(rules, recipe->n_rules, &packed)) {
		packed.cfa = (int16_t)(recipe->cfa_offset / PACKED_WORD);
		return packed;
	}
	return (struct packed_rule){ .head = packed_head(recipe, PACKED_WHOLE), .whole = whole };
}

/* Bytes that are not the packed form of any recipe are rejected: the store may contain anything. */
static bool packed_is_sound(const struct packed_rule *packed, const struct recipe *recipe,
			    const struct rule *rules)
{
	struct packed_rule again = packed_rule_of(recipe, rules, 0);

	return recipe->witness < WITNESS_N && recipe->trust <= TRUST_PROVEN && recipe->cfa_reg < REG_MAX &&
	       memcmp(packed, &again, sizeof(again)) == 0;
}

bool packed_rule_unpack(const struct packed_rule *packed, struct recipe *ret, struct rule *ret_rules)
{
	bool is_leaf = packed_kind(packed) == PACKED_LEAF;
	unsigned n = (unsigned)__builtin_popcount(packed->ruled), n_slots = n - is_leaf, i = 0;

	if ((!is_leaf && packed_kind(packed) != PACKED_SLOTS) || n > PACKED_MAX_SLOTS || (is_leaf && n == 0))
		return false;
	*ret = (struct recipe){ .cfa_kind = CFA_REG,
				.cfa_reg = packed->cfa_reg,
				.witness = (uint8_t)packed_witness(packed),
				.trust = packed->head >> 5 & 3,
				.ra_is_signed = packed->head >> 7,
				.n_rules = (uint8_t)n,
				.cfa_offset = packed_cfa(packed) };
	for (unsigned left = packed->ruled; left; left &= left - 1, i++) {
		ret_rules[i] = (struct rule){ .reg = (uint8_t)(packed->first_reg + __builtin_ctz(left)),
					      .kind = RULE_SAME };
		if (i == n_slots)
			continue;
		ret_rules[i].kind = RULE_AT_CFA;
		ret_rules[i].offset = packed_low(packed) + (int32_t)packed_slot(packed, n_slots - 1 - i);
	}
	return packed_is_sound(packed, ret, ret_rules);
}
