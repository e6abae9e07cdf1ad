/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about loops besides their cost: a nest in main, whose inner loop has a vector body and a
 * remainder. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/annotate/source_text.h"
#include "report/cycles/count_loops.h"
#include "report/html/html.h"
#include "report/label.h"
#include "report/text/rows.h"
#include "report/text/text.h"
#include "report/text/text_loops.h"
#include "report/tree/document.h"
#include "report/tree/filter.h"
#include "structure/fuse.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define OUTER 0x1020u
#define INNER 0x1040u
#define REST 0x1070u

static void add_nest(struct profile *p)
{
	uint32_t name = p->functions.at[0].name, file = p->functions.at[0].decl_file;
	struct structure s = { .image = 0, .function = 0x1000 };

	vec_push(&s.scopes, ((struct static_scope){ .kind = SCOPE_FUNCTION, .name = name, .vaddr = 0x1000 }));
	vec_push(&s.scopes, ((struct static_scope){ .kind = SCOPE_LOOP,
						    .name = name,
						    .file = file,
						    .line = 44,
						    .end_line = 60,
						    .vaddr = OUTER }));
	vec_push(&s.scopes, ((struct static_scope){ .kind = SCOPE_LOOP,
						    .parent = 1,
						    .flags = SCOPE_VECTOR | SCOPE_UNROLLED,
						    .name = name,
						    .file = file,
						    .line = 50,
						    .end_line = 52,
						    .vaddr = INNER }));
	vec_push(&s.ranges, ((struct static_range){ OUTER, 0x20, 1 }));
	vec_push(&s.ranges, ((struct static_range){ INNER, 0x60, 2 }));
	vec_push(&s.ranges, ((struct static_range){ 0x10a0, 0x20, 1 }));
	vec_push(&s.pieces, ((struct loop_piece){ .scope = 1,
						  .header = OUTER,
						  .n_blocks = 2,
						  .start = OUTER,
						  .len = 0xa0,
						  .n_calls = 1 }));
	vec_push(&s.pieces, ((struct loop_piece){ .scope = 2,
						  .header = INNER,
						  .n_blocks = 1,
						  .flags = SCOPE_VECTOR | SCOPE_UNROLLED,
						  .start = INNER,
						  .len = 0x30,
						  .width = 16 }));
	vec_push(&s.pieces, ((struct loop_piece){
				    .scope = 2, .header = REST, .n_blocks = 1, .start = REST, .len = 0x30 }));
	vec_push(&p->structures, p->structures.at[0]);
	p->structures.at[0] = s; /* sorted by image and function */
	vec_push(&p->functions.at[0].lines, ((struct line_row){ 0x40, file, 51, 3, 1, 0 }));
	vec_push(&p->functions.at[0].lines, ((struct line_row){ 0x70, file, 50, 3, 1, 0 }));
	vec_push(&p->functions.at[0].lines, ((struct line_row){ 0xa0, file, 58, 3, 1, 0 }));
}

static void add_samples(struct profile *p, uint64_t vaddr, uint32_t thread, uint64_t n)
{
	cct_add_value(&p->cct, cct_child(&p->cct, CCT_ROOT, 0, vaddr, 0), thread, 0, n);
}

/* Of 210 samples: 100 in the inner loop, 80 of them in its vector body; 10 in the outer one. Two threads. */
static struct profile *nest_profile(void)
{
	struct profile *p = sample_profile();

	add_nest(p);
	add_samples(p, INNER + 8, 0, 70);
	add_samples(p, INNER + 8, 1, 10);
	add_samples(p, REST + 8, 1, 20);
	add_samples(p, 0x10a4, 0, 10);
	return p;
}

static void fuse_nest(const struct profile *p, struct scope_tree *ret)
{
	struct fuse_input input = profile_fuse_input(p);

	fuse(&input, &(struct fuse_options){ .lines = true, .addresses = true }, ret);
}

static uint32_t scope_of(const struct scope_tree *tree, uint64_t header)
{
	for (uint32_t i = 0; i < tree->scopes.n; i++)
		if (scope_kind(tree, i) == SCOPE_LOOP && scope_frame(tree, i)->vaddr == header)
			return i;
	CHECK(!"such a loop");
	abort();
}

