/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/demangle_packs.h"

#include <libiberty/demangle.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Below one pack expansion; of 350,000 names of Debian's libraries, none has as many. */
#define MAX_PATHS 10000u
#define MAX_DEPTH 1000 /* the demangler prints little more than that */

struct packs {
	const struct demangle_component *parts; /* all of them are in this array */
	size_t n;
	uint32_t *paths; /* by part: what a search visits, beginning there; 0 = not known yet */
	bool is_too_much;
};

static uint32_t packs_count(struct packs *packs, const struct demangle_component *part, int depth);

/* The parts that a search visits after this one. Returns how many. */
static int packs_below(const struct demangle_component *part, const struct demangle_component *ret[2])
{
	switch (part->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return 0;
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		ret[0] = part->u.s_unary_num.sub;
		return 1;
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		ret[0] = part->u.s_fixed.length;
		return 1;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		ret[0] = part->u.s_extended_operator.name;
		return 1;
	case DEMANGLE_COMPONENT_CTOR:
		ret[0] = part->u.s_ctor.name;
		return 1;
	case DEMANGLE_COMPONENT_DTOR:
		ret[0] = part->u.s_dtor.name;
		return 1;
	default:
		ret[0] = part->u.s_binary.left;
		ret[1] = part->u.s_binary.right;
		return 2;
	}
}

static uint32_t packs_count_below(struct packs *packs, const struct demangle_component *part, int depth)
{
	const struct demangle_component *below[2];
	uint32_t sum = 1;

	for (int i = 0, n = packs_below(part, below); i < n; i++)
		sum += packs_count(packs, below[i], depth + 1);
	return sum < MAX_PATHS ? sum : MAX_PATHS;
}

/* A search ends at another pack expansion, but that is looked at, too. */
static uint32_t packs_count(struct packs *packs, const struct demangle_component *part, int depth)
{
	size_t offset = (uintptr_t)part - (uintptr_t)packs->parts, index = offset / sizeof(*part);

	if (!part || index >= packs->n || offset % sizeof(*part))
		return 0;
	packs->is_too_much |= depth > MAX_DEPTH;
	if (packs->is_too_much || packs->paths[index])
		return packs->paths[index];
	uint32_t paths = packs_count_below(packs, part, depth);
	if (part->type == DEMANGLE_COMPONENT_PACK_EXPANSION) {
		packs->is_too_much |= paths == MAX_PATHS;
		paths = 1;
	}
	packs->paths[index] = paths;
	return paths;
}

bool demangle_packs_are_found(const char *linkage)
{
	void *parts = NULL;

	if (!strstr(linkage, "Dp") && !strstr(linkage, "sp"))
		return true;
	const struct demangle_component *whole =
		cplus_demangle_v3_components(linkage, DMGL_PARAMS | DMGL_ANSI, &parts);
	struct packs packs = { .parts = parts, .n = 2 * strlen(linkage) };
	packs.paths = alloc_zero(packs.n + 1, sizeof(*packs.paths));
	if (whole)
		packs_count(&packs, whole, 0);
	free(packs.paths);
	free(parts);
	return !packs.is_too_much;
}
