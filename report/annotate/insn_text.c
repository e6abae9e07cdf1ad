/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/insn_text.h"

#include <string.h>

/* The target of a direct call, or of a jump out of the function; NULL if it is not known. */
static const struct function_map *insn_callee(const struct profile *profile, image_id image,
					      const struct insn *insn, uint64_t vaddr)
{
	bool is_jump = insn->flow == FLOW_JUMP || insn->flow == FLOW_BRANCH;

	if (!insn->target || (!is_jump && insn->flow != FLOW_CALL))
		return NULL;
	const struct function_map *callee = profile_function(profile, image, insn->target);
	if (!callee || !callee->name || (is_jump && callee == profile_function(profile, image, vaddr)))
		return NULL;
	return callee;
}

void insn_text(const struct profile *profile, image_id image, const struct isa *isa, struct bytes code,
	       uint64_t vaddr, struct text *ret)
{
	struct insn insn = { 0 };
	char text[128];

	isa->format(code, vaddr, text, sizeof(text));
	const struct function_map *callee =
		isa->decode(code, vaddr, &insn) == 0 ? insn_callee(profile, image, &insn, vaddr) : NULL;
	if (!callee || insn.flow == FLOW_BRANCH) {
		text_printf(ret, "%s", text);
		if (callee)
			text_printf(ret, " <%s>", intern_text(&profile->strings, callee->name));
		return;
	}
	text_printf(ret, "%.*s %s", (int)strcspn(text, " \t"), text,
		    intern_text(&profile->strings, callee->name));
	if (insn.target != callee->vaddr)
		text_printf(ret, "+0x%llx", (unsigned long long)(insn.target - callee->vaddr));
}
