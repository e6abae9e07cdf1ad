/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/profiles.h"

#include <string.h>

static uint32_t text(struct profile *profile, const char *string)
{
	return intern_add(&profile->strings, string);
}

static void add_run(struct profile *p)
{
	p->run = (struct profile_run){ .tool_version = text(p, "0.1.0"),
				       .command_line = text(p, "cpprof record -- ./solve"),
				       .mode = text(p, "record"),
				       .host = text(p, "node7"),
				       .kernel = text(p, "6.1.0"),
				       .cpu = text(p, "Example CPU"),
				       .arch = text(p, "x86_64"),
				       .target = text(p, "./solve"),
				       .n_cpus = 8,
				       .start_unix_ns = 1790000000000000000,
				       .duration_ns = 2000000000,
				       .start_ns = 123456789,
				       .stack_size = 16384,
				       .is_resolved = 1 };
	vec_push(&p->events, ((struct profile_event){ text(p, "cpu-clock"), text(p, "ns"), 997, 0, 0 }));
	vec_push(&p->metrics, ((struct profile_metric){ text(p, "samples"), text(p, "count"), UINT32_MAX }));
	vec_push(&p->metrics, ((struct profile_metric){ text(p, "cpu-clock"), text(p, "ns"), 0 }));
	vec_push(&p->notes, text(p, "kernel stacks were not permitted"));
}

static void add_tasks(struct profile *p)
{
	vec_push(&p->processes, ((struct profile_process){ 4711, 1, text(p, "solve"), text(p, "./solve"), 0,
							   0, 0, 0, 0, 0 }));
	vec_push(&p->processes, ((struct profile_process){ 4715, 4711, text(p, "sh"), 0, 500000000, 600000000,
							   0, 0, 0, 0 }));
	vec_push(&p->threads, ((struct profile_thread){ 0, 4711, text(p, "solve"), 0, 0 }));
	vec_push(&p->threads, ((struct profile_thread){ 0, 4712, text(p, "worker"), 1000, 1999999999 }));
	vec_push(&p->threads, ((struct profile_thread){ 1, 4715, text(p, "sh"), 500000000, 600000000 }));
	p->bin_ns = 10000000;
	vec_push(&p->timeline, ((struct profile_bin){ 0, 0, 9 }));
	vec_push(&p->timeline, ((struct profile_bin){ 0, 7, 11 }));
	vec_push(&p->timeline, ((struct profile_bin){ 1, 3, 70 }));
	vec_push(&p->timeline, ((struct profile_bin){ 2, 55, 10 }));
}

static void add_images(struct profile *p)
{
	struct build_id id = { 20, { 0xde, 0xad, 0xbe, 0xef } };

	vec_push(&p->images, ((struct profile_image){ text(p, "/opt/solve"), IMAGE_ELF, 62, id,
						      text(p, "dwarf5"), 0, 0 }));
	vec_push(&p->images,
		 ((struct profile_image){ text(p, "/lib/libm.so.6"), IMAGE_ELF, 62, { 0 }, 0, 0, 0 }));
	vec_push(&p->images,
		 ((struct profile_image){ text(p, "[kernel]"), IMAGE_KERNEL, 0, { 0 }, 0, 0, 0 }));
}

