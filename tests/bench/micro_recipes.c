/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_recipes: time to decode an image once, to index it, and to analyse all of it: bounds, control flow
 * and recipe rows; then graphs and loops, which unwinding does not need. usage: micro_recipes ELF
 */
#include <stdio.h>
#include <time.h>

#include "binary/flow/cfg.h"
#include "binary/functions/function.h"
#include "structure/structure.h"
#include "recipes/recover.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t decode_all(const struct functions *functions)
{
	uint64_t n = 0, start, end;

	for (size_t i = 0; functions_text_range(functions, i, &start, &end); i++) {
		struct bytes code = bytes_slice(image_code(functions->image, start), 0, end - start);
		for (uint64_t at = start; code.len;) {
			struct insn insn;
			size_t len = functions->isa->min_insn;
			if (functions->isa->decode(code, at, &insn) == 0 && insn.len)
				len = insn.len;
			code = bytes_from(code, len);
			at += len;
			n++;
		}
	}
	return n;
}

struct rows {
	struct recipes recipes;
	struct recipe_rows list; /* of one function */
	uint64_t n;
	double graphs, loops; /* seconds */
};

static void make_structure(void *context, uint32_t function, struct flow *flow)
{
	struct rows *rows = context;
	struct structure structure = { 0 };
	struct cfg cfg;
	double start = now();

	(void)function;
	if (flow->verdict == FLOW_REFUSED)
		return;
	cfg_build(&cfg, flow);
	double built = now();
	structure_build(&cfg, NULL, 0, NULL, &structure);
	rows->graphs += built - start;
	rows->loops += now() - built;
	structure_done(&structure);
	cfg_done(&cfg);
}

static void make_rows(void *context, uint32_t function, struct flow *flow)
{
	struct rows *rows = context;

	(void)function;
	vec_clear(&rows->list.rows);
	for (size_t part = 0; part < flow->parts.n; part++)
		recover_rows(flow, part, &rows->recipes, &rows->list);
	rows->n += rows->list.rows.n;
}

static uint64_t text_bytes(const struct functions *functions)
{
	uint64_t sum = 0, start, end;

	for (size_t i = 0; functions_text_range(functions, i, &start, &end); i++)
		sum += end - start;
	return sum;
}

static void print_rates(double mb, double bounds, double flow, const struct rows *rows)
{
	printf("MB of text a second: bounds %.0f, control flow and recipes %.0f, graphs %.0f, loops %.0f; all of it %.0f\n", mb / bounds,
	       mb / flow, mb / rows->graphs, mb / rows->loops, mb / (bounds + flow + rows->graphs + rows->loops));
}

int main(int argc, char **argv)
{
	struct images *images = images_new();
	struct rows rows = { .n = 0 };
	image_id id;

	if (argc != 2 || images_open(images, argv[1], &id, NULL) < 0) {
		fprintf(stderr, "usage: micro_recipes ELF\n");
		return 2;
	}
	double start = now();
	struct symbols *symbols = symbols_read(images_get(images, id));
	struct frames *frames = frames_read(images_get(images, id));
	struct functions *functions = functions_new(images_get(images, id), symbols, frames, NULL);
	double indexed = now();
	uint64_t n = decode_all(functions);
	double decoded = now();
	functions_survey(functions);
	double surveyed = now();
	recipes_init(&rows.recipes);
	functions_analyse(functions, make_rows, &rows);
	double done = now();
	functions_analyse(functions, make_structure, &rows); /* separately, so as not to affect the cache above */

	printf("index %.3f s, decode %.3f s (%.2f M/s), survey %.3f s, analysis with rows %.3f s: %.2f times the decode\n", indexed - start,
	       decoded - indexed, (double)n / 1e6 / (decoded - indexed), surveyed - decoded, done - surveyed,
	       (done - decoded) / (decoded - indexed));
	printf("%zu functions, %llu rows, %zu recipes, %zu bytes a row\n", functions->n, (unsigned long long)rows.n,
	       rows.recipes.recipes.n, sizeof(struct recipe_row));
	print_rates((double)text_bytes(functions) / 1e6, indexed - start + surveyed - decoded, done - surveyed, &rows);
	vec_done(&rows.list.rows);
	recipes_done(&rows.recipes);
	functions_free(functions);
	frames_free(frames);
	symbols_free(symbols);
	images_free(images);
	return 0;
}
