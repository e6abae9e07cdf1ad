/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare: compares the unwind recipes in a copy of a file without symbols and unwind entries, asked for one
 * address at a time as for samples, with those of the original, where the functions are known.
 *
 * usage: bare [--every N] MIN_PERCENT MAX_OTHER_PERCENT ELF COPY
 * For every N-th (101) of the file's unwind entries some instructions are looked up in scattered order; those
 * after a call as return addresses. At least MIN_PERCENT must have the same recipe, and at most
 * MAX_OTHER_PERCENT a different one; the rest has no recipe.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binary/cfi/frames.h"
#include "recipes/knowledge.h"

#define MAX_SHOWN 10
#define EVERY_INSN 7 /* of an entry */

struct where {
	uint64_t vaddr;
	bool is_return;
};

struct oracle {
	struct images *images;
	image_id whole, copy;
	const struct isa *isa;
	struct knowledge *knowledge;
	VEC(struct where) places;
	uint64_t n_insns, n_asked, n_same, n_other, n_none, n_shown;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Padding is never executed, but unwind entries cover it. */
static void gather_entry(struct oracle *o, const struct fde *fde)
{
	struct image *image = images_get(o->images, o->whole);
	bool is_return = false;
	struct insn insn;

	for (uint64_t at = fde->start; at < fde->start + fde->size; at += insn.len) {
		if (o->isa->decode(image_code(image, at), at, &insn) < 0 || insn.len == 0)
			return;
		if (!insn.is_padding && o->n_insns++ % EVERY_INSN == 0)
			vec_push(&o->places, ((struct where){ at, is_return }));
		is_return = insn.flow == FLOW_CALL || insn.flow == FLOW_CALL_INDIRECT;
	}
}

static void gather(struct oracle *o, uint64_t every)
{
	struct frames *frames = frames_read(images_get(o->images, o->whole));
	struct fde fde;

	for (size_t i = 0; i < frames_count(frames); i += every)
		if (frames_get(frames, i, &fde) == 0)
			gather_entry(o, &fde);
	frames_free(frames);
}

static bool is_same_rule(const struct rule *a, const struct rule *b)
{
	return a == b || (a && b && a->kind == b->kind && a->from == b->from && a->offset == b->offset);
}

static bool is_same(const struct oracle *o, uint32_t a, uint32_t b)
{
	const struct recipes *recipes = knowledge_recipes(o->knowledge);
	const struct recipe *x = &recipes->recipes.at[a], *y = &recipes->recipes.at[b];

	return x->cfa_kind == y->cfa_kind && x->cfa_reg == y->cfa_reg && x->cfa_offset == y->cfa_offset &&
	       x->cfa_addend == y->cfa_addend &&
	       is_same_rule(recipe_rule(recipes, x, o->isa->ra), recipe_rule(recipes, y, o->isa->ra));
}

static void show(struct oracle *o, const struct where *where, uint32_t whole, uint32_t copy)
{
	const struct recipes *recipes = knowledge_recipes(o->knowledge);
	char known[200], found[200];

	if (o->n_shown++ >= MAX_SHOWN && !getenv("BARE_SHOW"))
		return;
	recipe_format(recipes, whole, o->isa, known, sizeof(known));
	recipe_format(recipes, copy, o->isa, found, sizeof(found));
	printf("  %llx%s: %s, in the copy %s\n", (unsigned long long)where->vaddr,
	       where->is_return ? " (return)" : "", known, found);
}

static void ask(struct oracle *o, const struct where *where)
{
	struct place whole, copy;

	knowledge_place(o->knowledge, o->whole, where->vaddr, where->is_return, &whole);
	if (whole.recipes.recipe[0] == RECIPE_NONE)
		return;
	knowledge_place(o->knowledge, o->copy, where->vaddr, where->is_return, &copy);
	o->n_asked++;
	if (copy.recipes.recipe[0] == RECIPE_NONE) {
		o->n_none++;
		if (getenv("BARE_SHOW"))
			printf("  %llx: none\n", (unsigned long long)where->vaddr);
	} else if (is_same(o, whole.recipes.recipe[0], copy.recipes.recipe[0])) {
		o->n_same++;
	} else {
		o->n_other++;
		show(o, where, whole.recipes.recipe[0], copy.recipes.recipe[0]);
	}
}

static void ask_all(struct oracle *o)
{
	size_t n = o->places.n, stride = n / 3 * 2 + 1;

	while (n && n % stride == 0)
		stride++;
	for (size_t k = 0, at = 0; k < n; k++, at = (at + stride) % n)
		ask(o, &o->places.at[at]);
}

static int conclude(const struct oracle *o, double least, double most, double seconds)
{
	double n = o->n_asked ? (double)o->n_asked : 1;
	double same = 100 * (double)o->n_same / n, other = 100 * (double)o->n_other / n;

	printf("%llu places: %.3f %% left alike, %.3f %% otherwise, %.3f %% unknown; %.1f s\n",
	       (unsigned long long)o->n_asked, same, other, 100 * (double)o->n_none / n, seconds);
	return o->n_asked && same >= least && other <= most ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct oracle o = { .images = images_new() };
	uint64_t every = 101;

	if (argc > 2 && strcmp(argv[1], "--every") == 0) {
		every = strtoull(argv[2], NULL, 10);
		argc -= 2;
		argv += 2;
	}
	if (argc != 5 || every == 0) {
		fprintf(stderr, "usage: bare [--every N] MIN_PERCENT MAX_OTHER_PERCENT ELF COPY\n");
		return 2;
	}
	if (images_open(o.images, argv[3], &o.whole, NULL) < 0 ||
	    images_open(o.images, argv[4], &o.copy, NULL) < 0) {
		fprintf(stderr, "bare: cannot read '%s' or '%s'\n", argv[3], argv[4]);
		return 2;
	}
	o.isa = isa_for_machine(images_get(o.images, o.whole)->elf_machine);
	o.knowledge = knowledge_new(o.images, o.isa, UNWIND_ANALYSIS, NULL);
	gather(&o, every);
	double start = now();
	ask_all(&o);
	int code = conclude(&o, strtod(argv[1], NULL), strtod(argv[2], NULL), now() - start);
	vec_done(&o.places);
	knowledge_free(o.knowledge);
	images_free(o.images);
	return code;
}