TEST(loop_facts_split_cost_by_code_and_thread)
{
	OWNED struct profile *p = nest_profile();
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(loop_table_done) struct loop_table loops;

	fuse_nest(p, &tree);
	for (size_t i = 0, n = tree.values.n; i < n; i++) { /* zeros, which a file may contain */
		struct scope_value value = tree.values.at[i];
		vec_push(&tree.values, value);
		tree.values.at[i].value = 0;
	}
	loop_table_init(&loops, p, &tree, 0, NULL);
	const struct loop_facts *inner = loop_table_find(&loops, &tree, scope_of(&tree, INNER)),
				*outer = loop_table_find(&loops, &tree, scope_of(&tree, OUTER));
	CHECK(inner->has_code && inner->code.is_innermost && !outer->code.is_innermost);
	CHECK_EQ(inner->code.n_copies, 2);
	CHECK_EQ(inner->code.width, 16);
	CHECK_EQ(inner->own, 100);
	CHECK_EQ(inner->vector, 80);
	CHECK_EQ(inner->hot_line, 51);
	CHECK_EQ(inner->hot_cost, 80);
	CHECK_EQ(inner->share.sum, 100);
	CHECK_EQ(inner->share.most, 70);
	CHECK_EQ(inner->share.least, 30);
	CHECK_EQ(inner->share.n_threads, 2);
	CHECK(loop_facts_imbalance(inner) > 39.9 && loop_facts_imbalance(inner) < 40.1);
	CHECK_EQ(outer->own, 10);
	CHECK_EQ(outer->vector, 0);
	CHECK_EQ(outer->code.n_calls, 1);
	CHECK_EQ(outer->hot_line, 51); /* including inner loops */
	CHECK_EQ(outer->share.most, 80);
	CHECK_EQ(loop_facts_doubts(inner, 210), DOUBT_IMBALANCE);
}

TEST(loop_facts_are_described_in_words)
{
	OWNED struct profile *p = nest_profile();
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(loop_table_done) struct loop_table loops;
	CLEANUP(text_done) struct text inner = { 0 }, outer = { 0 }, tags = { 0 };

	fuse_nest(p, &tree);
	loop_table_init(&loops, p, &tree, 0, NULL);
	loop_tags_tell(p, NULL, scope_frame(&tree, scope_of(&tree, INNER)), &tags);
	CHECK_STR(tags.at, " [vector 128 bit] [unrolled] [2 copies]");
	loop_facts_tell(loop_table_find(&loops, &tree, scope_of(&tree, INNER)), 200, &inner);
	CHECK_STR(inner.at,
		  "80% of its own cost in vector code; 2 threads: 15.0% to 35.0%, mean 25.0%, imbalance 40%");
	loop_facts_tell(loop_table_find(&loops, &tree, scope_of(&tree, OUTER)), 200, &outer);
	CHECK(strncmp(outer.at, "1 call inside; 2 threads: 15.0% to 40.0%", 40) == 0);
}

/* The outer loop is entered twice and iterates eight times; the copies of the inner one seven and three. */
#define COUNTS(WHOLE)                                                                        \
	"{\"schema\":\"cpprof-paths\",\"whole\":" WHOLE                                      \
	",\"functions\":[{\"name\":\"main\",\"module\":\"/bin/%s\","                         \
	"\"vaddr\":\"0x1000\",\"total\":8,\"cuts\":0,\"ways\":["                             \
	"{\"count\":6,\"blocks\":[\"0x1020\"],\"leaves\":false,\"next\":\"0x1020\"},"        \
	"{\"count\":2,\"blocks\":[\"0x1000\"],\"leaves\":true}],"                            \
	"\"blocks\":[{\"vaddr\":\"0x1040\",\"count\":7},{\"vaddr\":\"0x1020\",\"count\":8}," \
	"{\"vaddr\":\"0x1070\",\"count\":3}]}]}"

#define COUNTS_OF(BUILD)                                                                 \
	"{\"schema\":\"cpprof-paths\",\"whole\":true,\"functions\":[{\"name\":\"main\"," \
	"\"module\":\"/bin/%s\",\"build_id\":\"" BUILD "\",\"vaddr\":\"0x1000\",\"blocks\":[]}]}"

/* Counts for the profile's own program, or for another. */
static void read_counts(const struct profile *p, const char *text, const char *module,
			struct loop_counts *ret)
{
	char path[] = "/tmp/cpprof_counts_XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct diag diag = { 0 };

	fprintf(file, text, module ? module : label_image(p, 0));
	fclose(file);
	CHECK_EQ(loop_counts_read(path, p, ret, &diag), 0);
	unlink(path);
}

