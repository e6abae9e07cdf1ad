/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/kernel/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "base/store.h"
#include "base/writer.h"

#define MAX_TEXT (256u << 20)
#define CHUNK (8u << 10)        /* the kernel returns about half of that at a time */
#define MAX_FUNCTION (1u << 20) /* after the last symbol, or before a gap, the end is not known */

static int kallsyms_compare(const void *left, const void *right)
{
	const struct kernel_symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->name > b->name) -
	       (a->name < b->name); /* in the order in which they are listed: their text is contiguous */
}

/* Hexadecimal digits up to a space, as many as fit; NULL if there are none. Each line starts with some. */
static const char *read_address(const char *at, uint64_t *ret)
{
	const char *start = at;
	uint64_t value = 0;

	for (; at - start < 16; at++) {
		unsigned c = (unsigned char)*at, digit = c - '0';
		if (digit > 9)
			digit = (c | 32) - 'a' < 6 ? (c | 32) - 'a' + 10 : 16;
		if (digit == 16)
			break;
		value = value << 4 | digit;
	}
	*ret = value;
	return at > start && *at == ' ' ? at : NULL;
}

/* "ffffffff81000000 T name" or "... t name\t[module]"; the line is terminated by a zero and becomes the name.
 * Data ends functions. */
static bool kallsyms_parse_line(char *line, char *end, struct kernel_symbol *ret)
{
	uint64_t start;
	const char *rest = read_address(line, &start);

	if (!rest || end - rest < 4 || rest[2] != ' ')
		return false;
	bool is_function = strchr("tTwW", rest[1]);
	char *name = line + (rest + 3 - line);
	if (end[-1] == '\r')
		*--end = '\0';
	char *module = memchr(name, '\t', (size_t)(end - name));
	module = module ? module : memchr(name, ' ', (size_t)(end - name));
	if (module)
		*module = module[1] == '[' ? ' ' : '\0';
	*ret = (struct kernel_symbol){ start, is_function ? name : end };
	return start && start <= UINT64_MAX - MAX_FUNCTION && name[0] && name[0] != ' ' && name[0] != '$';
}

/* Of several at one address, keeps the first; of data, only where it begins. */
static void kallsyms_add(struct kallsyms *ret, struct kernel_symbol symbol)
{
	struct kernel_symbol *last = ret->symbols.n ? &ret->symbols.at[ret->symbols.n - 1] : NULL;
	bool was_data = !last || !last->name[0];

	if (last && last->start == symbol.start)
		*last = was_data ? symbol : *last;
	else if (symbol.name[0] || !was_data)
		vec_push(&ret->symbols, symbol);
}

/* The kernel's own symbols are in order; those of what was loaded later follow, wherever that is. */
static void kallsyms_sort(struct kallsyms *kallsyms)
{
	struct kernel_symbol *at = kallsyms->symbols.at;
	size_t n = kallsyms->symbols.n, n_first = n ? 1 : 0;
	struct kallsyms sorted = { 0 };

	while (n_first < n && at[n_first - 1].start < at[n_first].start)
		n_first++;
	if (n_first == n)
		return;
	qsort(at + n_first, n - n_first, sizeof(*at), kallsyms_compare);
	vec_reserve(&sorted.symbols, n);
	for (size_t first = 0, second = n_first; first < n_first || second < n;) {
		bool is_first =
			second == n || (first < n_first && kallsyms_compare(&at[first], &at[second]) <= 0);
		kallsyms_add(&sorted, at[is_first ? first++ : second++]);
	}
	vec_done(&kallsyms->symbols);
	kallsyms->symbols.at = sorted.symbols.at;
	kallsyms->symbols.n = sorted.symbols.n;
	kallsyms->symbols.cap = sorted.symbols.cap;
}

/* Text that ends with a zero becomes part of the table. */
static void kallsyms_take_text(char *text, size_t len, struct kallsyms *ret)
{
	*ret = (struct kallsyms){ .text = text };
	for (char *at = text, *end = text + len, *next; at < end; at = next) {
		char *newline = memchr(at, '\n', (size_t)(end - at)), *line_end = newline ? newline : end;
		struct kernel_symbol symbol;
		next = line_end + 1;
		*line_end = '\0';
		if (kallsyms_parse_line(at, line_end, &symbol))
			kallsyms_add(ret, symbol);
	}
	kallsyms_sort(ret);
}

void kallsyms_parse(struct bytes text, struct kallsyms *ret)
{
	kallsyms_take_text(alloc_text_n(text.len ? (const char *)text.at : "", text.len), text.len, ret);
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
	kallsyms_take_text((char *)text.at, text.len - 1, ret);
	return ret->symbols.n ? 0 : -EPERM;
}

void kallsyms_done(struct kallsyms *kallsyms)
{
	vec_done(&kallsyms->symbols);
	free(kallsyms->text);
	store_release(kallsyms->entry);
}

const struct kernel_symbol *kallsyms_find(const struct kallsyms *kallsyms, uint64_t vaddr, uint64_t *ret_end)
{
	size_t behind = search_first(i, kallsyms->symbols.n, kallsyms->symbols.at[i].start > vaddr);

	if (behind == 0)
		return NULL;
	const struct kernel_symbol *symbol = &kallsyms->symbols.at[behind - 1];
	uint64_t next = behind < kallsyms->symbols.n ? symbol[1].start : UINT64_MAX;
	*ret_end = next - symbol->start < MAX_FUNCTION ? next : symbol->start + MAX_FUNCTION;
	return symbol->name[0] && vaddr < *ret_end ? symbol : NULL;
}
