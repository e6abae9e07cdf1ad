/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/kernel/kernel_ask.h"

#include <stdlib.h>
#include <string.h>

#include "base/writer.h"
#include "collector/bpf/bpf_symbol.h"

/* ---- answers ------------------------------------------------------------------------------------ */

/* "0x" and digits; NULL if there are none. */
static const char *kernel_ask_number(const char *at, uint64_t *ret)
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

	if (!plus || plus == answer || answer[0] == '$' || !(slash = kernel_ask_number(plus + 1, &offset)) ||
	    slash[0] != '/' || !(end = kernel_ask_number(slash + 1, &size)) || end[0] || offset >= size ||
	    offset > vaddr || size > UINT64_MAX - vaddr)
		return false;
	*ret_start = vaddr - offset;
	*ret_end = *ret_start + size;
	*ret_name_len = (size_t)(plus - answer);
	return true;
}

/* Names while their text still grows: as offsets. */
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

/* False if the format is not known. */
static bool kernel_ask_take(struct answers *answers, const struct symbol_question *question)
{
	const char *answer = (const char *)question->answer;
	uint64_t start, end;
	size_t len;

	if (!memchr(answer, 0, SYMBOL_ANSWER))
		return false;
	if (strncmp(answer, "0x", 2) == 0)
		return true; /* nothing is there */
	if (!kernel_answer_parse(answer, question->vaddr, &start, &end, &len) || start < answers->end)
		return false;
	if (start == answers->end && answers->starts.n) { /* where the last one ends */
		answers->starts.n--;
		answers->names.n--;
	}
	kernel_ask_add(answers, start, answer, len);
	kernel_ask_add(answers, end, "", 0);
	answers->end = end;
	return true;
}

static bool kernel_ask_all(const struct bpf_symbol *program, const uint64_t *vaddrs, size_t n,
			   struct answers *ret)
{
	for (size_t i = 0; i < n; i++) {
		struct symbol_question question = { .vaddr = vaddrs[i] };
		if (vaddrs[i] < ret->end)
			continue;
		if (bpf_symbol_ask(program, &question) < 0 || !kernel_ask_take(ret, &question))
			return false;
	}
	return true;
}

bool kernel_ask(const uint64_t *vaddrs, size_t n, struct kallsyms *ret)
{
	struct bpf_symbol *program = bpf_symbol_open();
	struct answers answers = { 0 };
	bool is_answered = program && kernel_ask_all(program, vaddrs, n, &answers);

	bpf_symbol_close(program);
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
