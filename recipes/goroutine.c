/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/goroutine.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "binary/elf/gopclntab.h"

static const struct go_name {
	const char *name;
	enum go_role role;
} go_names[] = {
	{ "gogo", GO_BETWEEN },
	{ "main", GO_BEGIN }, /* of the entry point; the program's own main is main.main */
	{ "runtime.asmcgocall", GO_SWITCH },
	{ "runtime.asmcgocall_landingpad", GO_SWITCH },
	{ "runtime.asmcgocall_no_g", GO_SWITCH },
	{ "runtime.asyncPreempt", GO_PREEMPT },
	{ "runtime.cgocallback", GO_SWITCH },
	{ "runtime.goexit", GO_EXIT },
	{ "runtime.gogo", GO_BETWEEN },
	{ "runtime.mcall", GO_BEGIN },
	{ "runtime.morestack", GO_BEGIN },
	{ "runtime.mstart", GO_SWITCH },
	{ "runtime.nanotime1", GO_CLOCK },
	{ "runtime.rt0_go", GO_SWITCH },
	{ "runtime.systemstack", GO_BEGIN },
	{ "runtime.walltime", GO_CLOCK },
};

struct go_range {
	uint64_t start, end;
	enum go_role role;
};

/* A function that is not compiled from Go. */
struct go_odd {
	uint64_t start, end;
	enum go_kind kind;
};

#define MAX_NAMES (64u << 20) /* bytes of names that are read in any case */
#define MAX_ODD (1u << 18)    /* programs have some thousands */
#define MAX_RANGES 256        /* programs have about ten; all are looked through for each frame */

struct go_stacks {
	VEC(struct go_range) ranges;
	VEC(struct go_odd) odd; /* in the order of their addresses */
	bool has_kinds;
};

/* In older programs the name of an assembly function contains the calling convention. */
static bool go_is_called(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return strncmp(name, wanted, len) == 0 && (!name[len] || strcmp(name + len, ".abi0") == 0);
}

static enum go_role go_role_of(const struct go_function *f)
{
	for (size_t i = 0; i < ARRAY_LEN(go_names); i++)
		if (go_is_called(f->name, go_names[i].name))
			return go_names[i].role;
	/* x86-64: written in assembly, it makes the system call itself; elsewhere it is compiled and calls
	 * those above. */
	if (f->kind == GO_KIND_ASSEMBLY && go_is_called(f->name, "time.now"))
		return GO_CLOCK;
	return GO_ORDINARY;
}

/* A table without assembly functions does not record the kind: every program has some. False if there are too
 * many. */
static bool go_stacks_add_odd(struct go_stacks *stacks, const struct go_function *f)
{
	stacks->has_kinds |= f->kind == GO_KIND_ASSEMBLY;
	if (f->kind == GO_KIND_COMPILED || f->kind == GO_KIND_UNKNOWN ||
	    (stacks->odd.n && stacks->odd.at[stacks->odd.n - 1].end > f->start))
		return true;
	if (stacks->odd.n == MAX_ODD)
		return false;
	vec_push(&stacks->odd, ((struct go_odd){ f->start, f->end, f->kind }));
	return true;
}

/* A damaged table may say of millions of functions that they have the same long name. Those of all functions
 * are in the table once. */
static bool go_has_time(const struct gopclntab *table, uint64_t n_read)
{
	return n_read < MAX_NAMES + 2 * table->table.len;
}

struct go_stacks *go_stacks_read(struct image *image)
{
	struct gopclntab table;

	if (!gopclntab_open(image, &table))
		return NULL;
	struct go_stacks *stacks = alloc_zero(1, sizeof(*stacks));
	for (uint64_t i = 0, n_read = 0; i < table.n_functions; i++) {
		struct go_function f;
		bool is_function = gopclntab_get(&table, i, &f);
		n_read += is_function ? strlen(f.name) : GO_MAX_NAME;
		if (!go_has_time(&table, n_read) || (is_function && !go_stacks_add_odd(stacks, &f))) {
			stacks->has_kinds = false; /* nothing is known about the others */
			break;
		}
		enum go_role role = is_function ? go_role_of(&f) : GO_ORDINARY;
		if (role != GO_ORDINARY && stacks->ranges.n < MAX_RANGES)
			vec_push(&stacks->ranges, ((struct go_range){ f.start, f.end, role }));
	}
	return stacks;
}

void go_stacks_free(struct go_stacks *stacks)
{
	if (!stacks)
		return;
	vec_done(&stacks->ranges);
	vec_done(&stacks->odd);
	free(stacks);
}

enum go_role go_stacks_role(const struct go_stacks *stacks, uint64_t vaddr)
{
	for (size_t i = 0; stacks && i < stacks->ranges.n; i++)
		if (vaddr >= stacks->ranges.at[i].start && vaddr < stacks->ranges.at[i].end)
			return stacks->ranges.at[i].role;
	return GO_ORDINARY;
}

bool go_stacks_know_goroutine(const struct go_stacks *stacks, const struct isa *isa, uint64_t vaddr)
{
	if (!stacks || !stacks->has_kinds)
		return false;
	size_t low = 0, high = stacks->odd.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (stacks->odd.at[middle].end <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	const struct go_odd *odd = low < stacks->odd.n ? &stacks->odd.at[low] : NULL;
	if (!odd || vaddr < odd->start)
		return true;
	return odd->kind == GO_KIND_ASSEMBLY && isa->is_goroutine_reserved;
}

#define PREEMPTED_PUSHED 16 /* bytes, if calls push nothing: the return address register, and padding */

uint32_t goroutine_preempted(const struct isa *isa, struct recipes *recipes, uint32_t stated)
{
	if (stated == RECIPE_NONE)
		return RECIPE_NONE;
	struct recipe r = recipes->recipes.at[stated];
	const struct rule *ra = recipe_rule(recipes, &r, isa->ra);
	bool is_saved = ra && ra->kind == RULE_AT_CFA;

	if (r.witness != WITNESS_CFI || r.cfa_kind != CFA_REG || (ra && !is_saved) ||
	    (!is_saved && isa->call_pushes_ra))
		return RECIPE_NONE;
	r.is_signal_frame = true;
	if (isa->call_pushes_ra) {
		struct rule pushed = *ra;
		r.n_rules = 1;
		return recipes_add(recipes, &r, &pushed);
	}
	struct rule rules[] = {
		{ .reg = isa->fp, .kind = RULE_UNDEFINED },
		{ .reg = isa->ra, .kind = RULE_AT_CFA, .offset = -PREEMPTED_PUSHED },
		{ .reg = isa->pc, .kind = RULE_REG, .from = isa->ra },
	};
	if (is_saved)
		rules[2] = (struct rule){ .reg = isa->pc,
					  .kind = RULE_AT_CFA,
					  .offset = ra->offset - PREEMPTED_PUSHED };
	r.cfa_offset += PREEMPTED_PUSHED;
	r.n_rules = ARRAY_LEN(rules);
	return recipes_add(recipes, &r, rules);
}
