/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/elf/perfmap.h"

#include <errno.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process_start.h"
#include "base/writer.h"
#include "tests/test.h"

static struct bytes text_bytes(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

static struct jit_process own_process(void)
{
	return (struct jit_process){ .pid = getpid(), .start = process_start(getpid()) };
}

static const char *name_at(const struct perfmap *map, uint64_t vaddr)
{
	const struct jit_code *code = perfmap_find(map, vaddr);

	return code ? code->name : "";
}

TEST(perfmap_reads_names_with_spaces_and_numbers_with_0x)
{
	struct perfmap map;

	perfmap_parse(text_bytes("7f0010 20 LazyCompile:~f a.js:3\n0x7f0040 0x10 Stub\r\n"), &map);
	CHECK_STR(name_at(&map, 0x7f0010), "LazyCompile:~f a.js:3");
	CHECK_STR(name_at(&map, 0x7f002f), "LazyCompile:~f a.js:3");
	CHECK_STR(name_at(&map, 0x7f0030), "");
	CHECK_STR(name_at(&map, 0x7f004f), "Stub");
	perfmap_done(&map);
}

TEST(perfmap_ignores_invalid_lines)
{
	struct perfmap map;

	perfmap_parse(text_bytes("\n\nhello\n10\n10 20\n10 20 \n10 0 empty\nffffffffffffffff 2 wraps\n"
				 "11111111111111111 2 long\nzz 10 f\n30 8 g"),
		      &map);
	CHECK_EQ(map.code.n, 1);
	CHECK_STR(name_at(&map, 0x30), "g");
	perfmap_done(&map);
}

TEST(perfmap_uses_the_later_of_two_entries)
{
	struct perfmap map;

	perfmap_parse(text_bytes("100 40 old\n120 40 new\n200 10 first\n200 10 second\n2f0 20 late\n300 80 "
				 "early\n2f0 20 later\n"),
		      &map);
	CHECK_STR(name_at(&map, 0x11f), "old");
	CHECK_STR(name_at(&map, 0x120), "new");
	CHECK_STR(name_at(&map, 0x15f), "new");
	CHECK_STR(name_at(&map, 0x205), "second");
	CHECK_STR(name_at(&map, 0x300), "later");
	CHECK_STR(name_at(&map, 0x310), "early");
	for (size_t i = 1; i < map.code.n; i++)
		CHECK(map.code.at[i - 1].end <= map.code.at[i].start);
	perfmap_done(&map);
}

/* ---- jitdump ---- */

static void dump_header(struct writer *w)
{
	write_u32(w, 0x4a695444);
	write_u32(w, 1);
	write_u32(w, 40);
	for (int i = 0; i < 7; i++)
		write_u32(w, 0);
}

static void dump_record(struct writer *w, uint32_t kind, const struct writer *body)
{
	write_u32(w, kind);
	write_u32(w, (uint32_t)body->len + 16);
	write_u64(w, 0);
	write_bytes(w, writer_bytes(body));
}

static void write_text(struct writer *w, const char *text)
{
	write_bytes(w, (struct bytes){ (const uint8_t *)text, strlen(text) + 1 });
}

static void dump_load(struct writer *w, uint64_t vaddr, uint64_t size, const char *name)
{
	struct writer body = { 0 };

	write_u64(&body, 0);
	write_u64(&body, vaddr);
	write_u64(&body, vaddr);
	write_u64(&body, size);
	write_u64(&body, 0);
	write_text(&body, name);
	dump_record(w, 0, &body);
	writer_done(&body);
}

TEST(jitdump_gives_names_and_lines)
{
	struct writer w = { 0 }, lines = { 0 };
	struct perfmap map;

	dump_header(&w);
	write_u64(&lines, 0x1000);
	write_u64(&lines, 3);
	write_u64(&lines, 0x1008);
	write_u32(&lines, 12);
	write_u32(&lines, 0);
	write_text(&lines, "a.js");
	write_u64(&lines, 0x1010);
	write_u32(&lines, 13);
	write_u32(&lines, 0);
	write_text(&lines, "\xff");
	write_u64(&lines, 0x1000);
	write_u32(&lines, 11);
	write_u32(&lines, 0);
	write_text(&lines, "b.js");
	dump_record(&w, 2, &lines);
	dump_load(&w, 0x1000, 0x20, "f");
	dump_load(&w, 0x2000, 0x20, "g");
	jitdump_parse(writer_bytes(&w), &map);
	CHECK_STR(name_at(&map, 0x1010), "f");
	CHECK_STR(name_at(&map, 0x2010), "g");
	const struct jit_code *f = perfmap_find(&map, 0x1000);
	CHECK_EQ(f->n_lines, 3);
	CHECK_EQ(map.lines.at[f->first_line].line, 11);
	CHECK_STR(map.lines.at[f->first_line].file, "b.js");
	CHECK_STR(map.lines.at[f->first_line + 2].file, "a.js");
	CHECK_EQ(perfmap_find(&map, 0x2000)->n_lines, 0);
	perfmap_done(&map);
	writer_done(&lines);
	writer_done(&w);
}

TEST(jitdump_follows_code_that_moves)
{
	struct writer w = { 0 }, move = { 0 };
	struct perfmap map;

	dump_header(&w);
	dump_load(&w, 0x1000, 0x20, "f");
	write_u64(&move, 0);
	write_u64(&move, 0);
	write_u64(&move, 0x1000);
	write_u64(&move, 0x5000);
	write_u64(&move, 0x20);
	dump_record(&w, 1, &move);
	jitdump_parse(writer_bytes(&w), &map);
	CHECK_STR(name_at(&map, 0x5010), "f");
	perfmap_done(&map);
	writer_done(&move);
	writer_done(&w);
}

/* All lookups are for the oldest code, so that searching from the newest would take minutes. */
TEST(jitdump_follows_many_moves)
{
	const uint64_t n = 400000, old = 0x100000, new = 0x40000000;
	struct writer w = { 0 };
	struct perfmap map;

	dump_header(&w);
	for (uint64_t i = 0; i < n; i++)
		dump_load(&w, old + i * 16, 16, i == 7 ? "seventh" : "f");
	for (uint64_t i = 0; i < n; i++) {
		struct writer move = { 0 };
		write_u64(&move, 0);
		write_u64(&move, 0);
		write_u64(&move, old + i * 16);
		write_u64(&move, new + i * 16);
		write_u64(&move, 16);
		dump_record(&w, 1, &move);
		writer_done(&move);
	}
	jitdump_parse(writer_bytes(&w), &map);
	CHECK_STR(name_at(&map, new + 7 * 16), "seventh");
	CHECK_STR(name_at(&map, new + (n - 1) * 16), "f");
	perfmap_done(&map);
	writer_done(&w);
}

TEST(perfmap_that_is_too_large_is_refused)
{
	struct jit_process process = own_process();
	struct perfmap map;
	char path[64];
	char *found = NULL;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, 1000 << 20), 0);
	close(fd);
	int error = perfmap_open(&process, &map, &found);
	unlink(path);
	CHECK_EQ(error, -EFBIG);
}