static void tell_counted(const char *text, const char *module, uint64_t header, struct text *ret)
{
	OWNED struct profile *p = nest_profile();
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(loop_counts_done) struct loop_counts counts = { 0 };

	fuse_nest(p, &tree);
	read_counts(p, text, module, &counts);
	loop_tags_tell(p, &counts, scope_frame(&tree, scope_of(&tree, header)), ret);
}

TEST(loop_facts_have_counts_if_available)
{
	CLEANUP(text_done) struct text inner = { 0 }, outer = { 0 }, part = { 0 }, other = { 0 };

	tell_counted(COUNTS("true"), NULL, INNER, &inner);
	CHECK_STR(inner.at, " [vector 128 bit] [unrolled] [2 copies] [10 passes]");
	tell_counted(COUNTS("true"), NULL, OUTER, &outer);
	CHECK_STR(outer.at, " [8 iterations, ~4.0 each time]");
	tell_counted(COUNTS("false"), NULL, OUTER, &part);
	CHECK_STR(part.at, " [~4.0 iterations each time]");
	tell_counted(COUNTS("true"), "another", OUTER, &other);
	CHECK_EQ(other.len, 0);
}

TEST(loop_facts_refuse_counts_of_another_build)
{
	OWNED struct profile *p = nest_profile();
	CLEANUP(loop_counts_done) struct loop_counts own = { 0 }, other = { 0 };
	struct diag diag = { 0 };

	p->images.at[0].build_id = (struct build_id){ 2, { 0xab, 0x01 } };
	read_counts(p, COUNTS_OF("ab01"), NULL, &own);
	CHECK_EQ(loop_counts_check("counts", &own, p, &diag), 0);
	read_counts(p, COUNTS_OF("ab02"), NULL, &other);
	CHECK_EQ(loop_counts_check("counts", &other, p, &diag), -EINVAL);
	CHECK(strstr(diag.what, "counts of another build"));
	CHECK(strstr(diag.why, "ab02") && strstr(diag.why, "ab01"));
	p->images.at[0].build_id.len = 0; /* no build-id: cannot be checked */
	CHECK_EQ(loop_counts_check("counts", &other, p, &diag), 0);
}

TEST(loop_facts_need_a_file_of_counts)
{
	CLEANUP(loop_counts_done) struct loop_counts counts = { 0 };
	struct diag diag = { 0 };

	CHECK(loop_counts_read("/dev/null", NULL, &counts, &diag) < 0);
	CHECK(strstr(diag.what, "has no counts"));
	CHECK_EQ(loop_counts_read("/nonexistent", NULL, &counts, &diag), -ENOENT);
}

static const char *source_line(void *context, const char *path, uint32_t line)
{
	(void)context;
	return strcmp(path, "/src/solve.c") == 0 && line == 51 ? "\t\ta[i] += b[i];" : NULL;
}

typedef int (*renderer)(const struct text_input *, const struct text_options *, FILE *);

/* As the command does it: samples of some functions only, if they are named; rows without addresses. */
static void render_rows(renderer put, struct text_options options, const char *focus, char **ret)
{
	OWNED struct profile *p = nest_profile();
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(costs_done) struct costs costs = { 0 };
	CLEANUP(loop_table_done) struct loop_table loops;
	const struct text_source source = { NULL, source_line };
	size_t len = 0;

	fuse_nest(p, &tree);
	if (focus) {
		CLEANUP(freep) bool *is_focus = NULL;
		struct scope_tree part;
		CHECK_EQ(scope_tree_match(&tree, p, focus, &is_focus, &(struct diag){ 0 }), 0);
		scope_tree_filter(&tree, &(struct filter){ .is_focus = is_focus }, &part);
		scope_tree_done(&tree);
		tree = part;
	}
	loop_table_init(&loops, p, &tree, 0, NULL);
	scope_tree_drop_lines(&tree);
	costs_init(&costs, &tree, NULL);
	struct text_input input = { p, &tree, &costs, NULL, NULL, NULL, &loops, NULL };
	options.source = &source;
	FILE *file = open_memstream(ret, &len);
	CHECK_EQ(put(&input, &options, file), 0);
	fclose(file);
}

static void render_loops(renderer put, char **ret)
{
	render_rows(put, (struct text_options){ .view = TEXT_LOOPS, .group = GROUP_LOOP }, NULL, ret);
}

