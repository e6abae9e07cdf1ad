/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/report/export_fixture.h"

#include "tests/test.h"

static uint32_t add_scope(struct scope_maker *maker, struct scope scope)
{
	return scope_maker_add(maker, &scope);
}

static void add_value(struct fixture *f, uint32_t scope, uint32_t thread, uint64_t samples)
{
	vec_push(&f->tree.values, (struct scope_value){ scope, thread, 0, samples });
	vec_push(&f->tree.values, (struct scope_value){ scope, thread, 1, samples * 1000 });
}

static void add_run(struct profile *p)
{
	uint32_t cpu_clock = intern_add(&p->strings, "cpu-clock"), ns = intern_add(&p->strings, "ns");

	p->run.tool_version = intern_add(&p->strings, "0.1.0");
	p->run.command_line = intern_add(&p->strings, "cpprof record -- app");
	p->run.host = intern_add(&p->strings, "box");
	p->run.start_unix_ns = 1700000000000000000u;
	p->run.duration_ns = 1000000000;
	vec_push(&p->events, (struct profile_event){ .name = cpu_clock, .unit = ns, .frequency = 1000 });
	vec_push(&p->metrics, (struct profile_metric){ intern_add(&p->strings, "samples"),
						       intern_add(&p->strings, "count"), UINT32_MAX });
	vec_push(&p->metrics, (struct profile_metric){ cpu_clock, ns, 0 });
	vec_push(&p->images, (struct profile_image){ .path = intern_add(&p->strings, "/opt/app"),
						     .build_id = { 2, { 0xab, 0xcd } } });
	vec_push(&p->processes,
		 (struct profile_process){ .pid = 42, .comm = intern_add(&p->strings, "app") });
	vec_push(&p->threads,
		 (struct profile_thread){ .process = 0, .tid = 42, .comm = intern_add(&p->strings, "app") });
	vec_push(&p->threads, (struct profile_thread){
				      .process = 0, .tid = 43, .comm = intern_add(&p->strings, "worker") });
	p->quality.samples = 21;
	p->quality.by_end[STACK_COMPLETE] = 20;
	p->quality.by_end[STACK_NO_RECIPE] = 1;
}

/* total -> main -> [loop] -> inlined dot -> line; main -> main (recursion) -> hostile; incomplete -> main */
void fixture_init(struct fixture *f)
{
	struct profile *p = f->profile = profile_new();
	f->tree = (struct scope_tree){ .n_metrics = 2 };
	add_run(p);
	uint32_t file = intern_add(&p->strings, "/src/app.c"), name = intern_add(&p->strings, "main");
	uint32_t dot = intern_add(&p->strings, "dot"), evil = intern_add(&p->strings, HOSTILE);

	struct scope_maker maker;
	scope_maker_init(&maker, &f->tree);
	struct scope main_scope = {
		.kind = SCOPE_FUNCTION, .name = name, .file = file, .line = 10, .vaddr = 0x1000
	};
	uint32_t root = add_scope(&maker, (struct scope){ .kind = SCOPE_ROOT, .image = IMAGE_NONE });
	uint32_t incomplete = add_scope(
		&maker, (struct scope){ .parent = root, .kind = SCOPE_INCOMPLETE, .image = IMAGE_NONE });
	main_scope.parent = root;
	uint32_t outer = add_scope(&maker, main_scope);
	uint32_t loop = add_scope(&maker, (struct scope){ .parent = outer,
							  .kind = SCOPE_LOOP,
							  .name = name,
							  .file = file,
							  .line = 12,
							  .end_line = 15,
							  .vaddr = 0x1010 });
	uint32_t inlined = add_scope(&maker, (struct scope){ .parent = loop,
							     .kind = SCOPE_INLINE,
							     .name = dot,
							     .file = file,
							     .line = 3,
							     .call_file = file,
							     .call_line = 13,
							     .vaddr = 0x1020 });
	main_scope.parent = outer;
	main_scope.call_line = 20;
	main_scope.call_file = file;
	main_scope.call_vaddr = 0x1080;
	uint32_t again = add_scope(&maker, main_scope);
	uint32_t hostile = add_scope(&maker, (struct scope){ .parent = again,
							     .kind = SCOPE_FUNCTION,
							     .name = evil,
							     .vaddr = 0x2000,
							     .call_vaddr = 0x1090,
							     .call_file = file,
							     .call_line = 21 });
	main_scope.parent = incomplete;
	uint32_t broken = add_scope(&maker, main_scope);
	uint32_t line = add_scope(
		&maker,
		(struct scope){
			.parent = inlined, .kind = SCOPE_LINE, .file = file, .line = 4, .vaddr = 0x1024 });
	scope_maker_done(&maker);
	add_value(f, loop, 0, 2);
	add_value(f, hostile, 1, 5);
	add_value(f, broken, 0, 1);
	add_value(f, line, 0, 10);
	add_value(f, line, 1, 3);
}

void fixture_done(struct fixture *f)
{
	scope_tree_done(&f->tree);
	profile_free(f->profile);
}

char *fixture_export(struct fixture *f, const char *format, const struct export_options *options,
		     size_t *ret_len)
{
	struct export_input input = { f->profile, &f->tree };
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	CHECK_EQ(export_profile(exporter_named(format), &input, options, to, NULL), 0);
	fclose(to);
	if (ret_len)
		*ret_len = len;
	return text;
}
