/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * kernel_ask: the program, and kernel_ask_bpf(2) by hand. The kernel gives bpf_snprintf to programs under its
 * own licence only; so this file may be used under that, too.
 */
#include "symbolize/kernel/kernel_ask.h"

#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/writer.h"

#define ANSWER 384 /* bytes; a program's stack has 512 */
#define MAX_INSNS (16 + 2 * ANSWER / 8)

/* What the program is given, and gives back. */
struct question {
	uint64_t vaddr;
	char answer[ANSWER];
};

struct program {
	struct bpf_insn code[MAX_INSNS];
	uint32_t n;
};

static int kernel_ask_bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* ---- the program -------------------------------------------------------------------------------- */

/* A format must lie in memory that nobody can change. */
static int make_format(void)
{
	char format[8] = "%pS";
	uint32_t key = 0;
	union bpf_attr make = { .map_type = BPF_MAP_TYPE_ARRAY,
				.key_size = sizeof(key),
				.value_size = sizeof(format),
				.max_entries = 1,
				.map_flags = BPF_F_RDONLY_PROG };
	CLEANUP(close_fd) int fd = kernel_ask_bpf(BPF_MAP_CREATE, &make);
	union bpf_attr fill = { .map_fd = (uint32_t)fd, .key = (uintptr_t)&key, .value = (uintptr_t)format };
	union bpf_attr freeze = { .map_fd = (uint32_t)fd };

	if (fd < 0 || kernel_ask_bpf(BPF_MAP_UPDATE_ELEM, &fill) < 0 ||
	    kernel_ask_bpf(BPF_MAP_FREEZE, &freeze) < 0)
		return -1;
	return TAKE_FD(fd);
}

static void kernel_ask_emit(struct program *p, int code, int dst, int src, int off, int32_t imm)
{
	p->code[p->n++] = (struct bpf_insn){ (uint8_t)code, (uint8_t)(dst & 15), (uint8_t)(src & 15),
					     (int16_t)off, imm };
}

static void point_to_stack(struct program *p, int reg, int32_t offset)
{
	kernel_ask_emit(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, BPF_REG_10, 0, 0);
	kernel_ask_emit(p, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, offset);
}

/* snprintf(answer, ANSWER, format, &vaddr, 8), both on the stack, and the answer back to where the question
 * is. */