TEST(jitdump_truncated_in_a_record_keeps_the_previous_ones)
{
	struct writer w = { 0 };
	struct perfmap map;

	dump_header(&w);
	dump_load(&w, 0x1000, 0x20, "f");
	dump_load(&w, 0x2000, 0x20, "g");
	jitdump_parse((struct bytes){ w.at, w.len - 3 }, &map);
	CHECK_STR(name_at(&map, 0x1010), "f");
	CHECK_EQ(map.code.n, 1);
	perfmap_done(&map);
	writer_done(&w);
}

/* ---- files ---- */

TEST(perfmap_of_this_process_is_found_in_tmp)
{
	struct jit_process process = own_process();
	struct perfmap map;
	char path[64], *found = NULL;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		SKIP("there is a perf map of this number already");
	CHECK_EQ(write(fd, "10 10 f\n", 8), 8);
	close(fd);
	int error = perfmap_open(&process, &map, &found);
	unlink(path);
	CHECK_EQ(error, 0);
	CHECK_STR(name_at(&map, 0x18), "f");
	CHECK(strstr(found, path));
	free(found);
	perfmap_done(&map);
}

TEST(perfmap_behind_a_link_or_of_another_user_is_refused)
{
	struct jit_process process = own_process();
	struct perfmap map;
	char path[64], *found = NULL;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (symlink("/etc/passwd", path) < 0)
		SKIP("there is a perf map of this number already");
	int error = perfmap_open(&process, &map, &found);
	unlink(path);
	CHECK(error < 0);
	if (geteuid() != 0)
		SKIP("only root can give a file away");
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	CHECK(fd >= 0);
	CHECK_EQ(fchown(fd, 12345, 12345), 0);
	close(fd);
	error = perfmap_open(&process, &map, &found);
	process.user = 1 + 12345;
	int error_known = perfmap_open(&process, &map, &found);
	unlink(path);
	CHECK_EQ(error, -EPERM);
	CHECK_EQ(error_known, 0);
	free(found);
	perfmap_done(&map);
}

/* Another process has its pid now: neither what that one sees nor what its user wrote is taken. */
TEST(perfmap_of_a_later_process_with_the_same_pid_is_refused)
{
	struct perfmap map;
	char path[64], *found = NULL;

	if (geteuid() != 0)
		SKIP("only root can become another user");
	pid_t pid = fork();
	if (pid == 0) {
		CHECK_EQ(setuid(12345), 0);
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	struct stat st;
	for (int i = 0; i < 10000 && stat(path, &st) == 0 && st.st_uid != 12345; i++)
		usleep(1000);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, "10 10 f\n", 8), 8);
	CHECK_EQ(fchown(fd, 12345, 12345), 0);
	close(fd);
	struct jit_process process = { .pid = pid, .user = 1 + 1, .start = process_start(pid) };
	int error_living = perfmap_open(&process, &map, &found);
	free(found);
	if (!error_living)
		perfmap_done(&map);
	process.start++; /* it has the pid of the one that is meant */
	int error_gone = perfmap_open(&process, &map, &found);
	process.start = 0;
	int error_ended = perfmap_open(&process, &map, &found);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
	CHECK_EQ(error_living, 0);
	CHECK_EQ(error_gone, -EPERM);
	CHECK_EQ(error_ended, -EPERM);
}
