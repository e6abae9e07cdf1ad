/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "report/annotate.h"
#include "tests/test.h"

#define IMAGE 0u

/*
 * f at 0x1000: line 10 up to 0x1010, then line 11; [0x1020, 0x1030) is g inlined at line 12. It calls h at 0x1014
 * and itself at 0x1018.
 */
static struct profile *make(void)
{
	struct profile *p = profile_new();
	uint32_t file = intern_add(&p->strings, "/src/f.c"), f = intern_add(&p->strings, "f(int)"), g = intern_add(&p->strings, "g");
	struct function_map map = { .image = IMAGE, .vaddr = 0x1000, .size = 0x40, .name = f, .decl_file = file, .decl_line = 9,
				    .parent_vaddr = 0x1000, .source = MAP_FROM_DWARF };

	vec_push(&p->images, (struct profile_image){ .path = intern_add(&p->strings, "/bin/app") });
	vec_push(&p->metrics, (struct profile_metric){ .name = intern_add(&p->strings, "samples"), .event = UINT32_MAX });
	vec_push(&map.lines, (struct line_row){ .offset = 0, .file = file, .line = 10 });
	vec_push(&map.lines, (struct line_row){ .offset = 0x10, .file = file, .line = 11 });
	vec_push(&map.lines, (struct line_row){ .offset = 0x20, .file = file, .line = 3 });
	vec_push(&map.lines, (struct line_row){ .offset = 0x30, .file = file, .line = 13 });
	vec_push(&map.inlines, (struct inline_call){ .parent = INLINE_NONE, .name = g, .decl_file = file, .decl_line = 2, .call_file = file, .call_line = 12 });
	vec_push(&map.ranges, (struct inline_range){ 0x20, 0x30, 0 });
	vec_push(&p->functions, map);
	vec_push(&p->functions, (struct function_map){ .image = IMAGE, .vaddr = 0x2000, .size = 0x10, .name = intern_add(&p->strings, "h"),
						       .parent_vaddr = 0x2000, .source = MAP_FROM_SYMBOL });
	uint32_t outer = cct_child(&p->cct, CCT_ROOT, IMAGE, 0x1018, CCT_IS_RETURN);
	uint32_t leaf = cct_child(&p->cct, CCT_ROOT, IMAGE, 0x1004, 0), inlined = cct_child(&p->cct, CCT_ROOT, IMAGE, 0x1024, 0);
	uint32_t inner = cct_child(&p->cct, outer, IMAGE, 0x1014, CCT_IS_RETURN), called = cct_child(&p->cct, inner, IMAGE, 0x2004, 0);
	cct_add_value(&p->cct, leaf, 0, 0, 5);
	cct_add_value(&p->cct, inlined, 0, 0, 7);
	cct_add_value(&p->cct, called, 0, 0, 4);
	return p;
}

static const struct annotated_line *line(const struct annotation *a, uint32_t number)
{
	for (size_t i = 0; i < a->lines.n; i++)
		if (a->lines.at[i].line == number)
			return &a->lines.at[i];
	return NULL;
}

TEST(annotate_gives_each_line_its_own_cost)
{
	struct profile *p = make();
	struct annotation a;

	annotate(p, &p->functions.at[0], &a);
	CHECK_EQ(a.self[0], 12);
	CHECK_EQ(a.all[0], 16);
	CHECK_EQ(line(&a, 10)->self[0], 5);
	annotation_done(&a);
	profile_free(p);
}

TEST(annotate_counts_inlined_code_for_the_line_of_its_call)
{
	struct profile *p = make();
	struct annotation a;

	annotate(p, &p->functions.at[0], &a);
	CHECK_EQ(line(&a, 12)->self[0], 7);
	CHECK_EQ(line(&a, 12)->inlined[0], 7);
	CHECK_STR(intern_text(&p->strings, line(&a, 12)->inlined_name), "g");
	CHECK(line(&a, 3) == NULL);
	annotation_done(&a);
	profile_free(p);
}

TEST(annotate_counts_recursive_calls_once)
{
	struct profile *p = make();
	struct annotation a;

	annotate(p, &p->functions.at[0], &a);
	CHECK_EQ(a.total[0], 16);
	CHECK_EQ(line(&a, 11)->calls[0], 4); /* from the outer call of f alone, not again from the inner one */
	annotation_done(&a);
	profile_free(p);
}

TEST(annotate_finds_a_function_without_its_parameters)
{
	struct profile *p = make();
	size_t n;

	CHECK(annotate_find(p, "f", &n) == &p->functions.at[0]);
	CHECK(annotate_find(p, "f(int)", &n) == &p->functions.at[0]);
	CHECK(annotate_find(p, "h", &n) == &p->functions.at[1]);
	CHECK_EQ(n, 1);
	CHECK(annotate_find(p, "nothing", &n) == NULL);
	profile_free(p);
}

TEST(annotate_inlined_adds_up_all_copies)
{
	struct profile *p = make();
	struct annotation a;

	CHECK_EQ(annotate_inlined(p, "g", &a), 0);
	CHECK_EQ(a.self[0], 7);
	CHECK_EQ(a.total[0], 7);
	CHECK_EQ(line(&a, 3)->self[0], 7);
	annotation_done(&a);
	CHECK_EQ(annotate_inlined(p, "f(int)", &a), -ENOENT);
	annotation_done(&a);
	profile_free(p);
}
