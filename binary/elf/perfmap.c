/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/elf/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file_open.h"
#include "base/hash.h"
#include "base/process_start.h"
#include "base/real_user.h"
#include "base/search.h"

#define MAX_MAP (256ull << 20) /* a line takes up to three times its bytes; more than any process needs */
#define MAX_DUMP (1ull << 30)  /* contains the code, which is skipped */
#define MAX_ENTRIES (8u << 20)
#define MAX_CODE_SIZE (1ull << 32)
#define ROOT_OF "/proc/%d/root" /* what the process sees as / */

/* ---- entries in the order of writing become disjoint ------------------------------------------ */

struct written {
	struct jit_code code;
	size_t order;
};

typedef VEC(struct written) written_list;

static int perfmap_compare(const void *left, const void *right)
{
	const struct written *a = left, *b = right;

	if (a->code.start != b->code.start)
		return a->code.start < b->code.start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void perfmap_add(written_list *list, uint64_t start, uint64_t size, const char *name)
{
	if (size && size < MAX_CODE_SIZE && start + size > start && list->n < MAX_ENTRIES)
		vec_push(list,
			 (struct written){ { .start = start, .end = start + size, .name = name }, list->n });
}

/*
 * Makes room for `next` at the end of the final entries. False if newer code covers all of it. If newer code
 * was written into the middle of old code, the old code ends there: the rest is not trusted.
 */
static bool perfmap_settle(written_list *settled, struct written *next)
{
	while (settled->n) {
		struct written *last = &settled->at[settled->n - 1];
		if (last->code.end <= next->code.start)
			return true;
		if (last->order > next->order) {
			next->code.start = last->code.end;
			return next->code.start < next->code.end;
		}
		last->code.end = next->code.start;
		if (last->code.start < last->code.end)
			return true;
		settled->n--;
	}
	return true;
}

static void perfmap_make_disjoint(written_list *list, struct perfmap *ret)
{
	written_list settled = { 0 };

	if (list->n)
		qsort(list->at, list->n, sizeof(*list->at), perfmap_compare);
	for (size_t i = 0; i < list->n; i++)
		if (perfmap_settle(&settled, &list->at[i]))
			vec_push(&settled, list->at[i]);
	for (size_t i = 0; i < settled.n; i++)
		vec_push(&ret->code, settled.at[i].code);
	vec_done(&settled);
	vec_done(list);
}

/* ---- perf maps ----------------------------------------------------------------------------- */

/* A hexadecimal number with or without 0x; moves text past it. */
static bool perfmap_read_hex(const char **text, const char *end, uint64_t *ret)
{
	unsigned digits = 0;

	*ret = 0;
	while (*text < end && (**text == ' ' || **text == '\t'))
		++*text;
	if (end - *text > 2 && (*text)[0] == '0' && ((*text)[1] == 'x' || (*text)[1] == 'X'))
		*text += 2;
	for (; *text < end; ++*text, digits++) {
		char c = **text;
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
				 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
							: 16;
		if (digit == 16)
			break;
		*ret = *ret << 4 | digit;
	}
	return digits > 0 && digits <= 16 && *text < end && (**text == ' ' || **text == '\t');
}

static void perfmap_parse_line(const char *text, const char *end, struct perfmap *ret, written_list *list)
{
	uint64_t start, size;

	if (!perfmap_read_hex(&text, end, &start) || !perfmap_read_hex(&text, end, &size))
		return;
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	while (end > text && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	if (text < end && !memchr(text, 0, (size_t)(end - text)))
		perfmap_add(list, start, size, arena_text(&ret->names, text, (size_t)(end - text)));
}

void perfmap_parse(struct bytes text, struct perfmap *ret)
{
	written_list list = { 0 };
	const char *at = (const char *)text.at, *end = at + text.len;

	*ret = (struct perfmap){ 0 };
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		perfmap_parse_line(at, newline ? newline : end, ret, &list);
		at = newline ? newline + 1 : end;
	}
	perfmap_make_disjoint(&list, ret);
}

/* ---- jitdump ------------------------------------------------------------------------------- */

#define JITDUMP_MAGIC 0x4a695444u /* "JiTD", written in the machine's byte order */
enum { JIT_LOAD = 0, JIT_MOVE = 1, JIT_DEBUG_INFO = 2 };

struct dump {
	struct perfmap *map;
	written_list list;
	struct map by_start; /* the last entry that starts there */
	uint64_t lines_for;  /* address of the code that the pending lines describe */
	uint32_t first_line, n_lines;
};

/* Source lines come directly before the code they describe. */
static void perfmap_read_debug_info(struct dump *dump, struct reader *r)
{
	uint64_t count;

	dump->lines_for = read_u64(r);
	count = read_u64(r);
	dump->first_line = (uint32_t)dump->map->lines.n;
	for (uint64_t i = 0; i < count && !r->failed && dump->map->lines.n < MAX_ENTRIES; i++) {
		struct jit_line line = { .vaddr = read_u64(r), .line = read_u32(r) };
		reader_skip(r, 4); /* discriminator */
		const char *file = read_cstr(r);
		if (r->failed)
			break;
		/* "\xff" repeats the file of the previous line. */
		bool repeats =
			(uint8_t)file[0] == 0xff && file[1] == '\0' && dump->map->lines.n > dump->first_line;
		line.file = repeats ? dump->map->lines.at[dump->map->lines.n - 1].file
				    : arena_text(&dump->map->names, file, strlen(file));
		vec_push(&dump->map->lines, line);
	}
	dump->n_lines = (uint32_t)dump->map->lines.n - dump->first_line;
}

static void perfmap_add_code(struct dump *dump, uint64_t start, uint64_t size, const char *name)
{
	size_t before = dump->list.n;

	perfmap_add(&dump->list, start, size, name);
	if (dump->list.n > before)
		map_put(&dump->by_start, start, (uint32_t)before);
}

static void perfmap_read_load(struct dump *dump, struct reader *r)
{
	reader_skip(r, 8 + 8); /* pid, tid, vma */
	uint64_t start = read_u64(r), size = read_u64(r);
	reader_skip(r, 8); /* number of the code */
	const char *name = read_cstr(r);
	size_t before = dump->list.n;

	if (!r->failed)
		perfmap_add_code(dump, start, size, arena_text(&dump->map->names, name, strlen(name)));
	if (dump->list.n > before && dump->lines_for == start) {
		dump->list.at[before].code.first_line = dump->first_line;
		dump->list.at[before].code.n_lines = dump->n_lines;
	}
	dump->n_lines = 0;
	dump->lines_for = UINT64_MAX;
}

/* The code that was at one address is now at another. */
static void perfmap_read_move(struct dump *dump, struct reader *r)
{
	reader_skip(r, 8 + 8);
	uint64_t from = read_u64(r), to = read_u64(r), size = read_u64(r);

	uint32_t last = r->failed ? MAP_NONE : map_find(&dump->by_start, from);
	if (last != MAP_NONE)
		perfmap_add_code(dump, to, size, dump->list.at[last].code.name);
}

static int perfmap_compare_lines(const void *left, const void *right)
{
	const struct jit_line *a = left, *b = right;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

void jitdump_parse(struct bytes bytes, struct perfmap *ret)
{
	struct dump dump = { .map = ret, .lines_for = UINT64_MAX };
	struct reader r = reader_of(bytes);

	*ret = (struct perfmap){ 0 };
	uint32_t magic = read_u32(&r);
	reader_skip(&r, 4);
	uint32_t header = read_u32(&r);
	if (magic != JITDUMP_MAGIC)
		return;
	reader_seek(&r, header);
	while (reader_left(&r) >= 16) {
		uint32_t kind = read_u32(&r), size = read_u32(&r);
		reader_skip(&r, 8); /* time */
		struct reader body = reader_of(size >= 16 ? read_bytes(&r, size - 16) : (struct bytes){ 0 });
		if (r.failed || size < 16)
			break; /* the process was still writing */
		if (kind == JIT_LOAD)
			perfmap_read_load(&dump, &body);
		else if (kind == JIT_MOVE)
			perfmap_read_move(&dump, &body);
		else if (kind == JIT_DEBUG_INFO)
			perfmap_read_debug_info(&dump, &body);
	}
	map_done(&dump.by_start);
	perfmap_make_disjoint(&dump.list, ret);
	for (size_t i = 0; i < ret->code.n; i++)
		if (ret->code.at[i].n_lines)
			qsort(ret->lines.at + ret->code.at[i].first_line, ret->code.at[i].n_lines,
			      sizeof(*ret->lines.at), perfmap_compare_lines);
}

void perfmap_done(struct perfmap *map)
{
	vec_done(&map->code);
	vec_done(&map->lines);
	arena_done(&map->names);
}

const struct jit_code *perfmap_find(const struct perfmap *map, uint64_t vaddr)
{
	size_t at = search_first(i, map->code.n, map->code.at[i].end > vaddr);

	return at < map->code.n && map->code.at[at].start <= vaddr ? &map->code.at[at] : NULL;
}

/* ---- files --------------------------------------------------------------------------------- */

/* Anybody may put files into /tmp: only the process's own user (or we, or root) may name its code. lives: its
 * pid still was its own after the file was opened. */
static bool perfmap_is_trusted(const struct jit_process *process, bool lives, const struct stat *file)
{
	char path[64];
	struct stat now;

	if (real_user_is_ours(file->st_uid) || (process->user && file->st_uid == process->user - 1))
		return true;
	snprintf(path, sizeof(path), "/proc/%d", (int)process->pid);
	return lives && stat(path, &now) == 0 && now.st_uid == file->st_uid &&
	       process_start(process->pid) == process->start;
}

/* inside: a path in the root of the process, while it lives. */
static int perfmap_read_file(const struct jit_process *process, const char *path, bool inside, uint64_t limit,
			     struct bytes *ret)
{
	CLEANUP(close_fd) int fd = file_open(path, O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	bool lives = process->start && process_start(process->pid) == process->start;
	if (!S_ISREG(st.st_mode) || (inside && !lives) || !perfmap_is_trusted(process, lives, &st))
		return -EPERM;
	if ((uint64_t)st.st_size > limit)
		return -EFBIG;
	uint8_t *bytes = alloc_zero(1, (size_t)st.st_size + 1);
	size_t len = 0;
	for (ssize_t n; len < (size_t)st.st_size; len += (size_t)n) {
		n = read(fd, bytes + len, (size_t)st.st_size - len);
		if (n <= 0)
			break;
	}
	*ret = (struct bytes){ bytes, len };
	return 0;
}

/* The pid in the process's own namespace: the last number of NSpid, which has at most 33. 0 if it has ended.
 */
static pid_t perfmap_pid_inside(const struct jit_process *process)
{
	char path[64], line[512];
	long inside = 0;

	if (!process->start)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)process->pid);
	int fd = file_open(path, 0);
	CLEANUP(fclosep) FILE *status = fd >= 0 ? fdopen(fd, "r") : NULL;
	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "NSpid:", 6) == 0) {
			const char *last = strrchr(line, '\t');
			inside = last ? strtol(last, NULL, 10) : 0;
		}
	return (pid_t)inside;
}