static int put_text(const struct text_input *input, const struct text_options *options, FILE *to)
{
	CLEANUP(text_done) struct text text = { 0 };

	report_text(input, options, &text);
	return fputs(text.at, to) < 0 ? -1 : 0;
}

TEST(loops_view_has_the_facts_of_each_loop)
{
	CLEANUP(freep) char *text = NULL;

	render_loops(put_text, &text);
	const char *outer = strstr(text, "loop at solve.c:44"), *inner = strstr(text, "loop at solve.c:50");
	CHECK(outer && inner && outer < inner);
	CHECK(strstr(inner, "[vector 128 bit] [unrolled] [2 copies]"));
	CHECK(strstr(inner, "hottest line solve.c:51, 38.1%: a[i] += b[i];"));
	CHECK(strstr(inner, "80% of its own cost in vector code"));
	CHECK(strstr(outer, "1 call inside; 2 threads"));
}

/* The text from `part` to the end of its line. */
static char *line_with(const char *text, const char *part)
{
	const char *at = strstr(text, part);

	CHECK(at);
	return strndup(at, strcspn(at, "\n"));
}

TEST(rows_of_every_view_have_the_facts_of_each_loop)
{
	static const struct text_options views[] = {
		{ .view = TEXT_TREE },
		{ .view = TEXT_HOT },
		{ .view = TEXT_FLAT, .group = GROUP_LOOP, .sort = VIEW_BY_INCLUSIVE }
	};

	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		CLEANUP(freep) char *text = NULL;
		render_rows(put_text, views[i], "^main$", &text);
		CLEANUP(freep) char *inner = line_with(text, "loop at solve.c:50");
		CHECK(strstr(inner, "[vector 128 bit] [unrolled] [2 copies]"));
		/* The vector body and its remainder share lines: they are distinguished by
		 * addresses. */
		CHECK(strstr(inner, "  80% of its own cost in vector code; 2 threads: "));
		CHECK(strstr(inner, "imbalance 40%; hottest line solve.c:51, "));
		CHECK(strstr(inner, "%: a[i] += b[i];"));
	}
}

TEST(rows_have_the_hottest_line_if_there_is_room)
{
	CLEANUP(freep) char *wide = NULL, *medium = NULL, *narrow = NULL;

	render_rows(put_text, (struct text_options){ .view = TEXT_TREE, .style.width = 240 }, NULL, &wide);
	CHECK(strstr(wide, "a[i] += b[i];"));
	render_rows(put_text, (struct text_options){ .view = TEXT_TREE, .style.width = 120 }, NULL, &medium);
	CLEANUP(freep) char *inner = line_with(medium, "loop at solve.c:50");
	CHECK(strstr(inner, "80% of"));
	CHECK(!strstr(inner, "hottest"));
	render_rows(put_text, (struct text_options){ .view = TEXT_TREE, .style.width = 60 }, NULL, &narrow);
	CHECK(!strstr(narrow, "80% of"));
}

/* main, its nest, and the same once more below. */
static void render_recursion(char **ret)
{
	OWNED struct profile *p = nest_profile();
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(loop_table_done) struct loop_table loops;
	CLEANUP(costs_done) struct costs costs;
	struct text_input input = { p, &tree, &costs, NULL, NULL, NULL, &loops, NULL };
	struct text_options options = { .view = TEXT_TREE };
	uint32_t call = cct_child(&p->cct, CCT_ROOT, 0, 0x10a4, 0);
	size_t len;

	cct_add_value(&p->cct, cct_child(&p->cct, call, 0, INNER + 8, 0), 0, 0, 1000);
	fuse_nest(p, &tree);
	loop_table_init(&loops, p, &tree, 0, NULL);
	scope_tree_drop_lines(&tree);
	costs_init(&costs, &tree, NULL);
	FILE *file = open_memstream(ret, &len);
	CHECK_EQ(put_text(&input, &options, file), 0);
	fclose(file);
}

static size_t count_parts(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		n++;
	return n;
}

TEST(trees_have_the_facts_of_each_loop_once)
{
	CLEANUP(freep) char *text = NULL;

	render_recursion(&text);
	CHECK(count_parts(text, "loop at solve.c:50") > 1);
	CHECK_EQ(count_parts(text, "[vector 128 bit] [unrolled] [2 copies]"), 1);
	CHECK_EQ(count_parts(text, "98% of its own cost in vector code"), 1);
	CHECK_EQ(count_parts(text, "2 threads: 2.5% to 88.4%"), 1);
}

