/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probe addresses in all functions of files of either architecture, compared with an independent analysis:
 * a sweep from the first byte of each function to its last, and on x86-64 the opcodes that the kernel is
 * known to emulate.
 */
#include <elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/bpf/trace_layout.h"
#include "recording/chosen.h"
#include "recording/returns.h"
#include "tests/test.h"

#define FOLDER CPPROF_SOURCE_DIR "/tests/data/recipes/"

struct search {
	struct images *images;
	struct chosen chosen;
	struct image *image;
	uint64_t base; /* address minus file offset */
};

static struct search look_through(const char *file)
{
	struct search s = { .images = images_new() };
	struct diag diag = { 0 };
	char *pattern = "*";
	image_id id;

	CHECK(images_open(s.images, file, &id, &diag) >= 0);
	s.image = images_get(s.images, id);
	chosen_init(&s.chosen, &pattern, 1);
	chosen_look(&s.chosen, s.images, id, TRACE_FUNCTIONS_MAX);
	CHECK(s.chosen.functions.n > 10);
	s.base = s.chosen.functions.at[0].vaddr + s.chosen.functions.at[0].skip -
		 s.chosen.functions.at[0].entry;
	return s;
}

static void search_done(struct search *s)
{
	chosen_done(&s->chosen);
	images_free(s->images);
}

/* push of a register, nop, jmp, call, and jumps on a condition. */
static bool x86_is_emulated(struct bytes code)
{
	uint8_t a = code.len > 0 ? code.at[0] : 0, b = code.len > 1 ? code.at[1] : 0;

	if ((a == 0x41 && b >= 0x50 && b <= 0x57) || (a == 0x0f && b >= 0x80 && b <= 0x8f))
		return true;
	return (a >= 0x50 && a <= 0x57) || a == 0x90 || a == 0xeb || a == 0xe9 || a == 0xe8 ||
	       (a >= 0x70 && a <= 0x7f);
}

/* How many of its exits are between two offsets. */
static size_t count_exits(const struct chosen_function *f, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < f->exits.n; i++)
		n += f->exits.at[i] >= from && f->exits.at[i] < to;
	return n;
}

static bool leaves(const struct chosen_function *f, const struct insn *insn)
{
	bool is_jump = insn->flow == FLOW_JUMP || insn->flow == FLOW_BRANCH;

	return insn->flow == FLOW_RETURN || insn->flow == FLOW_JUMP_INDIRECT ||
	       (is_jump && (insn->target < f->vaddr || insn->target >= f->end || insn->target == f->vaddr));
}

/* Every exit is an instruction that leaves the function, every return is an exit. */
static void check_exits(const struct search *s, const struct isa *isa, const struct chosen_function *f)
{
	size_t n_met = 0;
	struct insn insn;

	for (uint64_t at = f->vaddr; at < f->end; at += insn.len) {
		if (isa->decode(image_bytes(s->image, at), at, &insn) < 0)
			return; /* data within code */
		bool is_exit = count_exits(f, at - s->base, at - s->base + 1) > 0;
		n_met += is_exit;
		CHECK(!is_exit || leaves(f, &insn));
		CHECK(is_exit || insn.flow != FLOW_RETURN || !f->exits.n);
	}
	/* The others are in a part of it elsewhere. */
	CHECK_EQ(n_met, count_exits(f, f->vaddr - s->base, f->end - s->base));
}

static void check_costs(const struct search *s, const struct chosen_function *f)
{
	bool is_exit_stepped = false;

	for (size_t i = 0; i < f->exits.n; i++)
		is_exit_stepped |= !x86_is_emulated(image_bytes(s->image, f->exits.at[i] + s->base));
	CHECK_EQ(f->is_exit_stepped, is_exit_stepped);
	CHECK_EQ(f->n_stepped,
		 !x86_is_emulated(image_bytes(s->image, f->entry + s->base)) + (unsigned)is_exit_stepped);
}

static void check_file(const char *file)
{
	struct search s = look_through(file);
	const struct isa *isa = isa_for_machine(s.image->elf_machine);
	size_t n_known = 0;

	for (size_t i = 0; i < s.chosen.functions.n; i++) {
		const struct chosen_function *f = &s.chosen.functions.at[i];
		struct bytes mark = image_bytes(s.image, f->vaddr);
		CHECK_EQ(f->entry + s.base, f->vaddr + f->skip);
		CHECK(!f->skip || (mark.len >= 4 &&
				   memcmp(mark.at, (const uint8_t[]){ 0xf3, 0x0f, 0x1e, 0xfa }, 4) == 0));
		check_exits(&s, isa, f);
		if (isa == &isa_x86_64)
			check_costs(&s, f);
		n_known += f->exits.n > 0;
	}
	CHECK(n_known > 10 && n_known * 10 >= s.chosen.functions.n * 7);
	search_done(&s);
}

TEST(chosen_x86_entries_and_exits_agree_with_a_linear_sweep)
{
	check_file(FOLDER "x86_64_clang_O0");
	check_file(FOLDER "x86_64_clang_O2");
	check_file(FOLDER "x86_64_gcc_O0");
	check_file(FOLDER "x86_64_gcc_O2");
	check_file(FOLDER "x86_64_gcc_O3_v3");
	check_file(FOLDER "x86_64_gcc_Os");
	check_file(FOLDER "x86_64_gcc_hardened");
	check_file(FOLDER "x86_64_gcc_frame_pointer");
}

