/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

#define MAX_TEXT (256u << 20)
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

/* "ffffffff81000000 T name" or "... t name\t[module]". */
static void parse_line(struct kallsyms *ret, const char *line, size_t len)
{
	CLEANUP(freep) char *copy = alloc_text_n(line, len);
	char *rest, *name, *module;
	uint64_t start = strtoull(copy, &rest, 16);

	if (rest == copy || rest[0] != ' ' || !rest[1] || !strchr("tTwW", rest[1]) || rest[2] != ' ')
		return;
	name = rest + 3;
	name[strcspn(name, "\r")] = '\0';
	module = strpbrk(name, "\t ");
	if (module)
		*module++ = '\0';
	if (!start || start > UINT64_MAX - MAX_FUNCTION || !name[0] || name[0] == '$')
		return;
	CLEANUP(freep) char *whole = module && module[0] == '[' ? alloc_printf("%s %s", name, module) : alloc_text(name);
	vec_push(&ret->symbols, (struct kernel_symbol){ start, arena_text(&ret->names, whole, strlen(whole)) });
}

void kallsyms_parse(struct bytes text, struct kallsyms *ret)
{
	const char *at = (const char *)text.at, *end = at + text.len;
	size_t n = 0;

	*ret = (struct kallsyms){ 0 };
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		parse_line(ret, at, len);
		at += len + (newline != NULL);
	}
	if (ret->symbols.n)
		qsort(ret->symbols.at, ret->symbols.n, sizeof(*ret->symbols.at), compare);
	for (size_t i = 0; i < ret->symbols.n; i++)
		if (n == 0 || ret->symbols.at[n - 1].start != ret->symbols.at[i].start)
			ret->symbols.at[n++] = ret->symbols.at[i];
	ret->symbols.n = n;
}

int kallsyms_open(const char *path, struct kallsyms *ret)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(text_done) struct text text = { 0 };
	char buffer[65536];

	*ret = (struct kallsyms){ 0 };
	if (fd < 0)
		return -errno;
	for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) != 0 && text.len < MAX_TEXT;) {
		if (n < 0)
			return -errno;
		text_add(&text, buffer, (size_t)n);
	}
	kallsyms_parse((struct bytes){ (const uint8_t *)text.at, text.len }, ret);
	return ret->symbols.n ? 0 : -EPERM;
}

void kallsyms_done(struct kallsyms *kallsyms)
{
	vec_done(&kallsyms->symbols);
	arena_done(&kallsyms->names);
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