static void make_program(struct program *p, int format)
{
	const int vaddr = -8, answer = vaddr - ANSWER;

	kernel_ask_emit(p, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
	kernel_ask_emit(p, BPF_LDX | BPF_DW | BPF_MEM, BPF_REG_2, BPF_REG_6,
			(int)offsetof(struct question, vaddr), 0);
	kernel_ask_emit(p, BPF_STX | BPF_DW | BPF_MEM, BPF_REG_10, BPF_REG_2, vaddr, 0);
	point_to_stack(p, BPF_REG_1, answer);
	kernel_ask_emit(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, ANSWER);
	kernel_ask_emit(p, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_3, BPF_PSEUDO_MAP_VALUE, 0, format);
	kernel_ask_emit(p, 0, 0, 0, 0, 0);
	point_to_stack(p, BPF_REG_4, vaddr);
	kernel_ask_emit(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_5, 0, 0, sizeof(uint64_t));
	kernel_ask_emit(p, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_snprintf);
	for (int i = 0; i < ANSWER; i += 8) {
		kernel_ask_emit(p, BPF_LDX | BPF_DW | BPF_MEM, BPF_REG_1, BPF_REG_10, answer + i, 0);
		kernel_ask_emit(p, BPF_STX | BPF_DW | BPF_MEM, BPF_REG_6, BPF_REG_1,
				(int)offsetof(struct question, answer) + i, 0);
	}
	kernel_ask_emit(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	kernel_ask_emit(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int kernel_ask_load_program(void)
{
	CLEANUP(close_fd) int format = make_format();
	struct program program = { 0 };

	if (format < 0)
		return -1;
	make_program(&program, format);
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SYSCALL,
				.prog_flags = BPF_F_SLEEPABLE,
				.insns = (uintptr_t)program.code,
				.insn_cnt = program.n,
				.license = (uintptr_t) "GPL" };
	strcpy(attr.prog_name, "cpprof");
	return kernel_ask_bpf(BPF_PROG_LOAD, &attr); /* keeps the format */
}

/* ---- answers ------------------------------------------------------------------------------------ */

/* "0x" and digits; NULL if there are none. */
static const char *kernel_ask_read_number(const char *at, uint64_t *ret)
{
	char *end;

	if (at[0] != '0' || at[1] != 'x')
		return NULL;
	*ret = strtoull(at + 2, &end, 16);
	return end > at + 2 ? end : NULL;
}

bool kernel_answer_parse(const char *answer, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end,
			 size_t *ret_name_len)
{
	const char *plus = strrchr(answer, '+'), *slash, *end;
	uint64_t offset, size;

	if (!plus || plus == answer || answer[0] == '$' ||
	    !(slash = kernel_ask_read_number(plus + 1, &offset)) || slash[0] != '/' ||
	    !(end = kernel_ask_read_number(slash + 1, &size)) || end[0] || offset >= size || offset > vaddr ||
	    size > UINT64_MAX - vaddr)
		return false;
	*ret_start = vaddr - offset;
	*ret_end = *ret_start + size;
	*ret_name_len = (size_t)(plus - answer);
	return true;
}

/* Where names are while their text still grows: offsets into it. */
struct answers {
	struct writer text;
	VEC(uint64_t) starts;
	VEC(size_t) names;
	uint64_t end; /* of the last function */
};

static void kernel_ask_add(struct answers *answers, uint64_t start, const char *name, size_t len)
{
	vec_push(&answers->starts, start);
	vec_push(&answers->names, answers->text.len);
	write_bytes(&answers->text, (struct bytes){ (const uint8_t *)name, len });
	write_u8(&answers->text, 0);
}

/* False if it is none that we know to read. */
static bool take_answer(struct answers *answers, const struct question *question)
{
	uint64_t start, end;
	size_t len;

	if (!memchr(question->answer, 0, ANSWER))
		return false;
	if (strncmp(question->answer, "0x", 2) == 0)
		return true; /* nothing is there */
	if (!kernel_answer_parse(question->answer, question->vaddr, &start, &end, &len) ||
	    start < answers->end)
		return false;
	if (start == answers->end && answers->starts.n) { /* where the last one ends */
		answers->starts.n--;
		answers->names.n--;
	}
	kernel_ask_add(answers, start, question->answer, len);
	kernel_ask_add(answers, end, "", 0);
	answers->end = end;
	return true;
}

static bool ask_all(int program, const uint64_t *vaddrs, size_t n, struct answers *ret)
{
	for (size_t i = 0; i < n; i++) {
		struct question question = { .vaddr = vaddrs[i] };
		union bpf_attr attr = { .test = { .prog_fd = (uint32_t)program,
						  .ctx_in = (uintptr_t)&question,
						  .ctx_size_in = sizeof(question) } };
		if (vaddrs[i] < ret->end)
			continue;
		if (kernel_ask_bpf(BPF_PROG_TEST_RUN, &attr) < 0 || !take_answer(ret, &question))
			return false;
	}
	return true;
}

bool kernel_ask(const uint64_t *vaddrs, size_t n, struct kallsyms *ret)
{
	CLEANUP(close_fd) int program = kernel_ask_load_program();
	struct answers answers = { 0 };
	bool is_answered = program >= 0 && ask_all(program, vaddrs, n, &answers);

	*ret = (struct kallsyms){ 0 };
	for (size_t i = 0; is_answered && i < answers.starts.n; i++)
		vec_push(&ret->symbols,
			 ((struct kernel_symbol){ answers.starts.at[i],
						  (char *)answers.text.at + answers.names.at[i] }));
	if (is_answered)
		ret->text = (char *)answers.text.at;
	else
		writer_done(&answers.text);
	vec_done(&answers.starts);
	vec_done(&answers.names);
	return is_answered;
}