TEST(chosen_arm_entries_and_exits_agree_with_a_linear_sweep)
{
	check_file(FOLDER "aarch64_clang_O2");
	check_file(FOLDER "aarch64_gcc_O0");
	check_file(FOLDER "aarch64_gcc_O2");
	check_file(FOLDER "aarch64_gcc_Os");
	check_file(FOLDER "aarch64_gcc_hardened");
}

/* ---- which instructions the kernel emulates ---------------------------------------------------------------
 */

static bool is_emulated(const struct isa *isa, const uint8_t *code, size_t len)
{
	struct insn insn;

	CHECK_EQ(isa->decode((struct bytes){ code, len }, 0x1000, &insn), 0);
	return isa_is_emulated(isa, &insn);
}

TEST(isa_x86_instructions_that_the_kernel_emulates)
{
	static const struct {
		uint8_t code[8];
		bool is_emulated;
	} at[] = {
		{ { 0x55 }, true },       /* push %rbp */
		{ { 0x41, 0x57 }, true }, /* push %r15 */
		{ { 0x90 }, true },       /* nop */
		{ { 0xeb, 0x10 }, true }, /* jmp */
		{ { 0xe9, 0x10 }, true },
		{ { 0xe8, 0x10 }, true },              /* call */
		{ { 0x74, 0x10 }, true },              /* je */
		{ { 0x0f, 0x85, 0x10 }, true },        /* jne */
		{ { 0xc3 }, false },                   /* ret */
		{ { 0xf3, 0x0f, 0x1e, 0xfa }, false }, /* endbr64 */
		{ { 0x48, 0x83, 0xec, 0x08 }, false }, /* sub $8,%rsp */
		{ { 0x48, 0x89, 0xe5 }, false },       /* mov %rsp,%rbp */
		{ { 0x6a, 0x01 }, false },             /* push $1 */
		{ { 0xff, 0x30 }, false },             /* push (%rax) */
		{ { 0xff, 0xe0 }, false },             /* jmp *%rax */
		{ { 0xff, 0xd0 }, false },             /* call *%rax */
		{ { 0x5d }, false },                   /* pop %rbp */
	};

	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		CHECK_EQ(is_emulated(&isa_x86_64, at[i].code, sizeof(at[i].code)), at[i].is_emulated);
}

TEST(isa_arm_instructions_that_the_kernel_emulates)
{
	static const struct {
		uint32_t code;
		bool is_emulated;
	} at[] = {
		{ 0xd503201f, true },  /* nop */
		{ 0xd65f03c0, true },  /* ret */
		{ 0x14000004, true },  /* b */
		{ 0x94000004, true },  /* bl */
		{ 0x54000040, true },  /* b.eq */
		{ 0xb4000040, true },  /* cbz */
		{ 0x36000040, true },  /* tbz */
		{ 0x90000000, true },  /* adrp */
		{ 0xd61f0200, true },  /* br */
		{ 0xd63f0200, true },  /* blr */
		{ 0xd65f0bff, false }, /* retaa */
		{ 0xd71f0a1f, false }, /* braa */
		{ 0xa9bf7bfd, false }, /* stp x29,x30,[sp,#-16]! */
		{ 0xd503233f, false }, /* paciasp */
		{ 0xd10043ff, false }, /* sub sp,sp,#16 */
		{ 0xf94003e0, false }, /* ldr x0,[sp] */
	};

	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		CHECK_EQ(is_emulated(&isa_aarch64, (const uint8_t *)&at[i].code, 4), at[i].is_emulated);
}

/* ---- processes that filter their system calls -------------------------------------------------------------
 */

/* A child that waits, with or without a filter. -1: filters are not available. */
static pid_t start_child(bool is_filtered)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, all };
	int ready[2];
	char word = 0;

	if (pipe(ready) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* for when a failed check ends the test */
		word = !is_filtered || (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
					prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
		if (write(ready[1], &word, 1) == 1)
			pause();
		_exit(0);
	}
	bool is_ready = pid > 0 && read(ready[0], &word, 1) == 1 && word;
	close(ready[0]);
	close(ready[1]);
	if (!is_ready && pid > 0)
		kill(pid, SIGKILL), waitpid(pid, NULL, 0);
	return is_ready ? pid : -1;
}

static bool mentions_filter(const char *file, pid_t pid)
{
	struct search s = look_through(file);
	const char *why = returns_refused(pid, s.image, false);
	bool does = why && strstr(why, "seccomp filter");

	search_done(&s);
	return does;
}

/* On x86-64 the kernel uses a system call to return from a probed return. */
TEST(trace_returns_are_not_probed_under_a_seccomp_filter)
{
	pid_t filtered = start_child(true);

	if (filtered < 0) /* before the other child starts: it would outlive the test */
		SKIP("system calls cannot be filtered here");
	pid_t plain = start_child(false);
	CHECK(plain > 0);
	CHECK(mentions_filter(FOLDER "x86_64_gcc_O2", filtered));
	CHECK(!mentions_filter(FOLDER "x86_64_gcc_O2", plain));
	CHECK(!mentions_filter(FOLDER "aarch64_gcc_O2", filtered));
	kill(filtered, SIGKILL);
	kill(plain, SIGKILL);
	waitpid(filtered, NULL, 0);
	waitpid(plain, NULL, 0);
}