int perfmap_open(const struct jit_process *process, struct perfmap *ret, char **ret_path)
{
	int pid = (int)process->pid, inside = (int)perfmap_pid_inside(process);
	CLEANUP(freep) char *path = inside ? alloc_printf(ROOT_OF "/tmp/perf-%d.map", pid, inside) : NULL;
	struct bytes text = { 0 };
	int error = path ? perfmap_read_file(process, path, true, MAX_MAP, &text) : -ENOENT;

	*ret = (struct perfmap){ 0 };
	if (error < 0) {
		free(path);
		path = alloc_printf("/tmp/perf-%d.map", pid);
		error = perfmap_read_file(process, path, false, MAX_MAP, &text);
	}
	if (error < 0)
		return error;
	perfmap_parse(text, ret);
	free((void *)text.at);
	*ret_path = TAKE(path);
	return 0;
}

int jitdump_open(const struct jit_process *process, const char *path, struct perfmap *ret)
{
	CLEANUP(freep)
	char *seen = process->start ? alloc_printf(ROOT_OF "%s", (int)process->pid, path) : NULL;
	struct bytes dump = { 0 };
	int error = seen ? perfmap_read_file(process, seen, true, MAX_DUMP, &dump) : -ENOENT;

	*ret = (struct perfmap){ 0 };
	if (error < 0)
		error = perfmap_read_file(process, path, false, MAX_DUMP, &dump);
	if (error < 0)
		return error;
	jitdump_parse(dump, ret);
	free((void *)dump.at);
	return 0;
}
