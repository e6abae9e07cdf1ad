/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>

#include "report/annotate/annotate.h"
#include "report/annotate/annotate_find.h"
#include "report/annotate/annotate_text.h"
#include "report/annotate/insn_loops.h"
#include "report/annotate/source_loops.h"
#include "tests/test.h"

#define IMAGE 0u

/*
 * f at 0x1000: line 10 up to 0x1010, then line 11; [0x1020, 0x1030) is g inlined at line 12. It calls h at
 * 0x1014 and itself at 0x1018.
 */
static struct profile *make(void)
{
	struct profile *p = profile_new();
	uint32_t file = intern_add(&p->strings, "/src/f.c"), f = intern_add(&p->strings, "f(int)"),
		 g = intern_add(&p->strings, "g");
	struct function_map map = { .image = IMAGE,
				    .vaddr = 0x1000,
				    .size = 0x40,
				    .name = f,
				    .decl_file = file,
				    .decl_line = 9,
				    .parent_vaddr = 0x1000,
				    .source = MAP_FROM_DWARF };

	vec_push(&p->images, (struct profile_image){ .path = intern_add(&p->strings, "/bin/app") });
	vec_push(&p->metrics,
		 (struct profile_metric){ .name = intern_add(&p->strings, "samples"), .event = UINT32_MAX });
	vec_push(&map.lines, (struct line_row){ .offset = 0, .file = file, .line = 10 });
	vec_push(&map.lines, (struct line_row){ .offset = 0x10, .file = file, .line = 11 });
	vec_push(&map.lines, (struct line_row){ .offset = 0x20, .file = file, .line = 3 });
	vec_push(&map.lines, (struct line_row){ .offset = 0x30, .file = file, .line = 13 });
	vec_push(&map.inlines, (struct inline_call){ .parent = INLINE_NONE,
						     .name = g,
						     .decl_file = file,
						     .decl_line = 2,
						     .call_file = file,
						     .call_line = 12 });
	vec_push(&map.ranges, (struct inline_range){ 0x20, 0x30, 0 });
	vec_push(&p->functions, map);
	vec_push(&p->functions, (struct function_map){ .image = IMAGE,
						       .vaddr = 0x2000,
						       .size = 0x10,
						       .name = intern_add(&p->strings, "h"),
						       .parent_vaddr = 0x2000,
						       .source = MAP_FROM_SYMBOL });
	uint32_t outer = cct_child(&p->cct, CCT_ROOT, IMAGE, 0x1018, CCT_IS_RETURN);
	uint32_t leaf = cct_child(&p->cct, CCT_ROOT, IMAGE, 0x1004, 0),
		 inlined = cct_child(&p->cct, CCT_ROOT, IMAGE, 0x1024, 0);
	uint32_t inner = cct_child(&p->cct, outer, IMAGE, 0x1014, CCT_IS_RETURN),
		 called = cct_child(&p->cct, inner, IMAGE, 0x2004, 0);
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

TEST(annotate_self_costs_agree_with_the_flat_view)
{
	struct profile *p = make();
	struct annotation a;

	annotate(p, &p->functions.at[0], &a);
	CHECK_EQ(a.own[0], 5);
	CHECK_EQ(a.self[0], 12); /* including inlined functions */
	annotation_done(&a);
	CHECK_EQ(annotate_inlined(p, "g", &a), 0);
	CHECK_EQ(a.own[0], 7);
	annotation_done(&a);
	profile_free(p);
}

TEST(annotate_counts_recursive_calls_once)
{
	struct profile *p = make();
	struct annotation a;

	annotate(p, &p->functions.at[0], &a);
	CHECK_EQ(a.total[0], 16);
	CHECK_EQ(line(&a, 11)->calls[0], 4); /* only from the outer call of f, not from the inner one again */
	annotation_done(&a);
	profile_free(p);
}

/* The only choice, if there is exactly one and it matches in this way. */
static struct annotate_choice only(const struct profile *p, const char *name, enum annotate_fit fit)
{
	annotate_choices choices;
	enum annotate_fit got = annotate_find(p, name, 0, &choices);
	struct annotate_choice one =
		choices.n == 1 && got == fit ? choices.at[0] : (struct annotate_choice){ 0 };