static void add_functions(struct profile *p)
{
	struct function_map main = { .image = 0,
				     .vaddr = 0x1000,
				     .size = 0x100,
				     .name = text(p, "main"),
				     .decl_file = text(p, "/src/solve.c"),
				     .decl_line = 40,
				     .end_line = 70,
				     .parent_vaddr = 0x1000,
				     .source = MAP_FROM_DWARF };
	struct function_map solve = { .image = 0,
				      .vaddr = 0x2000,
				      .size = 0x200,
				      .name = text(p, "solve"),
				      .linkage = text(p, "_Z5solvei"),
				      .decl_file = text(p, "/src/solve.c"),
				      .decl_line = 10,
				      .parent_vaddr = 0x2000,
				      .source = MAP_FROM_DWARF };
	struct function_map sine = { .image = 1,
				     .vaddr = 0x500,
				     .size = 0x80,
				     .name = text(p, "sin"),
				     .parent_vaddr = 0x500,
				     .source = MAP_FROM_SYMBOL };

	vec_push(&main.lines, ((struct line_row){ 0, main.decl_file, 40, 1, 1, 0 }));
	vec_push(&main.lines, ((struct line_row){ 0x10, main.decl_file, 44, 5, 1, 0 }));
	vec_push(&solve.lines, ((struct line_row){ 0, solve.decl_file, 10, 1, 1, 0 }));
	vec_push(&solve.lines, ((struct line_row){ 0x40, text(p, "/src/vec.h"), 7, 9, 0, 0 }));
	vec_push(&solve.lines, ((struct line_row){ 0x80, solve.decl_file, 16, 3, 1, 0 }));
	vec_push(&solve.inlines, ((struct inline_call){ INLINE_NONE, text(p, "dot"), 0, text(p, "/src/vec.h"),
							5, solve.decl_file, 14, 11 }));
	vec_push(&solve.inlines,
		 ((struct inline_call){ 0, text(p, "mul"), text(p, "_Z3mul"), text(p, "/src/vec.h"), 1,
					text(p, "/src/vec.h"), 7, 2 }));
	vec_push(&solve.ranges, ((struct inline_range){ 0x40, 0x60, 0 }));
	vec_push(&solve.ranges, ((struct inline_range){ 0x60, 0x80, 1 }));
	struct function_map nameless = { .image = 1,
					 .vaddr = 0x6f0,
					 .size = 0x40,
					 .name = text(p, "libm.so.6+0x6f0"),
					 .parent_vaddr = 0x6f0 };
	struct function_map system = { .image = 2,
				       .vaddr = 0xffffffff81000000,
				       .size = 0x40,
				       .name = text(p, "sys_read"),
				       .parent_vaddr = 0xffffffff81000000,
				       .source = MAP_FROM_KALLSYMS };
	vec_push(&p->functions, main);
	vec_push(&p->functions, solve);
	vec_push(&p->functions, sine);
	vec_push(&p->functions, nameless);
	vec_push(&p->functions, system);
}

/* A loop in sin, made of two machine loops; and some of main's code. */
static void add_structure(struct profile *p)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x5d, 0xc3 };
	struct structure sine = { .image = 1, .function = 0x500 };

	vec_push(&sine.scopes,
		 ((struct static_scope){ .kind = SCOPE_FUNCTION, .name = text(p, "sin"), .vaddr = 0x500 }));
	vec_push(
		&sine.scopes,
		((struct static_scope){
			.kind = SCOPE_LOOP, .flags = SCOPE_VECTOR, .name = text(p, "sin"), .vaddr = 0x508 }));
	vec_push(&sine.ranges, ((struct static_range){ 0x508, 0x38, 1 }));
	vec_push(&sine.pieces, ((struct loop_piece){ 1, 0x508, 2, 0, 0x508, 0x20, 1, 0 }));
	vec_push(&sine.pieces, ((struct loop_piece){ 1, 0x530, 1, SCOPE_VECTOR, 0x530, 0x10, 0, 16 }));
	vec_push(&p->structures, sine);
	vec_push(&p->codes, ((struct profile_code){ 0, 0x1000, sizeof(code), 0 }));
	for (size_t i = 0; i < sizeof(code); i++)
		vec_push(&p->code_bytes, code[i]);
}

static void add_value(struct profile *p, uint32_t node, uint32_t thread, uint64_t samples)
{
	cct_add_value(&p->cct, node, thread, 0, samples);
	cct_add_value(&p->cct, node, thread, 1, samples * 1003009);
}

/* main -> solve -> solve, with leaves in both, in inlined calls, in sin, in the kernel; and two incomplete
 * stacks. */
