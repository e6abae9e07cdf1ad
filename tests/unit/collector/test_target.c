/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/own_maps.h"
#include "tests/test.h"

#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/process/target.h"

static bool parse(const char *line, struct target_map *ret)
{
	return target_parse_map(line, strlen(line), ret);
}

TEST(target_reads_a_file_mapping)
{
	struct target_map map;

	CHECK(parse("ffff9c000000-ffff9c1a0000 r-xp 00001000 fd:01 1234567                    /usr/lib/lib "
		    "c.so.6",
		    &map));
	CHECK_EQ(map.start, 0xffff9c000000);
	CHECK_EQ(map.end, 0xffff9c1a0000);
	CHECK_EQ(map.offset, 0x1000);
	CHECK_EQ(map.major, 0xfd);
	CHECK_EQ(map.minor, 1);
	CHECK_EQ(map.inode, 1234567);
	CHECK(map.is_readable && !map.is_writable && map.is_executable && !map.is_deleted);
	CHECK_STR(map.path, "/usr/lib/lib c.so.6");
}

TEST(target_reads_anonymous_special_and_deleted_mappings)
{
	struct target_map map;

	CHECK(parse("1000-2000 rw-p 00000000 00:00 0", &map));
	CHECK_EQ(map.path_len, 0);
	CHECK(parse("1000-2000 rw-p 00000000 00:00 0 ", &map));
	CHECK_EQ(map.path_len, 0);
	CHECK(parse("1000-2000 r-xp 00000000 00:00 0                          [vdso]", &map));
	CHECK_STR(map.path, "[vdso]");
	CHECK(parse("1000-2000 r-xp 00000000 00:01 99      /tmp/x (deleted)", &map));
	CHECK(map.is_deleted);
	CHECK_EQ(map.path_len, 6);
}

TEST(target_refuses_lines_that_are_not_mappings)
{
	struct target_map map;

	CHECK(!parse("", &map));
	CHECK(!parse("1000", &map));
	CHECK(!parse("1000-2000", &map));
	CHECK(!parse("1000-2000 r-xp", &map));
	CHECK(!parse("1000-2000 r-xp 0 00:00", &map));
	CHECK(!parse("1000-2000 r-xp 0 00:00 x", &map));
	CHECK(!parse("2000-1000 r-xp 00000000 00:00 0", &map));
	CHECK(!parse("x-2000 r-xp 00000000 00:00 0", &map));
	CHECK(!parse("11111111111111111111111-2000 r-xp 00000000 00:00 0", &map));
}

static void count_code(void *context, const struct target_map *map)
{
	*(int *)context += map->is_executable;
}

TEST(target_sees_its_own_process)
{
	struct pid_list threads = { 0 };
	int n_code = 0;
	pid_t pid;
	char secret[] = "secret", copy[sizeof(secret)];

	if (!own_code_is_mapped())
		SKIP(NO_OWN_CODE);
	CHECK_EQ(target_threads(getpid(), &threads), 0);
	CHECK(threads.pids.n >= 1);
	vec_done(&threads.pids);
	CHECK_EQ(target_process_of(gettid(), &pid), 0);
	CHECK_EQ(pid, getpid());
	CHECK_EQ(target_parent(getpid()), getppid());
	CHECK_EQ(target_state(getpid()), 'R');
	CHECK_EQ(target_maps(getpid(), count_code, &n_code), 0);
	CHECK(n_code > 2);
	CHECK_EQ(target_read_memory(getpid(), (uint64_t)(uintptr_t)secret, copy, sizeof(copy)), sizeof(copy));
	CHECK_STR(copy, secret);

	char *line = target_command_line(getpid());
	CHECK(strstr(line, "test_collector") != NULL);
	free(line);
}

/* From here on, the kernel of this process has no process_vm_readv. */
static bool lose_process_vm_readv(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(memory_is_read_without_process_vm_readv)
{
	char secret[] = "secret", copy[sizeof(secret)] = "";
	uint64_t addr = (uint64_t)(uintptr_t)secret;
	int status;

	pid_t child = fork();
	if (child == 0) {
		if (!lose_process_vm_readv())
			_exit(77);
		bool is_read = target_read_memory(getpid(), addr, copy, sizeof(copy)) == sizeof(copy) &&
			       strcmp(copy, secret) == 0;
		bool is_refused = target_read_memory(getpid(), 8, copy, sizeof(copy)) < 0;
		_exit(is_read && is_refused ? 0 : 1);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		SKIP("no seccomp filters here");
	CHECK_EQ(WEXITSTATUS(status), 0);
}

struct wanted_map {
	uint64_t addr;
	struct target_range range;
};

static void find_map(void *context, const struct target_map *map)
{
	struct wanted_map *wanted = context;

	if (wanted->addr >= map->start && wanted->addr < map->end)
		wanted->range = (struct target_range){ map->start, map->end };
}

TEST(target_user_and_mapping_agree_with_proc)
{
	struct wanted_map stack = { .addr = (uint64_t)(uintptr_t)&stack };
	struct user user = { 1, 1 };

	CHECK(target_user(getpid(), &user));
	CHECK_EQ(user.uid, getuid());
	CHECK_EQ(user.gid, getgid());
	CHECK_EQ(target_maps(getpid(), find_map, &stack), 0);
	struct target_range range = target_map_at(getpid(), stack.addr);
	CHECK(range.end > stack.addr);
	CHECK_EQ(range.start, stack.range.start);
	CHECK_EQ(range.end, stack.range.end);
	CHECK_EQ(target_map_at(getpid(), 0x10).end, 0);
}

TEST(target_reports_a_missing_process)
{
	struct pid_list list = { 0 };
	int n = 0;
	pid_t pid;

	CHECK_EQ(target_threads(-2, &list), -ESRCH);
	CHECK_EQ(target_maps(-2, count_code, &n), -ESRCH);
	CHECK_EQ(target_process_of(-2, &pid), -ESRCH);
	CHECK_EQ(target_parent(-2), 0);
	CHECK_EQ(target_state(-2), 0);
	CHECK(!target_user(-2, &(struct user){ 0 }));
	CHECK_EQ(target_map_at(-2, 0x1000).end, 0);
	CHECK_EQ(target_find("no process has this name", &list), 0);
	CHECK_EQ(list.pids.n, 0);
	vec_done(&list.pids);
}

TEST(target_accepts_64_bit_programs_of_known_machines_only)
{
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			    .e_machine = EM_X86_64 };
	struct bytes bytes = { (const uint8_t *)&head, sizeof(head) };

	CHECK_EQ(target_check_elf(bytes), 0);
	head.e_machine = EM_AARCH64;
	CHECK_EQ(target_check_elf(bytes), 0);
	head.e_machine = EM_PPC64;
	CHECK_EQ(target_check_elf(bytes), -ENOTSUP);
	head.e_machine = EM_386;
	head.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK_EQ(target_check_elf(bytes), -ENOTSUP);
	CHECK_EQ(target_check_elf((struct bytes){ (const uint8_t *)"#!/bin/sh\n", 10 }), -ENOEXEC);
	CHECK_EQ(target_check_elf((struct bytes){ (const uint8_t *)&head, 10 }), -ENOEXEC);
}
