/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/made_profiles.h"

#include <stdio.h>
#include <string.h>

#define LONG_NAME (64u << 10)
#define FUNCTION_SIZE 0x100
#define N_FUNCTIONS 20000
#define MAX_DEPTH 60
#define N_THREADS 4
#define N_BINS 200

static const char *const hostile[] = {
	"semi;colon;frames 12",
	"quote\"s 'single' `tick` \\back\\slash\\",
	"new\nline\rreturn\ttab",
	"</script><img src=x onerror=alert(1)><!--",
	"<b>&amp;bold</b>",
	"\xff\xfe broken \xc3( \xed\xa0\x80 utf-8",
	"__proto__",
	"constructor",
	"hasOwnProperty",
	" ",
	"-",
	"gr\xc3\xb6\xc3\x9f"
	"e<\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e>",
	"fn=(1) calls=1 1",
	"name:12:3",
	"=cmd|' /C calc'!A0",
	"\x1b[31mred\x1b[0m \x01\x7f",
	"a\xe2\x80\xae"
	"b",
	"{label=\"x\",other=\"y\"} 1",
	"| a | b |",
	"%s%n%d",
};

static uint32_t text(struct profile *profile, const char *string)
{
	return intern_add(&profile->strings, string);
}

static uint32_t long_name(struct profile *profile)
{
	char *name = alloc_zero(LONG_NAME + 1, 1);
	static const char part[] = "std::vector<std::pair<";

	for (size_t i = 0; i < LONG_NAME; i++)
		name[i] = part[i % (sizeof(part) - 1)];
	uint32_t id = text(profile, name);
	free(name);
	return id;
}

static void add_run(struct profile *p, const char *target)
{
	p->run = (struct profile_run){ .tool_version = text(p, "0.1.0"),
				       .command_line = text(p, "cpprof record -- ./made"),
				       .mode = text(p, "record"),
				       .host = text(p, "node7"),
				       .kernel = text(p, "6.1.0"),
				       .cpu = text(p, "Example CPU"),
				       .arch = text(p, "x86_64"),
				       .target = text(p, target),
				       .n_cpus = 8,
				       .start_unix_ns = 1790000000000000000,
				       .duration_ns = 2000000000,
				       .stack_size = 16384,
				       .is_resolved = 1 };
	vec_push(&p->events, ((struct profile_event){ text(p, "cpu-clock"), text(p, "ns"), 997, 0, 0 }));
	vec_push(&p->events,
		 ((struct profile_event){ text(p, "miss;\"es\""), text(p, "count"), 0, 1000, 0 }));
	vec_push(&p->metrics, ((struct profile_metric){ text(p, "samples"), text(p, "count"), UINT32_MAX }));
	vec_push(&p->metrics, ((struct profile_metric){ text(p, "cpu-clock"), text(p, "ns"), 0 }));
	vec_push(&p->metrics, ((struct profile_metric){ text(p, "miss;\"es\""), text(p, "count"), 1 }));
	p->bin_ns = 10000000;
}

static void add_value(struct profile *p, uint32_t node, uint32_t thread, uint64_t samples)
{
	cct_add_value(&p->cct, node, thread, 0, samples);
	cct_add_value(&p->cct, node, thread, 1, samples * 1003009);
	cct_add_value(&p->cct, node, thread, 2, samples * 7);
	p->quality.samples += samples;
	p->quality.by_end[STACK_COMPLETE] += samples;
}

/*
 * 0x100 bytes of code: 0x00 its own line, 0x20-0x40 a loop, 0x40-0x60 an inlined call within that loop, 0x80
 * own line again. file and called are string ids.
 */
