/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test program unwinds itself: its own registers, a copy of its own stack, its own mappings. The result
 * is compared with the C library's backtrace.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <unistd.h>

#include "binary/elf/relocs.h"
#include "binary/elf/symbols.h"
#include "binary/functions/function.h"
#include "binary/functions/plt.h"
#include "collector/process/mapping.h"
#include "collector/process/target.h"
#include "recipes/knowledge.h"
#include "tests/support/own_maps.h"
#include "tests/support/own_registers.h"
#include "tests/test.h"
#include "unwinder/unwinder.h"

#define MAX_FRAMES 256
#define SNAPSHOT 65536

/* ---- what a sample would hold -------------------------------------------------------------------- */

struct snapshot {
	struct regs regs;
	size_t len;
	uint8_t stack[SNAPSHOT];
	void *truth[MAX_FRAMES];
	int n_truth;
};

struct search {
	uint64_t sp, end;
};

static void find_stack(void *context, const struct target_map *map)
{
	struct search *search = context;

	if (map->start <= search->sp && search->sp < map->end)
		search->end = map->end;
}

/* Copies from sp to the end of its mapping. */
static void take_stack(struct snapshot *s)
{
	struct search search = { .sp = s->regs.value[own_isa()->sp] };

	CHECK_EQ(target_maps(getpid(), find_stack, &search), 0);
	CHECK(search.end > search.sp);
	s->len = search.end - search.sp < SNAPSHOT ? search.end - search.sp : SNAPSHOT;
	/* through the kernel: a sanitizer would rightly object to a plain copy across objects */
	CHECK_EQ(target_read_memory(getpid(), search.sp, s->stack, s->len), s->len);
}

/* ---- the walk ------------------------------------------------------------------------------------ */

struct scene {
	struct images *images;
	struct mapper *mapper;
	struct unwinder *unwinder;
	struct stack stack;
};

static void add_map(void *context, const struct target_map *map)
{
	struct scene *s = context;
	char path[4096];
	struct mapping_file file = { .inode = map->inode, .major = map->major, .minor = map->minor };
	struct event event = { .kind = EVENT_MAPPING,
			       .pid = getpid(),
			       .tid = getpid(),
			       .mapping = { .start = map->start,
					    .len = map->end - map->start,
					    .file_offset = map->offset,
					    .image = IMAGE_NONE,
					    .is_executable = map->is_executable,
					    .path = path } };

	if (!map->is_executable)
		return;
	snprintf(path, sizeof(path), "%.*s", (int)map->path_len, map->path);
	mapper_resolve(s->mapper, getpid(), &file, &event.mapping);
	unwinder_event(s->unwinder, &event);
}

static struct scene walk(const struct snapshot *snapshot, enum unwind_mode mode)
{
	struct scene s = { .images = images_new() };
	struct event event = { .kind = EVENT_SAMPLE, .pid = getpid(), .tid = getpid() };

	s.mapper = mapper_new(s.images);
	s.unwinder = unwinder_new(s.images, own_isa(), &(struct unwinder_options){ .mode = mode });
	CHECK_EQ(target_maps(getpid(), add_map, &s), 0);
	event.sample.regs = snapshot->regs;
	event.sample.stack = (struct bytes){ snapshot->stack, snapshot->len };
	unwinder_walk(s.unwinder, &event, &s.stack);
	return s;
}

static void scene_done(struct scene *s)
{
	stack_done(&s->stack);
	unwinder_free(s->unwinder);
	mapper_free(s->mapper);
	images_free(s->images);
}

/* From the caller of capture() on; a sanitizer's backtrace has frames of its own before that. */
static void check_same(const struct scene *s, const struct snapshot *snapshot)
{
	size_t first = 0, n_truth = (size_t)snapshot->n_truth;

	CHECK_STR(stack_end_name(s->stack.end), "complete");
	CHECK(s->stack.frames.n > 2);
	while (first < n_truth && (uintptr_t)snapshot->truth[first] != s->stack.frames.at[1].pc)
		first++;
	CHECK_EQ(s->stack.frames.n - 1, n_truth - first);
	for (size_t i = 1; i < s->stack.frames.n; i++)
		CHECK_EQ(s->stack.frames.at[i].pc, (uintptr_t)snapshot->truth[first + i - 1]);
}

