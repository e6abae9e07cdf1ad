/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, flow and control-flow graphs on the small binaries of tests/data/recipes.
 */
#include "binary/flow/cfg.h"
#include "binary/flow/flow.h"
#include "binary/functions/function.h"
#include "tests/test.h"

struct scene {
	struct images *images;
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
	struct functions *functions;
	struct flow flow;
};

static struct scene scene_hiding(const char *name, const struct function_options *hide)
{
	struct scene s = { .images = images_new() };
	char path[512];
	image_id id;

	snprintf(path, sizeof(path), "%s/%s", RECIPE_DATA, name);
	CHECK_EQ(images_open(s.images, path, &id, NULL), 0);
	s.image = images_get(s.images, id);
	s.symbols = symbols_read(s.image);
	s.frames = frames_read(s.image);
	s.functions = functions_new(s.image, s.symbols, s.frames, hide);
	CHECK(s.functions != NULL);
	functions_analyse(s.functions, NULL, NULL);
	flow_init(&s.flow, functions_facts(s.functions));
	return s;
}

static struct scene scene(const char *name)
{
	return scene_hiding(name, NULL);
}

static void scene_done(struct scene *s)
{
	flow_done(&s->flow);
	functions_free(s->functions);
	frames_free(s->frames);
	symbols_free(s->symbols);
	images_free(s->images);
}

static uint32_t index_of(const struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->symbols->n; i++)
		if (strcmp(s->symbols->at[i].name, name) == 0)
			return functions_index(s->functions, s->symbols->at[i].vaddr);
	return FUNCTION_NONE;
}

static void analyse(struct scene *s, const char *name)
{
	uint32_t index = index_of(s, name);

	CHECK(index != FUNCTION_NONE);
	functions_analyse_one(s->functions, index, &s->flow);
}

static size_t n_table_targets(const struct scene *s)
{
	return s->flow.tables.n == 1 ? s->flow.tables.at[0].n : 0;
}

TEST(flow_reads_as_many_entries_as_a_byte_compare_allows)
{
	struct scene s = scene("rules_x86_64");

	analyse(&s, "byte_switch");
	CHECK_EQ(n_table_targets(&s), 251);
	CHECK_EQ(s.flow.verdict, FLOW_PASSES);
	scene_done(&s);
}

TEST(flow_ends_a_table_where_the_next_begins)
{
	struct scene s = scene("rules_x86_64");

	analyse(&s, "masked_switch"); /* the mask allows eight entries, the table has three */
	CHECK_EQ(n_table_targets(&s), 3);
	analyse(&s, "next_switch"); /* the table's base is spilled over a call */
	CHECK_EQ(n_table_targets(&s), 3);
	scene_done(&s);
}

TEST(flow_resolves_the_tables_of_aarch64)
{
	struct scene s = scene("rules_aarch64");

	analyse(&s, "byte_table");
	CHECK_EQ(n_table_targets(&s), 4);
	analyse(&s, "half_table");
	CHECK_EQ(n_table_targets(&s), 3);
	analyse(&s, "word_table");
	CHECK_EQ(n_table_targets(&s), 3);
	scene_done(&s);
}

TEST(flow_absorbs_cold_parts)
{
	static const char *const files[] = { "rules_x86_64", "rules_aarch64" };

	for (size_t i = 0; i < 2; i++) {
		struct scene s = scene(files[i]);
		uint32_t hot = index_of(&s, "hot"), cold = index_of(&s, "hot_cold");

		CHECK_EQ(s.functions->at[cold].kind, FUNCTION_PART);
		CHECK_EQ(s.functions->at[cold].parent, hot);
		analyse(&s, "hot");
		CHECK_EQ(s.flow.parts.n, 2);
		CHECK_EQ(s.flow.verdict, FLOW_PASSES);
		scene_done(&s);
	}
}

TEST(flow_knows_calls_that_do_not_return)
{
	struct scene s = scene("rules_x86_64");

	CHECK_EQ(s.functions->at[index_of(&s, "never")].returns, RETURNS_NEVER);
	CHECK_EQ(s.functions->at[index_of(&s, "dies")].returns, RETURNS);
	scene_done(&s);
}

TEST(flow_finds_what_lies_above_the_return_address)
{
	struct scene s = scene("rules_x86_64");

	analyse(&s, "resolver");
	CHECK_EQ(s.flow.bias, 16);
	CHECK_EQ(s.flow.verdict, FLOW_PASSES);
	analyse(&s, "hot");
	CHECK_EQ(s.flow.bias, 0);
	scene_done(&s);
}