static void add_function(struct profile *p, image_id image, uint64_t vaddr, uint32_t name, uint32_t file,
			 uint32_t called)
{
	struct function_map map = { .image = image,
				    .vaddr = vaddr,
				    .size = FUNCTION_SIZE,
				    .name = name,
				    .linkage = name,
				    .decl_file = file,
				    .decl_line = 10,
				    .end_line = 30,
				    .parent_vaddr = vaddr,
				    .source = MAP_FROM_DWARF };
	struct structure structure = { .image = image, .function = vaddr };

	vec_push(&map.lines, ((struct line_row){ 0, file, 10, 1, 1, 0 }));
	vec_push(&map.lines, ((struct line_row){ 0x20, file, 12, 1, 1, 0 }));
	vec_push(&map.lines, ((struct line_row){ 0x40, file, 3, 1, 1, 0 }));
	vec_push(&map.lines, ((struct line_row){ 0x60, file, 20, 1, 1, 0 }));
	vec_push(&map.inlines, ((struct inline_call){ INLINE_NONE, called, called, file, 2, file, 13, 1 }));
	vec_push(&map.ranges, ((struct inline_range){ 0x40, 0x60, 0 }));
	vec_push(&p->functions, map);
	vec_push(&structure.scopes, ((struct static_scope){ .kind = SCOPE_FUNCTION,
							    .name = name,
							    .file = file,
							    .line = 10,
							    .end_line = 30,
							    .vaddr = vaddr }));
	vec_push(&structure.scopes, ((struct static_scope){ .kind = SCOPE_LOOP,
							    .name = name,
							    .file = file,
							    .line = 12,
							    .end_line = 15,
							    .vaddr = vaddr + 0x20 }));
	vec_push(&structure.scopes, ((struct static_scope){ .parent = 1,
							    .kind = SCOPE_INLINE,
							    .name = called,
							    .linkage = called,
							    .file = file,
							    .line = 2,
							    .call_file = file,
							    .call_line = 13,
							    .vaddr = vaddr + 0x40 }));
	vec_push(&structure.ranges, ((struct static_range){ vaddr + 0x20, 0x20, 1 }));
	vec_push(&structure.ranges, ((struct static_range){ vaddr + 0x40, 0x20, 2 }));
	vec_push(&p->structures, structure);
}

struct profile *hostile_profile(void)
{
	struct profile *p = profile_new();
	uint32_t names[ARRAY_LEN(hostile) + 1], n = ARRAY_LEN(names);

	add_run(p, hostile[3]);
	uint32_t escapes = text(p, "\x1b]0;title\a\nevent: x");
	p->run.tool_version = p->run.command_line = p->run.host = p->run.kernel = p->run.cpu = escapes;
	p->events.at[1].name = p->metrics.at[2].name = text(p, "mi;\"\n\x1b\"ss");
	for (uint32_t i = 0; i + 1 < n; i++)
		names[i] = text(p, hostile[i]);
	names[n - 1] = long_name(p);
	vec_push(&p->notes, text(p, hostile[3]));
	vec_push(&p->images,
		 ((struct profile_image){ text(p, "/opt/a;\"</script>\n<img src=x onerror=alert(1)>"),
					  IMAGE_ELF,
					  62,
					  { 20, { 0xde, 0xad } },
					  text(p, "dwarf5"),
					  0,
					  0 }));
	vec_push(&p->processes, ((struct profile_process){ 4711, 1, names[3], names[1], 0, 0, 0, 0, 0, 0 }));
	for (uint32_t i = 0; i < n; i++) {
		vec_push(&p->threads, ((struct profile_thread){ 0, (int32_t)(4711 + i), names[i], 0, 0 }));
		vec_push(&p->timeline, ((struct profile_bin){ i, i, i + 1 }));
		add_function(p, 0, 0x1000 * (uint64_t)(i + 1), names[i], names[(i + 3) % n],
			     names[(i + 1) % n]);
	}
	uint32_t above = CCT_ROOT;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t vaddr = 0x1000 * (uint64_t)(i + 1);
		add_value(p, cct_child(&p->cct, above, 0, vaddr + 0x48, 0), i, i + 1);
		above = cct_child(&p->cct, above, 0, vaddr + 0x28, CCT_IS_RETURN);
	}
	return p;
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void add_large_functions(struct profile *p)
{
	char name[128];

	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		snprintf(name, sizeof(name),
			 "ns::Class%u<int, std::vector<double>>::method_%u(unsigned long)", i % 997, i);
		uint32_t id = text(p, name);
		snprintf(name, sizeof(name), "/src/lib/part%u/file%u.cpp", i % 37, i % 1201);
		uint32_t file = text(p, name);
		snprintf(name, sizeof(name), "ns::detail::step_%u", i % 500);
		add_function(p, 0, 0x1000 + (uint64_t)i * FUNCTION_SIZE, id, file, text(p, name));
	}
}