	vec_done(&choices);
	return one;
}

TEST(annotate_find_takes_a_name_without_its_parameters)
{
	struct profile *p = make();

	CHECK(only(p, "f", FIT_PLAIN).map == &p->functions.at[0]);
	CHECK(only(p, "f(int)", FIT_WHOLE).map == &p->functions.at[0]);
	CHECK(only(p, "(in", FIT_PART).map == &p->functions.at[0]);
	CHECK(only(p, "h", FIT_WHOLE).map == &p->functions.at[1]);
	CHECK_EQ(only(p, "h", FIT_WHOLE).cost, 4);
	profile_free(p);
}

TEST(annotate_find_knows_inlined_functions)
{
	struct profile *p = make();
	struct annotate_choice g = only(p, "g", FIT_WHOLE);

	CHECK(g.map == NULL);
	CHECK_STR(intern_text(&p->strings, g.name), "g");
	CHECK_EQ(g.cost, 7);
	profile_free(p);
}

TEST(annotate_find_proposes_similar_names)
{
	struct profile *p = make();
	annotate_choices choices;

	p->functions.at[1].name = intern_add(&p->strings, "space::relaxation(int, char const*)");
	CHECK(only(p, "relaxtaion", FIT_CLOSE).map == &p->functions.at[1]);
	CHECK(only(p, "space::relaxatoin", FIT_CLOSE).map == &p->functions.at[1]);
	CHECK_EQ(annotate_find(p, "nothing", 0, &choices), FIT_NONE);
	CHECK_EQ(choices.n, 0);
	vec_done(&choices);
	profile_free(p);
}

TEST(annotate_find_ranks_similar_names_by_cost)
{
	struct profile *p = make();
	annotate_choices choices;

	p->functions.at[0].name = intern_add(&p->strings, "relaxing"); /* 5 and 7 samples */
	p->functions.at[1].name = intern_add(&p->strings, "relaxed");  /* 4, but closer by one letter */
	CHECK_EQ(annotate_find(p, "relaxec", 0, &choices), FIT_CLOSE);
	CHECK_EQ(choices.n, 1);
	vec_done(&choices);
	CHECK_EQ(annotate_find(p, "relaxied", 0, &choices), FIT_CLOSE);
	CHECK_EQ(choices.n, 2);
	CHECK(choices.at[0].map == &p->functions.at[0]);
	vec_done(&choices);
	profile_free(p);
}

TEST(annotate_find_puts_the_costliest_first)
{
	struct profile *p = make();
	annotate_choices choices;

	p->functions.at[1].name = intern_add(&p->strings, "f(char)");
	CHECK_EQ(annotate_find(p, "f", 0, &choices), FIT_PLAIN);
	CHECK_EQ(choices.n, 2);
	CHECK(choices.at[0].map == &p->functions.at[0]);
	vec_done(&choices);
	profile_free(p);
}

TEST(annotate_find_ranks_by_the_cost_that_is_shown)
{
	struct profile *p = make();
	size_t n = p->cct.values.n;
	annotate_choices choices;

	p->functions.at[1].name = intern_add(&p->strings, "f(char)");
	for (size_t i = 0; i < n; i++) { /* of an event that occurs only there */
		struct cct_value value = p->cct.values.at[i];
		const struct cct_node *node = &p->cct.nodes.at[value.node];
		value.metric = 1;
		if (profile_function(p, node->image, node->vaddr) == &p->functions.at[1])
			vec_push(&p->cct.values, value);
	}
	CHECK_EQ(annotate_find(p, "f", 1, &choices), FIT_PLAIN);
	CHECK_EQ(choices.n, 2);
	CHECK(choices.at[0].map == &p->functions.at[1]);
	CHECK_EQ(choices.at[0].cost, 4);
	CHECK_EQ(choices.at[1].cost, 0);
	vec_done(&choices);
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

/* f's code: sixteen nops. */
static void give_code(struct profile *p)
{
	static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };

	p->images.at[IMAGE].elf_machine = EM_AARCH64;
	vec_push(&p->codes,
		 (struct profile_code){ .image = IMAGE, .vaddr = 0x1000, .offset = 0, .len = 0x40 });
	for (unsigned i = 0; i < 0x40; i++)
		vec_push(&p->code_bytes, nop[i % 4]);
}

TEST(annotate_gives_each_instruction_its_own_cost)
{
	struct profile *p = make();
	struct annotation a;

	give_code(p);
	annotate(p, &p->functions.at[0], &a);
	CHECK_EQ(a.codes.n, 1);
	CHECK(a.codes.at[0].map == &p->functions.at[0]);
	CHECK_EQ(a.codes.at[0].n, 16);
	CHECK_EQ(a.codes.at[0].self[0], 12);
	CHECK_EQ(a.insns.at[1].self[0], 5);
	CHECK_EQ(a.insns.at[4].calls[0], 0);
	CHECK_EQ(a.insns.at[5].calls[0], 4);
	annotation_done(&a);
	profile_free(p);
}

TEST(annotate_without_debug_information_shows_instructions_and_names_calls)
{
	static const uint8_t call[] = { 0xff, 0x03, 0x00, 0x94 }; /* bl, from 0x1004 to 0x2000 */
	struct profile *p = make();
	struct annotation a;
	struct text text = { 0 };
	uint32_t metric = 0;
	struct source_search nowhere = { 0 };
	struct annotate_text_options options = { .metrics = &metric, .n_metrics = 1, .sources = &nowhere };

	give_code(p);
	memcpy(&p->code_bytes.at[4], call, sizeof(call));
	p->functions.at[0].decl_file = 0;
	annotate(p, &p->functions.at[0], &a);
	annotate_text(p, &a, &options, &text);
	CHECK(strstr(text.at, "no debug information"));
	CHECK(strstr(text.at, "bl h\n"));
	CHECK(!strstr(text.at, "sampled by a timer"));
	CHECK(strstr(text.at,
		     "instructions (accurate for single instructions only if the event is precise)"));
	text_clear(&text);
	p->metrics.at[0].unit = intern_add(&p->strings, "ns");
	annotate_text(p, &a, &options, &text);
	CHECK(strstr(text.at, "sampled by a timer: accurate for basic blocks and loops"));
	text_done(&text);
	annotation_done(&a);
	profile_free(p);
}

/*
 * f has a loop: its header is at 0x1008, the back edge at 0x1014. The nop at 0x1004 is from its source, but
 * was moved before it. According to its test it has only line 10, but line 11 is in its code.
 */
static void give_loop(struct profile *p)
{
	static const uint8_t back[] = { 0xa1, 0xff, 0xff, 0x54 }; /* b.ne, from 0x1014 to 0x1008 */
	struct structure structure = { .image = IMAGE, .function = 0x1000 };
	const struct function_map *f = &p->functions.at[0];

	give_code(p);
	memcpy(&p->code_bytes.at[0x14], back, sizeof(back));
	vec_push(&structure.scopes, (struct static_scope){ .kind = SCOPE_FUNCTION, .vaddr = 0x1000 });
	vec_push(&structure.scopes, (struct static_scope){ .kind = SCOPE_LOOP,
							   .name = f->name,
							   .file = f->decl_file,
							   .line = 10,
							   .end_line = 10,
							   .vaddr = 0x1008 });
	vec_push(&structure.ranges, (struct static_range){ 0x1004, 0x14, 1 });
	vec_push(&p->structures, structure);
}

static void find_insn_loops(const struct profile *p, struct insn_loops *ret)
{
	struct function_parts parts;

	function_parts_init(&parts, p);
	insn_loops_find(&parts, IMAGE, 0x1000, ret);
	function_parts_done(&parts);
}

TEST(insn_loops_start_at_the_header_not_at_code_moved_before_it)
{
	struct profile *p = make();
	struct insn_loops loops;

	give_loop(p);
	find_insn_loops(p, &loops);
	CHECK_EQ(insn_loops_at(&loops, 0x1000), 0);
	CHECK_EQ(insn_loops_at(&loops, 0x1004), 0);
	CHECK_EQ(insn_loops_at(&loops, 0x1008), 1);
	CHECK_EQ(insn_loops_at(&loops, 0x1014), 1);
	CHECK_EQ(insn_loops_at(&loops, 0x1018), 0);
	insn_loops_done(&loops);
	profile_free(p);
}

TEST(insn_loops_contain_all_their_code_if_a_jump_has_unknown_targets)
{
	static const uint8_t jump[] = { 0x00, 0x00, 0x1f, 0xd6 }; /* br x0 */
	struct profile *p = make();
	struct insn_loops loops;

	give_loop(p);
	memcpy(&p->code_bytes.at[0x8], jump, sizeof(jump));
	find_insn_loops(p, &loops);
	CHECK_EQ(insn_loops_at(&loops, 0x1004), 1);
	CHECK_EQ(insn_loops_at(&loops, 0x1014), 1);
	insn_loops_done(&loops);
	profile_free(p);
}

TEST(source_loops_extend_as_far_as_their_code)
{
	struct profile *p = make();
	source_loops loops = { 0 };

	give_loop(p);
	source_loops_find(p, &p->functions.at[0], false, &loops);
	CHECK_EQ(loops.n, 1);
	CHECK_EQ(loops.at[0].first, 10);
	CHECK_EQ(loops.at[0].last, 11);
	vec_done(&loops);
	profile_free(p);
}

TEST(annotate_inlined_has_only_its_own_instructions)
{
	struct profile *p = make();
	struct annotation a;

	give_code(p);
	CHECK_EQ(annotate_inlined(p, "g", &a), 0);
	CHECK_EQ(a.codes.n, 1);
	CHECK(a.codes.at[0].map == &p->functions.at[0]);
	CHECK_EQ(a.codes.at[0].n, 4);
	CHECK_EQ(a.codes.at[0].self[0], 7);
	CHECK_EQ(a.insns.at[0].offset, 0x20);
	CHECK_EQ(a.insns.at[1].self[0], 7);
	annotation_done(&a);
	profile_free(p);
}

TEST(annotate_text_contains_no_terminal_escapes)
{
	struct profile *p = make();
	struct annotation a;
	struct text text = { 0 };
	uint32_t metric = 0, file = intern_add(&p->strings, "/src/\033[31m/\033[2J.c");
	struct source_search nowhere = { 0 };
	struct annotate_text_options options = {
		.metrics = &metric, .n_metrics = 1, .insns = true, .all = true, .sources = &nowhere
	};
	struct function_map *map = &p->functions.at[0];

	map->decl_file = file;
	for (size_t i = 0; i < map->lines.n; i++)
		map->lines.at[i].file = file;
	p->metrics.at[0].name = intern_add(&p->strings, "sam\033ples");
	annotate(p, map, &a);
	annotate_text(p, &a, &options, &text);
	CHECK(strstr(text.at, "the text of '/src/?[31m/?[2J.c' was not found"));
	CHECK(strstr(text.at, "line     ?[2J.c\n"));
	CHECK(strstr(text.at, "of sam?ples itself"));
	CHECK(!strchr(text.at, '\033'));
	text_done(&text);
	annotation_done(&a);
	profile_free(p);
}