TEST(flow_includes_a_veneer)
{
	struct scene s = scene("rules_aarch64");

	analyse(&s, "has_veneer");
	CHECK_EQ(s.flow.parts.n, 2);
	CHECK_EQ(s.flow.verdict, FLOW_PASSES);
	scene_done(&s);
}

TEST(cfg_has_an_edge_for_each_successor)
{
	struct scene s = scene("rules_x86_64");
	struct cfg cfg;
	unsigned n_table = 0;

	analyse(&s, "byte_switch");
	cfg_build(&cfg, &s.flow);
	CHECK_EQ(cfg.function, s.flow.vaddrs.at[0]);
	CHECK_EQ(cfg.blocks[cfg.entry].start, cfg.function);
	CHECK_EQ(cfg.blocks[cfg.entry].end_kind, BLOCK_BRANCHES);
	CHECK_EQ(cfg.blocks[cfg.entry].n_edges, 2);
	for (size_t i = 0; i < cfg.n_edges; i++)
		n_table += cfg.edges[i].kind == EDGE_TABLE;
	CHECK_EQ(n_table, 2); /* 251 entries with two different targets */
	for (size_t i = 0; i + 1 < cfg.n_blocks; i++)
		CHECK(cfg.blocks[i].end <= cfg.blocks[i + 1].start);
	CHECK_EQ(cfg_find(&cfg, cfg.blocks[1].last), 1);
	CHECK_EQ(cfg_find(&cfg, cfg.function - 1), UINT32_MAX);
	cfg_done(&cfg);
	scene_done(&s);
}

TEST(cfg_of_a_tail_call_names_its_target)
{
	struct scene s = scene("rules_x86_64");
	struct cfg cfg;

	analyse(&s, "tails");
	cfg_build(&cfg, &s.flow);
	const struct cfg_block *last = &cfg.blocks[cfg.n_blocks - 1];
	CHECK_EQ(last->end_kind, BLOCK_TAIL_CALLS);
	CHECK_EQ(last->tail_target, s.functions->at[index_of(&s, "leaf")].start);
	CHECK_EQ(last->n_calls, 1);
	cfg_done(&cfg);
	scene_done(&s);
}

/* Every function that has a symbol and is not cold is found without symbols. */
static void check_found(const char *file, unsigned n_missing)
{
	struct scene known = scene(file);
	struct scene bare = scene_hiding(file, &(struct function_options){ true, true, true });
	unsigned n_missed = 0, n_wrong = 0;

	for (size_t i = 0; i < known.functions->n; i++) {
		const struct function *f = &known.functions->at[i];
		uint32_t found = functions_index(bare.functions, f->start);
		bool is_found = found != FUNCTION_NONE && bare.functions->at[found].start == f->start;
		n_missed += f->kind == FUNCTION_WHOLE && !is_found;
	}
	for (size_t i = 0; i < bare.functions->n; i++) {
		uint32_t in = functions_index(known.functions, bare.functions->at[i].start);
		n_wrong +=
			in == FUNCTION_NONE || known.functions->at[in].start != bare.functions->at[i].start;
	}
	CHECK_EQ(n_wrong, 0);
	CHECK_EQ(n_missed, n_missing);
	scene_done(&known);
	scene_done(&bare);
}

TEST(functions_are_found_in_code_alone)
{
	check_found("x86_64_gcc_no_tables", 0);
	check_found("aarch64_gcc_no_tables", 0);
	check_found("x86_64_gcc_O0", 0);
	check_found("aarch64_gcc_Os", 0);
}

TEST(functions_have_an_index_before_any_survey)
{
	struct scene s = { .images = images_new() };
	image_id id;

	CHECK_EQ(images_open(s.images, RECIPE_DATA "/x86_64_gcc_O2", &id, NULL), 0);
	s.image = images_get(s.images, id);
	s.symbols = symbols_read(s.image);
	s.frames = frames_read(s.image);
	s.functions = functions_new(s.image, s.symbols, s.frames, NULL);
	CHECK(!s.functions->is_surveyed);
	uint32_t run = index_of(&s, "run");
	CHECK_STR(s.functions->at[run].name, "run");
	CHECK(s.functions->at[run].sources & FROM_SYMBOL);
	CHECK(s.functions->at[run].sources & FROM_FRAME);
	CHECK_EQ(functions_index(s.functions, s.functions->at[run].start - 1 + 1), run);
	functions_free(s.functions);
	frames_free(s.frames);
	symbols_free(s.symbols);
	images_free(s.images);
}

/* A state that arrives at a leader must not remove anything that is known there. */
static uint64_t taken_away(const struct scene *s, uint32_t to, const struct state *arriving)
{
	const struct state *known = to == FLOW_NONE || to == 0 ? NULL : flow_state(&s->flow, to);
	struct state copy;

	if (!known || (s->flow.flags.at[to] & (INSN_WEAK | INSN_GUESS)))
		return 0;
	state_copy(&copy, known);
	return state_join(&copy, arriving);
}

