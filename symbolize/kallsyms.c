/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/writer.h"

#define MAX_TEXT (256u << 20)
#define CHUNK (8u << 10) /* the kernel gives about half of that at a time */
#define MAX_FUNCTION (1u << 20) /* behind the last symbol, or before a gap, nothing is known */

static int compare(const void *left, const void *right)
{
	const struct kernel_symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* Of several names the one with fewer underscores in front, then the first. */
	size_t a_bars = strspn(a->name, "_"), b_bars = strspn(b->name, "_");
	return a_bars != b_bars ? (a_bars < b_bars ? -1 : 1) : strcmp(a->name, b->name);
}

/* "ffffffff81000000 T name" or "... t name\t[module]"; the line ends with a zero and becomes the name. */
static void parse_line(struct kallsyms *ret, char *line)
{
	char *rest, *name;
	uint64_t start = strtoull(line, &rest, 16);

	if (rest == line || rest[0] != ' ' || !rest[1] || !strchr("tTwW", rest[1]) || rest[2] != ' ')
		return;
	name = rest + 3;
	name[strcspn(name, "\r")] = '\0';
	char *module = strpbrk(name, "\t ");
	if (module)
		*module = module[1] == '[' ? ' ' : '\0';
	if (!start || start > UINT64_MAX - MAX_FUNCTION || !name[0] || name[0] == ' ' || name[0] == '$')
		return;
	vec_push(&ret->symbols, (struct kernel_symbol){ start, name });
}

static void sort(struct kallsyms *ret)
{
	bool is_sorted = true;
	size_t n = 0;

	for (size_t i = 1; i < ret->symbols.n && is_sorted; i++)
		is_sorted = compare(&ret->symbols.at[i - 1], &ret->symbols.at[i]) <= 0;
	if (!is_sorted)
		qsort(ret->symbols.at, ret->symbols.n, sizeof(*ret->symbols.at), compare);
	for (size_t i = 0; i < ret->symbols.n; i++)
		if (n == 0 || ret->symbols.at[n - 1].start != ret->symbols.at[i].start)
			ret->symbols.at[n++] = ret->symbols.at[i];
	ret->symbols.n = n;
}

/* Text that ends with a zero becomes the table's. */
static void parse(char *text, size_t len, struct kallsyms *ret)
{
	*ret = (struct kallsyms){ .text = text };
	for (char *at = text, *end = text + len, *next; at < end; at = next) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		next = newline ? newline + 1 : end;
		if (newline)
			*newline = '\0';
		parse_line(ret, at);
	}
	sort(ret);
}

void kallsyms_parse(struct bytes text, struct kallsyms *ret)
{
	parse(alloc_text_n(text.len ? (const char *)text.at : "", text.len), text.len, ret);
}

int kallsyms_open(const char *path, struct kallsyms *ret)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct writer text = { 0 };

	*ret = (struct kallsyms){ 0 };
	if (fd < 0)
		return -errno;
	for (ssize_t n = 1; n != 0 && text.len < MAX_TEXT;) {
		uint8_t *room = write_space(&text, CHUNK);
		n = read(fd, room, CHUNK);
		text.len -= n < 0 ? CHUNK : CHUNK - (size_t)n;
		if (n < 0) {
			int error = -errno;
			writer_done(&text);
			return error;
		}
	}
	write_u8(&text, 0);
	parse((char *)text.at, text.len - 1, ret);
	return ret->symbols.n ? 0 : -EPERM;
}

void kallsyms_done(struct kallsyms *kallsyms)
{
	vec_done(&kallsyms->symbols);
	free(kallsyms->text);
}

const struct kernel_symbol *kallsyms_find(const struct kallsyms *kallsyms, uint64_t vaddr, uint64_t *ret_end)
{
	size_t low = 0, high = kallsyms->symbols.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (kallsyms->symbols.at[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	const struct kernel_symbol *symbol = &kallsyms->symbols.at[low - 1];
	uint64_t next = low < kallsyms->symbols.n ? symbol[1].start : UINT64_MAX;
	*ret_end = next - symbol->start < MAX_FUNCTION ? next : symbol->start + MAX_FUNCTION;
	return vaddr < *ret_end ? symbol : NULL;
}