/* Distributes each thread's samples evenly. */
static void add_timeline(struct profile *p)
{
	uint64_t sums[N_THREADS] = { 0 };

	for (size_t i = 0; i < p->cct.values.n; i++)
		if (p->cct.values.at[i].metric == 0)
			sums[p->cct.values.at[i].thread] += p->cct.values.at[i].value;
	for (uint32_t thread = 0; thread < N_THREADS; thread++)
		for (uint32_t bin = 0; bin < N_BINS; bin++) {
			uint64_t samples = sums[thread] * (bin + 1) / N_BINS - sums[thread] * bin / N_BINS;
			if (samples)
				vec_push(&p->timeline, ((struct profile_bin){ thread, bin, samples }));
		}
}

/* A random walk: a context gets a child, or the walk goes up some levels first. */
struct profile *large_profile(size_t n)
{
	struct profile *p = profile_new();
	uint32_t path[MAX_DEPTH] = { CCT_ROOT }, depth = 0, seed = 7;

	add_run(p, "./made");
	vec_push(&p->images, ((struct profile_image){ text(p, "/opt/made"),
						      IMAGE_ELF,
						      62,
						      { 20, { 0xde, 0xad } },
						      text(p, "dwarf5"),
						      0,
						      0 }));
	vec_push(&p->processes,
		 ((struct profile_process){ 4711, 1, text(p, "made"), text(p, "./made"), 0, 0, 0, 0, 0, 0 }));
	for (int i = 0; i < N_THREADS; i++)
		vec_push(&p->threads,
			 ((struct profile_thread){ 0, 4711 + i, text(p, i ? "worker" : "made"), 0, 0 }));
	add_large_functions(p);
	while (p->cct.nodes.n < n) {
		bool is_deeper = next(&seed) % 100 < 55 && depth + 1 < MAX_DEPTH;
		for (uint32_t up = is_deeper ? 0 : 1 + next(&seed) % 3; up && depth; up--)
			depth--;
		uint32_t function = next(&seed) % 100 < 60 ? next(&seed) % 200 : next(&seed) % N_FUNCTIONS;
		uint64_t vaddr =
			0x1000 + (uint64_t)function * FUNCTION_SIZE + 4 +
			next(&seed) % (FUNCTION_SIZE / 4 - 1) * 4; /* a return address: not the first */
		uint32_t node = cct_child(&p->cct, path[depth], 0, vaddr, CCT_IS_RETURN);
		path[++depth < MAX_DEPTH ? depth : --depth] = node;
		if (next(&seed) % 100 < 40)
			add_value(p, node, next(&seed) % N_THREADS, 1 + next(&seed) % 5);
	}
	add_timeline(p);
	return p;
}

/* ---- at the edges ------------------------------------------------------------------------------- */

static struct profile *edge_start(void)
{
	struct profile *p = profile_new();

	add_run(p, "./edge");
	vec_push(&p->images, ((struct profile_image){ text(p, "/opt/edge"),
						      IMAGE_ELF,
						      62,
						      { 20, { 0xde, 0xad } },
						      text(p, "dwarf5"),
						      0,
						      0 }));
	vec_push(&p->images,
		 ((struct profile_image){ text(p, "[kernel]"), IMAGE_KERNEL, 62, { 0 }, 0, 0, 0 }));
	add_function(p, 0, 0x1000, text(p, "work"), text(p, "/src/edge.c"), text(p, "step"));
	add_function(p, 1, 0xffffffff80001000, text(p, "do_syscall_64"), 0, text(p, "rep_nop"));
	return p;
}