/* ---- the programs -------------------------------------------------------------------------------- */

__attribute__((noinline)) static void capture(struct snapshot *s)
{
	ucontext_t context;

	getcontext(&context);
	own_registers(&context, &s->regs);
	take_stack(s);
	s->n_truth = backtrace(s->truth, MAX_FRAMES);
}

__attribute__((noinline)) static int descend(struct snapshot *s, int depth)
{
	volatile char frame[64 + 16 * (1 + 3)];

	frame[0] = (char)depth;
	if (depth == 0)
		capture(s);
	else
		descend(s, depth - 1);
	return frame[0];
}

TEST(self_is_unwound_as_backtrace_does)
{
	if (!own_code_is_mapped())
		SKIP(NO_OWN_CODE);
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	descend(snapshot, 20);
	CHECK(snapshot->n_truth > 20);
	struct scene s = walk(snapshot, UNWIND_CFI);
	check_same(&s, snapshot);
	scene_done(&s);
	free(snapshot);
}

static int compare(const void *a, const void *b)
{
	static _Thread_local bool is_done;
	const uintptr_t *element = a;

	(void)b;
	if (!is_done) {
		is_done = true;
		capture((struct snapshot *)*element);
	}
	return 0;
}

TEST(self_is_unwound_through_the_c_library)
{
	if (!own_code_is_mapped())
		SKIP(NO_OWN_CODE);
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	uintptr_t elements[] = { (uintptr_t)snapshot, (uintptr_t)snapshot };

	qsort(elements, ARRAY_LEN(elements), sizeof(elements[0]), compare);
	struct scene s = walk(snapshot, UNWIND_CFI);
	check_same(&s, snapshot);
	scene_done(&s);
	free(snapshot);
}

static void *thread_main(void *argument)
{
	descend(argument, 3);
	return NULL;
}

TEST(self_is_unwound_to_where_a_thread_starts)
{
	if (!own_code_is_mapped())
		SKIP(NO_OWN_CODE);
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, thread_main, snapshot), 0);
	pthread_join(thread, NULL);
	struct scene s = walk(snapshot, UNWIND_CFI);
	check_same(&s, snapshot);
	scene_done(&s);
	free(snapshot);
}

static struct snapshot *handler_snapshot;

static void on_signal(int number)
{
	(void)number;
	capture(handler_snapshot);
}

TEST(self_is_unwound_through_a_signal_handler)
{
	if (!own_code_is_mapped())
		SKIP(NO_OWN_CODE);
#if defined(__aarch64__)
	/* In an emulator. The kernel's code that ends a handler is in the vdso. */
	if (!getauxval(AT_SYSINFO_EHDR))
		SKIP("this process has no vdso");
#endif
	struct sigaction action = { .sa_handler = on_signal }, old;
	struct snapshot *snapshot = handler_snapshot = calloc(1, sizeof(*snapshot));

	CHECK_EQ(sigaction(SIGUSR1, &action, &old), 0);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &old, NULL);
	struct scene s = walk(snapshot, UNWIND_CFI);
	check_same(&s, snapshot);
	scene_done(&s);
	free(snapshot);
}

/* Where the stub for a symbol starts; 0 if there is none. */
static uint64_t find_stub(struct image *image, const char *name)
{
	struct functions *functions = functions_new(image, NULL, NULL, NULL);
	uint64_t start = 0;

	for (size_t i = 0; i < functions->n; i++)
		if (functions->at[i].kind == FUNCTION_STUB && functions->at[i].name &&
		    strcmp(functions->at[i].name, name) == 0)
			start = functions->at[i].start;
	functions_free(functions);
	return start;
}