static void add_contexts(struct profile *p)
{
	uint32_t main = cct_child(&p->cct, CCT_ROOT, 0, 0x1020, CCT_IS_RETURN);
	uint32_t outer = cct_child(&p->cct, main, 0, 0x2090, CCT_IS_RETURN);
	uint32_t inner = cct_child(&p->cct, outer, 0, 0x2090, CCT_IS_RETURN);

	add_value(p, cct_child(&p->cct, main, 0, 0x2050, 0), 0, 20);
	add_value(p, cct_child(&p->cct, outer, 0, 0x2064, 0), 1, 30);
	add_value(p, cct_child(&p->cct, inner, 0, 0x2010, 0), 1, 5);
	add_value(p, cct_child(&p->cct, inner, 1, 0x510, 0), 1, 20);
	add_value(p, cct_child(&p->cct, main, 2, 0xffffffff81000010, CCT_IS_KERNEL), 1, 5);
	add_value(p, main, 1, 5);
	uint32_t lost = cct_child(&p->cct, CCT_INCOMPLETE, 1, 0x700, CCT_IS_RETURN);
	add_value(p, cct_child(&p->cct, lost, 1, 0x510, 0), 1, 5);
	add_value(p, cct_child(&p->cct, CCT_INCOMPLETE, IMAGE_NONE, 0xdead, 0), 2, 10);
}

struct profile *sample_profile(void)
{
	struct profile *p = profile_new();

	add_run(p);
	add_tasks(p);
	add_images(p);
	add_functions(p);
	add_structure(p);
	add_contexts(p);
	p->quality = (struct profile_quality){
		.samples = 100,
		.by_end = { [STACK_COMPLETE] = 85, [STACK_NO_RECIPE] = 5, [STACK_NO_IMAGE] = 10 },
		.steps_by_witness = { [WITNESS_CFI] = 400, [WITNESS_ANALYSIS] = 3 },
		.lost = 2,
		.throttled = 1,
		.clipped = 7,
		.own_cpu_ns = 20000000,
		.own_peak_kb = 9000,
		.unsymbolized = 10,
		.without_lines = 40,
		.damaged_units = 1,
		.wakeups = 12,
		.outer = 5,
	};
	return p;
}

struct profile *epoch_at(uint64_t second)
{
	struct profile *profile = sample_profile();

	profile->run.start_unix_ns = EPOCHS_START + second * 1000000000ull;
	profile->run.duration_ns = 600 * 1000000000ull;
	return profile;
}

struct profile *deep_profile(uint32_t depth)
{
	struct profile *p = sample_profile();
	uint32_t node = cct_child(&p->cct, CCT_ROOT, 0, 0x1020, CCT_IS_RETURN);

	for (uint32_t i = 0; i < depth; i++)
		node = cct_child(&p->cct, node, 0, 0x2090, CCT_IS_RETURN);
	add_value(p, cct_child(&p->cct, node, 0, 0x2010, 0), 0, 100);
	p->quality.samples += 100;
	p->quality.by_end[STACK_COMPLETE] += 100;
	return p;
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static bool is_incomplete(const struct cct *cct, uint32_t node)
{
	while (node > CCT_INCOMPLETE)
		node = cct->nodes.at[node].parent;
	return node == CCT_INCOMPLETE;
}

struct profile *random_profile(uint32_t seed, size_t n_nodes)
{
	struct profile *p = profile_new();