/* Continues from a leader as the analysis did; counts the jumps that add information to their target. */
static unsigned count_unsettled(struct scene *s, uint32_t i)
{
	struct flow *flow = &s->flow;
	bool is_weak = false; /* only padding since a call: the state may be rejected */
	unsigned n = 0;
	struct state state;

	state_copy(&state, flow_state(flow, i));
	for (; i < flow->insns.n && (flow->flags.at[i] & INSN_REACHED); i++) {
		const struct insn *insn = &flow->insns.at[i];
		bool is_jump = insn->flow == FLOW_JUMP || insn->flow == FLOW_BRANCH;
		bool is_call = insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT;

		flow_step(flow, i, &state);
		is_weak = is_call || (is_weak && insn->is_padding);
		if (is_jump && !(flow->uses.at[i].needs & FLOW_EQUATES))
			n += taken_away(s, flow_insn_at(flow, insn->target), &state) != 0;
		bool goes_on = insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH ||
			       (is_call && flow_call_returns(flow, i));
		if (!goes_on || (flow->uses.at[i].needs & FLOW_EQUATES))
			break;
		if (i + 1 < flow->insns.n && (flow->flags.at[i + 1] & INSN_LEADER))
			return n + (!is_weak && taken_away(s, i + 1, &state));
	}
	return n;
}

TEST(flow_ends_at_a_fixed_point)
{
	static const char *const names[] = { "x86_64_gcc_O1_static", "x86_64_clang_O2", "aarch64_gcc_O2",
					     "aarch64_clang_O2",     "rules_x86_64",    "rules_aarch64" };
	unsigned n_leaders = 0, n_unsettled = 0;

	for (size_t k = 0; k < ARRAY_LEN(names); k++) {
		struct scene s = scene(names[k]);
		for (uint32_t f = 0; f < s.functions->n; f++) {
			functions_analyse_one(s.functions, f, &s.flow);
			for (uint32_t i = 0; i < s.flow.insns.n; i++)
				if (flow_state(&s.flow, i) &&
				    !(s.flow.flags.at[i] & (INSN_GUESS | INSN_WEAK))) {
					n_unsettled += count_unsettled(&s, i);
					n_leaders++;
				}
		}
		scene_done(&s);
	}
	CHECK_EQ(n_unsettled, 0);
	CHECK(n_leaders > 100);
}

TEST(functions_index_distinguishes_adjacent_functions)
{
	struct scene s = scene("x86_64_gcc_O1_static");
	const struct functions *functions = s.functions;

	CHECK(functions->n > 2);
	CHECK_EQ(functions_index(functions, functions->at[0].start - 1), FUNCTION_NONE);
	CHECK_EQ(functions_index(functions, UINT64_MAX), FUNCTION_NONE);
	for (uint32_t i = 0; i < functions->n; i++) {
		const struct function *f = &functions->at[i];
		bool is_adjacent = i + 1 < functions->n && f[1].start == f->end;

		CHECK_EQ(functions_index(functions, f->start), i);
		CHECK_EQ(functions_index(functions, f->end - 1), i);
		CHECK_EQ(functions_index(functions, f->end), is_adjacent ? i + 1 : FUNCTION_NONE);
		CHECK_EQ(functions_next_start(functions, f->start),
			 i + 1 < functions->n ? f[1].start : UINT64_MAX);
	}
	scene_done(&s);
}

/* Unwind entries, symbols, stubs and entry points are merged: in order, none missing, no duplicates. */
TEST(functions_index_is_sorted_and_has_all_that_the_image_states)
{
	static const char *const names[] = { "x86_64_gcc_O1_static", "x86_64_gcc_O2", "aarch64_gcc_O2",
					     "rules_x86_64" };

	for (size_t k = 0; k < ARRAY_LEN(names); k++) {
		struct scene s = scene(names[k]);
		struct fde fde;

		for (uint32_t i = 1; i < s.functions->n; i++)
			CHECK(s.functions->at[i - 1].end <= s.functions->at[i].start);
		for (size_t i = 0; i < frames_count(s.frames); i++)
			if (frames_get(s.frames, i, &fde) == 0)
				CHECK(functions_index(s.functions, fde.start) != FUNCTION_NONE);
		for (size_t i = 0; i < s.symbols->n; i++)
			if (s.symbols->at[i].size && image_is_code(s.image, s.symbols->at[i].vaddr))
				CHECK(functions_index(s.functions, s.symbols->at[i].vaddr) != FUNCTION_NONE);
		scene_done(&s);
	}
}