/* The line on which a loop starts is in its name, and a line that costs little is not shown. */
TEST(rows_omit_an_uninformative_hottest_line)
{
	CLEANUP(freep) char *text = NULL;

	render_recursion(&text);
	CLEANUP(freep) char *outer = line_with(text, "loop at solve.c:44");
	CHECK(strstr(outer, "hottest line solve.c:51"));
	CHECK(!strstr(text, "hottest line solve.c:58")); /* the call: less than 1 % of the cost */
}

static int put_csv(const struct text_input *input, const struct text_options *options, FILE *to)
{
	CLEANUP(text_done) struct text text = { 0 };

	report_csv(input, options, &text);
	return fputs(text.at, to) < 0 ? -1 : 0;
}

static int put_markdown(const struct text_input *input, const struct text_options *options, FILE *to)
{
	CLEANUP(text_done) struct text text = { 0 };

	report_markdown(input, options, &text);
	return fputs(text.at, to) < 0 ? -1 : 0;
}

TEST(csv_and_markdown_have_a_column_of_facts)
{
	const struct text_options by_loop = { .view = TEXT_FLAT, .group = GROUP_LOOP };
	CLEANUP(freep) char *csv = NULL, *markdown = NULL;

	render_rows(put_csv, by_loop, NULL, &csv);
	CHECK(strstr(csv, ",facts\r\n"));
	CHECK(strstr(csv, "[2 copies]; 80% of its own cost in vector code; 2 threads: "));
	CHECK(strstr(csv, "hottest line solve.c:51, 38.1%: a[i] += b[i];"));
	render_rows(put_markdown, by_loop, NULL, &markdown);
	CHECK(strstr(markdown, "| loop | module | facts |\n|---:|---:|---|---|---|\n"));
	CHECK(strstr(markdown, "80% of its own cost in vector code"));
}

static void check_json_facts(struct text_options options)
{
	static const char *const fields[] = {
		"\"vector\":true",
		"\"unrolled\":true",
		"\"vector_bits\":128",
		"\"copies\":2",
		"\"own\":100",
		"\"own_vector\":80",
		"\"hottest_line\":51",
		"\"hottest_cost\":80",
		"\"threads\":2",
		"\"thread_min\":30",
		"\"thread_mean\":50",
		"\"thread_max\":70",
		"\"nesting\":2",
		"\"calls\":1",
		"\"end_line\":52",
		"\"imbalance_percent\":40",
		"\"doubts\":[\"imbalance\"]",
		"\"hottest_text\":\"a[i]+=b[i];\"", /* blanks are removed below */
	};
	CLEANUP(freep) char *json = NULL;

	render_rows(report_json, options, NULL, &json);
	size_t n = 0;
	for (size_t i = 0; json[i]; i++)
		if (json[i] != ' ' && json[i] != '\n' && json[i] != '\t')
			json[n++] = json[i];
	json[n] = 0;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (!strstr(json, fields[i]))
			fprintf(stderr, "no %s\n", fields[i]);
		CHECK(strstr(json, fields[i]));
	}
}

TEST(json_has_the_facts_as_fields_in_every_view)
{
	check_json_facts((struct text_options){ .view = TEXT_LOOPS });
	check_json_facts((struct text_options){ .view = TEXT_TREE });
	check_json_facts((struct text_options){ .view = TEXT_FLAT, .group = GROUP_LOOP });
}

TEST(html_has_the_facts_of_each_loop)
{
	OWNED struct profile *p = nest_profile();
	CLEANUP(loop_counts_done) struct loop_counts counts = { 0 };
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	struct source_search nowhere = { 0 };
	struct document document;
	char *meta = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&meta, &len);

	fuse_nest(p, &tree);
	document_init(&document, p, &tree);
	read_counts(p, COUNTS("true"), NULL, &counts);
	html_write_meta(file, &document, &(struct export_options){ .counts = &counts, .sources = &nowhere },
			&(struct derived){ 0 });
	fclose(file);
	CHECK(strstr(meta, "[vector 128 bit] [unrolled] [2 copies]"));
	CHECK(strstr(meta, "80% of its own cost in vector code"));
	CHECK(strstr(meta, "1 call inside; 2 threads"));
	CHECK(strstr(meta, "hottest line solve.c:51, 38.1%"));
	CHECK(strstr(meta, "[2 copies] [10 passes]"));
	CHECK(strstr(meta, "[8 iterations, ~4.0 each time]"));
	document_done(&document);
	free(meta);
}