	add_run(p);
	add_tasks(p);
	add_images(p);
	while (p->cct.nodes.n < n_nodes + 2) {
		/* Mostly deep chains, like real stacks. */
		uint32_t n = (uint32_t)p->cct.nodes.n;
		uint32_t parent = next(&seed) % 4 ? n - 1 : next(&seed) % n;
		uint32_t function = next(&seed) % 16;
		cct_child(&p->cct, parent, function % 2, 0x1000 + function * 0x1000 + next(&seed) % 64 * 4,
			  next(&seed) % 2 ? CCT_IS_RETURN : 0);
	}
	for (size_t i = 0; i < n_nodes; i++) {
		uint32_t node = next(&seed) % (uint32_t)p->cct.nodes.n;
		uint64_t samples = 1 + next(&seed) % 5;
		add_value(p, node, next(&seed) % 3, samples);
		p->quality.samples += samples;
		p->quality.by_end[is_incomplete(&p->cct, node) ? STACK_NO_RECIPE : STACK_COMPLETE] += samples;
	}
	vec_clear(&p->timeline);
	p->run.is_resolved = 0;
	return p;
}

#define SAME_VEC(a, b) \
	((a).n == (b).n && ((a).n == 0 || memcmp((a).at, (b).at, (a).n * sizeof(*(a).at)) == 0))

/* Compared field by field: padding is undefined. */
#define SAME_FIELD(field) (a->field == b->field)

static bool same_run(const struct profile_run *a, const struct profile_run *b)
{
	return SAME_FIELD(tool_version) && SAME_FIELD(command_line) && SAME_FIELD(mode) && SAME_FIELD(host) &&
	       SAME_FIELD(kernel) && SAME_FIELD(cpu) && SAME_FIELD(arch) && SAME_FIELD(target) &&
	       SAME_FIELD(n_cpus) && SAME_FIELD(start_unix_ns) && SAME_FIELD(duration_ns) &&
	       SAME_FIELD(start_ns) && SAME_FIELD(stack_size) && SAME_FIELD(is_checkpoint) &&
	       SAME_FIELD(is_resolved);
}

static bool same_event(const struct profile_event *a, const struct profile_event *b)
{
	return SAME_FIELD(name) && SAME_FIELD(unit) && SAME_FIELD(frequency) && SAME_FIELD(period) &&
	       SAME_FIELD(excludes_kernel);
}

static bool same_image(const struct profile_image *a, const struct profile_image *b)
{
	return SAME_FIELD(path) && SAME_FIELD(kind) && SAME_FIELD(elf_machine) && SAME_FIELD(debug) &&
	       SAME_FIELD(pid) && build_id_equal(&a->build_id, &b->build_id);
}

static bool same_thread(const struct profile_thread *a, const struct profile_thread *b)
{
	return SAME_FIELD(process) && SAME_FIELD(tid) && SAME_FIELD(comm) && SAME_FIELD(start_ns) &&
	       SAME_FIELD(exit_ns);
}

#define SAME_ROWS(field, same_row)                                                 \
	static bool same_##field(const struct profile *a, const struct profile *b) \
	{                                                                          \
		for (size_t i = 0; i < a->field.n && i < b->field.n; i++)          \
			if (!same_row(&a->field.at[i], &b->field.at[i]))           \
				return false;                                      \
		return a->field.n == b->field.n;                                   \
	}
SAME_ROWS(events, same_event)
SAME_ROWS(images, same_image)
SAME_ROWS(threads, same_thread)

static bool same_strings(const struct intern *a, const struct intern *b)
{
	if (a->strings.n != b->strings.n)
		return false;
	for (size_t i = 0; i < a->strings.n; i++)
		if (strcmp(a->strings.at[i], b->strings.at[i]) != 0)
			return false;
	return true;
}

static bool same_nodes(const struct cct *a, const struct cct *b)
{
	if (a->nodes.n != b->nodes.n)
		return false;
	for (size_t i = 0; i < a->nodes.n; i++) {
		const struct cct_node *x = &a->nodes.at[i], *y = &b->nodes.at[i];
		if (x->parent != y->parent || x->image != y->image || x->vaddr != y->vaddr ||
		    x->flags != y->flags)
			return false;
	}
	return true;
}

/* Values may be in any order, and keys are unique. */
static bool same_values(const struct cct *a, const struct cct *b)
{
	size_t n_found = 0;

	if (a->values.n != b->values.n)
		return false;
	for (size_t i = 0; i < a->values.n; i++)
		for (size_t j = 0; j < b->values.n; j++) {
			const struct cct_value *x = &a->values.at[i], *y = &b->values.at[j];
			n_found += x->node == y->node && x->thread == y->thread && x->metric == y->metric &&
				   x->value == y->value;
		}
	return n_found == a->values.n;
}

static bool same_function(const struct function_map *a, const struct function_map *b)
{
	return a->image == b->image && a->vaddr == b->vaddr && a->size == b->size && a->name == b->name &&
	       a->linkage == b->linkage && a->decl_file == b->decl_file && a->decl_line == b->decl_line &&
	       a->end_line == b->end_line && a->scope == b->scope && a->parent_vaddr == b->parent_vaddr &&
	       a->source == b->source && SAME_VEC(a->lines, b->lines) && SAME_VEC(a->inlines, b->inlines) &&
	       SAME_VEC(a->ranges, b->ranges);
}

SAME_ROWS(functions, same_function)

static bool same_scope(const struct static_scope *a, const struct static_scope *b)
{
	return SAME_FIELD(parent) && SAME_FIELD(kind) && SAME_FIELD(flags) && SAME_FIELD(name) &&
	       SAME_FIELD(linkage) && SAME_FIELD(file) && SAME_FIELD(line) && SAME_FIELD(end_line) &&
	       SAME_FIELD(call_file) && SAME_FIELD(call_line) && SAME_FIELD(vaddr);
}

static bool same_piece(const struct loop_piece *a, const struct loop_piece *b)
{
	return SAME_FIELD(scope) && SAME_FIELD(header) && SAME_FIELD(n_blocks) && SAME_FIELD(flags) &&
	       SAME_FIELD(start) && SAME_FIELD(len) && SAME_FIELD(n_calls) && SAME_FIELD(width);
}

static bool same_structure(const struct structure *a, const struct structure *b)
{
	for (size_t i = 0; i < a->scopes.n && i < b->scopes.n; i++)
		if (!same_scope(&a->scopes.at[i], &b->scopes.at[i]))
			return false;
	for (size_t i = 0; i < a->pieces.n && i < b->pieces.n; i++)
		if (!same_piece(&a->pieces.at[i], &b->pieces.at[i]))
			return false;
	return SAME_FIELD(image) && SAME_FIELD(function) && SAME_FIELD(scopes.n) && SAME_FIELD(pieces.n) &&
	       SAME_VEC(a->ranges, b->ranges);
}
SAME_ROWS(structures, same_structure)

static bool same_codes(const struct profile *a, const struct profile *b)
{
	for (size_t i = 0; i < a->codes.n && i < b->codes.n; i++) {
		struct bytes x = profile_code_at(a, a->codes.at[i].image, a->codes.at[i].vaddr);
		struct bytes y = profile_code_at(b, a->codes.at[i].image, a->codes.at[i].vaddr);
		if (!bytes_equal(x, y))
			return false;
	}
	return a->codes.n == b->codes.n;
}

const char *profile_difference(const struct profile *a, const struct profile *b)
{
	const struct {
		const char *name;
		bool is_same;
	} parts[] = {
		{ "strings", same_strings(&a->strings, &b->strings) },
		{ "run", same_run(&a->run, &b->run) },
		{ "events", same_events(a, b) },
		{ "metrics", SAME_VEC(a->metrics, b->metrics) },
		{ "images", same_images(a, b) },
		{ "processes", SAME_VEC(a->processes, b->processes) },
		{ "threads", same_threads(a, b) },
		{ "nodes", same_nodes(&a->cct, &b->cct) },
		{ "values", same_values(&a->cct, &b->cct) },
		{ "timeline", a->bin_ns == b->bin_ns && SAME_VEC(a->timeline, b->timeline) },
		{ "quality", memcmp(&a->quality, &b->quality, sizeof(a->quality)) == 0 },
		{ "notes", SAME_VEC(a->notes, b->notes) },
		{ "functions", same_functions(a, b) },
		{ "structures", same_structures(a, b) },
		{ "codes", same_codes(a, b) },
	};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (!parts[i].is_same)
			return parts[i].name;
	return "none";
}