/* A query for one stub gives the same result as reading all of them; between their starts there is none. */
TEST(a_single_stub_has_the_same_name_as_when_all_are_read)
{
	struct images *images = images_new();
	struct relocs relocs;
	struct plt plt;
	size_t n_named = 0;
	image_id program;

	CHECK_EQ(images_open(images, "/proc/self/exe", &program, NULL), 0);
	struct image *image = images_get(images, program);
	relocs_read(&relocs, image);
	plt_read(&plt, image, own_isa(), &relocs);
	for (size_t i = 0; i < plt.stubs.n; i++) {
		const struct plt_stub *stub = &plt.stubs.at[i];
		const char *name = plt_name_at(image, own_isa(), stub->start);
		CHECK(!name == !stub->name);
		CHECK(!name || strcmp(name, stub->name) == 0);
		CHECK(plt_name_at(image, own_isa(), stub->start + 4) == NULL);
		n_named += name != NULL;
	}
	CHECK(n_named > 0);
	/* After too many queries, the relocations are not read again. */
	CHECK(!image_scan(image, UINT64_MAX));
	for (size_t i = 0; i < plt.stubs.n; i++)
		CHECK(plt_name_at(image, own_isa(), plt.stubs.at[i].start) == NULL);
	plt_done(&plt);
	relocs_done(&relocs);
	images_free(images);
}

static bool is_text(void *context, const char *name, size_t len)
{
	return strlen(context) == len && memcmp(name, context, len) == 0;
}

/* A query of the file's tables for one address gives the same result as reading all symbols. */
TEST(symbols_of_one_address_are_the_same_as_when_all_are_read)
{
	struct images *images = images_new();
	image_id program;

	CHECK_EQ(images_open(images, "/proc/self/exe", &program, NULL), 0);
	struct image *image = images_get(images, program);
	struct symbols *symbols = symbols_read(image);
	CHECK(symbols->n > 100);
	for (size_t i = 0; i < symbols->n; i += symbols->n / 50) {
		char *name = alloc_text(symbols->at[i].name);
		CHECK_EQ(symbols_have(image, symbols->at[i].vaddr, is_text, name), 1);
		CHECK_EQ(symbols_have(image, symbols->at[i].vaddr + 1, is_text, name), 0);
		name[0] ^= 1;
		CHECK_EQ(symbols_have(image, symbols->at[i].vaddr, is_text, name), 0);
		free(name);
	}
	/* After too many queries, the file is not read again: the caller must read all symbols once. */
	CHECK(image_may_scan(image));
	CHECK(!image_scan(image, UINT64_MAX));
	CHECK(!image_may_scan(image));
	CHECK_EQ(symbols_have(image, symbols->at[0].vaddr, is_text, (void *)(uintptr_t)symbols->at[0].name),
		 -ENODATA);
	symbols_free(symbols);
	images_free(images);
}

TEST(a_stub_leads_to_the_function_of_its_name)
{
	struct images *images = images_new();
	struct knowledge *knowledge = knowledge_new(images, own_isa(), UNWIND_AUTO, NULL);
	image_id program, library;
	Dl_info info;

	CHECK_EQ(images_open(images, "/proc/self/exe", &program, NULL), 0);
	uint64_t stub = find_stub(images_get(images, program), "sigaction");
	void *address = dlsym(RTLD_DEFAULT, "sigaction");
	if (!stub || !address || !dladdr(address, &info) ||
	    images_open(images, info.dli_fname, &library, NULL) < 0)
		SKIP("this program has no stub for sigaction");
	uint64_t vaddr = (uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)info.dli_fbase;

	for (unsigned round = 0; round < 2; round++) {
		CHECK(knowledge_stub_leads_to(knowledge, program, stub, library, vaddr));
		CHECK(!knowledge_stub_leads_to(knowledge, program, stub, library, vaddr + 16));
		CHECK(!knowledge_stub_leads_to(knowledge, program, stub + 4, library, vaddr));
		/* The same, once the tables were read too often: from the index then. */
		CHECK(!image_scan(images_get(images, program), UINT64_MAX));
		CHECK(!image_scan(images_get(images, library), UINT64_MAX));
		knowledge_free(knowledge);
		knowledge = knowledge_new(images, own_isa(), UNWIND_AUTO, NULL);
	}
	knowledge_free(knowledge);
	images_free(images);
}