static void add_task(struct profile *p, int32_t pid, int32_t tid, const char *name)
{
	if (p->processes.n == 0 || p->processes.at[p->processes.n - 1].pid != pid)
		vec_push(&p->processes, ((struct profile_process){ pid, 1, text(p, "edge"), text(p, "./edge"),
								   0, 0, 0, 0, 0, 0 }));
	vec_push(&p->threads,
		 ((struct profile_thread){ (uint32_t)p->processes.n - 1, tid, text(p, name), 0, 0 }));
}

struct profile *profile_without_samples(void)
{
	struct profile *p = edge_start();

	add_task(p, 4711, 4711, "edge");
	return p;
}

struct profile *profile_of_one_sample(void)
{
	struct profile *p = profile_without_samples();

	add_value(p, cct_child(&p->cct, CCT_ROOT, 0, 0x1048, 0), 0, 1);
	return p;
}

struct profile *profile_of_recursion(void)
{
	struct profile *p = profile_without_samples();
	uint32_t at = CCT_ROOT;

	for (int i = 0; i < 100; i++)
		at = cct_child(&p->cct, at, 0, 0x1028, CCT_IS_RETURN);
	add_value(p, at, 0, 5);
	add_value(p, cct_child(&p->cct, at, 0, 0x1048, 0), 0, 10);
	return p;
}

struct profile *profile_of_the_kernel(void)
{
	struct profile *p = profile_without_samples();

	add_value(p, cct_child(&p->cct, CCT_ROOT, 1, 0xffffffff80001028, CCT_IS_KERNEL), 0, 90);
	add_value(p, cct_child(&p->cct, CCT_ROOT, IMAGE_NONE, 0xffffffff90000000, CCT_IS_KERNEL), 0, 10);
	return p;
}

struct profile *profile_of_threads(uint32_t n)
{
	struct profile *p = edge_start();
	char name[32];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "worker-%u", i);
		add_task(p, 5000 + (int32_t)(i / 50), 10000 + (int32_t)i, name);
		add_value(p, cct_child(&p->cct, CCT_ROOT, 0, 0x1000 + i % 0x100, 0), i, 1 + i % 7);
	}
	return p;
}

struct profile *profile_of_instances(void)
{
	static const char *const types[] = { "int", "long", "double", "short" };
	static const char *const orders[] = { "less", "greater" };
	struct profile *p = profile_without_samples();
	char name[512];

	for (unsigned i = 0; i < 8; i++) {
		const char *type = types[i / 2], *order = orders[i % 2];
		snprintf(name, sizeof(name),
			 "analysis::Ranker<std::vector<%s, std::allocator<%s> >, std::%s<%s> "
			 ">::rank(std::vector<%s, "
			 "std::allocator<%s> > const&, std::%s<%s>)",
			 type, type, order, type, type, type, order, type);
		uint64_t vaddr = 0x10000 + i * FUNCTION_SIZE;
		vec_push(&p->functions, ((struct function_map){ .vaddr = vaddr,
								.size = FUNCTION_SIZE,
								.name = text(p, name),
								.parent_vaddr = vaddr,
								.source = MAP_FROM_SYMBOL }));
		add_value(p, cct_child(&p->cct, CCT_ROOT, 0, vaddr + 8, 0), 0, 100 - 10 * i);
	}
	/* by image and address */
	struct function_map kernel = p->functions.at[1];
	memmove(&p->functions.at[1], &p->functions.at[2], (p->functions.n - 2) * sizeof(kernel));
	p->functions.at[p->functions.n - 1] = kernel;
	return p;
}
