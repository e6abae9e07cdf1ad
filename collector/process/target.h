/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target: information from /proc about a live process: its threads, names and mappings, and its memory.
 *
 * A process may end, exec or change between any two of these calls: each result is valid only for its moment,
 * and each call fails with -ESRCH or -ENOENT if the process has ended.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/real_user.h"
#include "base/vec.h"

struct pid_list {
	VEC(pid_t) pids;
};

/* All processes. */
int target_all(struct pid_list *ret);
/* Thread ids of a process. -ESRCH if it has ended. */
int target_threads(pid_t pid, struct pid_list *ret);
/* Processes whose comm, or the base name of whose executable or script, is exactly `name`; excluding cpprof
 * itself. */
int target_find(const char *name, struct pid_list *ret);
/* The current descendants of these processes; excluding cpprof itself and its own. */
int target_descendants(const pid_t *pids, size_t n, struct pid_list *ret);
/* The process that a thread belongs to; -ESRCH if it has ended. */
int target_process_of(pid_t tid, pid_t *ret);
pid_t target_parent(pid_t pid); /* 0 if it has ended */
/* Is it process 1 of the machine itself? Process 1 of a container is an ordinary program. */
bool target_is_machine_init(pid_t pid);
/* Do processes and users have the same numbers here as on the machine itself? */
bool target_is_in_first_namespaces(void);
/* CPU time of a process, or of one thread (tid 0 = the process), in ns; 0 if it has ended. */
uint64_t target_cpu_ns(pid_t pid, pid_t tid);
char target_state(pid_t pid); /* as in /proc/PID/status: 'Z' is a zombie, 'T' is stopped; 0 if it has ended */

/* Both allocated; "" if it cannot be read. */
char *target_comm(pid_t pid, pid_t tid);
/* argv joined by spaces, control characters replaced. Its length is the process's choice: only the start. */
#define TARGET_COMMAND_MAX (32u << 10)
char *target_command_line(pid_t pid);
/* Is it in that cgroup, or in one below it, in any hierarchy? path as in /proc/PID/cgroup: "/system.slice".
 */
bool target_is_in_cgroup(pid_t pid, const char *path);
/* The same for the contents of that file; no side effects. */
bool target_cgroups_have(const char *cgroups, const char *path);
/* The user who started it. False if it has ended. */
bool target_user(pid_t pid, struct user *ret);

/* -ENOTSUP with a diag if the process runs a program we cannot profile (32 bits, another machine). */
int target_check_machine(pid_t pid, struct diag *diag);
/* The same for the file that a command would execute, searched in PATH; a file that is not an ELF file
 * passes. */
int target_check_file(const char *command, struct diag *diag);
/* The file that a command would execute, searched in PATH; false if there is none. */
bool target_find_command(const char *command, char ret[PATH_MAX]);
/*
 * Does the file of a command give it other privileges (setuid, setgid, capabilities), or is it not readable?
 * The kernel stops profiling at the exec of such a program, unless we already have those privileges.
 */
bool target_changes_rights(const char *command);
/* Checks the first bytes of a program: 0, -ENOTSUP, or -ENOEXEC if it is not an ELF file. */
int target_check_elf(struct bytes head);

/* One line of /proc/PID/maps. */
struct target_map {
	uint64_t start, end, offset;
	bool is_readable, is_writable, is_executable;
	uint32_t major, minor;
	uint64_t inode;
	const char *path; /* in the line, up to its end; "" = anonymous; without " (deleted)" */
	size_t path_len;
	bool is_deleted;
};
/* False if the line (without its newline) is not valid. No side effects. */
bool target_parse_map(const char *line, size_t len, struct target_map *ret);
/* Calls visit for each mapping in address order. */
int target_maps(pid_t pid, void (*visit)(void *context, const struct target_map *map), void *context);

struct target_range {
	uint64_t start, end;
};
/* The mapping that contains addr; end 0 if there is none, or if the process has ended. */
struct target_range target_map_at(pid_t pid, uint64_t addr);

/* Bytes read, fewer at the end of a mapping, or -errno. */
ssize_t target_read_memory(pid_t pid, uint64_t addr, void *to, size_t len);

/* A whole file of /proc; NULL if it cannot be read. Zero-terminated; ret_len may be NULL. */
char *target_read_file(const char *path, size_t *ret_len);
