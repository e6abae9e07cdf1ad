/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target: reading /proc.
 */
#include "collector/process/target.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/text.h"

#define FILE_LIMIT (256u << 20) /* of /proc/PID/maps: enough for millions of mappings */

static void target_closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

char *target_read_file(const char *path, size_t *ret_len)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0, cap = 4096;
	char *text = alloc_zero(1, cap);

	ssize_t n = fd < 0 ? -1 : 1;

	for (; n > 0 && len < FILE_LIMIT; len += (size_t)(n > 0 ? n : 0)) {
		if (cap - len < 2048)
			text = alloc_resize(text, cap *= 2, 1);
		n = read(fd, text + len, cap - len - 1);
	}
	if (n < 0) {
		free(text); /* leaves errno alone */
		return NULL;
	}
	text[len] = 0;
	if (ret_len)
		*ret_len = len;
	return text;
}

/* ---- processes and threads ------------------------------------------------------------------ */

static int target_list_numbers(const char *path, struct pid_list *ret)
{
	CLEANUP(target_closedirp) DIR *dir = opendir(path);
	struct dirent *entry;

	vec_clear(&ret->pids);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			vec_push(&ret->pids, (pid_t)strtol(entry->d_name, NULL, 10));
	return 0;
}

int target_all(struct pid_list *ret)
{
	return target_list_numbers("/proc", ret);
}

int target_threads(pid_t pid, struct pid_list *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	int error = target_list_numbers(path, ret);
	return error ? error : ret->pids.n ? 0 : -ESRCH;
}

/* The value of a key in /proc/PID/status; "" if it is missing. */
static void target_read_status(pid_t pid, const char *key, char ret[32])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	CLEANUP(freep) char *status = target_read_file(path, NULL);
	const char *at = status ? strstr(status, key) : NULL;
	at = at ? at + strlen(key) : "";
	at += strspn(at, "\t ");
	snprintf(ret, 32, "%.*s", (int)strcspn(at, "\n"), at);
}

static pid_t target_status_number(pid_t pid, const char *key)
{
	char text[32];

	target_read_status(pid, key, text);
	return (pid_t)strtol(text, NULL, 10);
}

int target_process_of(pid_t tid, pid_t *ret)
{
	pid_t pid = target_status_number(tid, "\nTgid:");

	if (pid <= 0)
		return -ESRCH;
	*ret = pid;
	return 0;
}

pid_t target_parent(pid_t pid)
{
	return target_status_number(pid, "\nPPid:");
}

/* The inode numbers of the initial namespaces are constants of the kernel. */
#define FIRST_PID_NAMESPACE 0xeffffffcu
#define FIRST_USER_NAMESPACE 0xeffffffdu

static bool target_is_ours(const char *namespace, ino_t inode)
{
	struct stat st;

	return stat(namespace, &st) == 0 && st.st_ino == inode;
}

bool target_is_machine_init(pid_t pid)
{
	return pid == 1 && target_is_ours("/proc/self/ns/pid", FIRST_PID_NAMESPACE);
}

bool target_is_in_first_namespaces(void)
{
	return target_is_ours("/proc/self/ns/pid", FIRST_PID_NAMESPACE) &&
	       target_is_ours("/proc/self/ns/user", FIRST_USER_NAMESPACE);
}

char target_state(pid_t pid)
{
	char text[32];

	target_read_status(pid, "\nState:", text);
	return text[0];
}

/* Adds processes whose parent is in the set, until there are no more. */
int target_descendants(const pid_t *pids, size_t n, struct pid_list *ret)
{
	struct pid_list all = { 0 };
	struct map family = { 0 };
	int error = target_list_numbers("/proc", &all);
	CLEANUP(freep) pid_t *parents = alloc_zero(all.pids.n + 1, sizeof(*parents));
	bool has_grown = true;

	vec_clear(&ret->pids);
	for (size_t i = 0; i < all.pids.n; i++)
		parents[i] = all.pids.at[i] == getpid() ? 0 : target_parent(all.pids.at[i]);
	for (size_t i = 0; i < n; i++)
		map_put(&family, (uint32_t)pids[i], 1);
	while (has_grown) {
		has_grown = false;
		for (size_t i = 0; i < all.pids.n; i++) {
			if (!parents[i] || map_find(&family, (uint32_t)parents[i]) == MAP_NONE ||
			    map_find(&family, (uint32_t)all.pids.at[i]) != MAP_NONE)
				continue;
			map_put(&family, (uint32_t)all.pids.at[i], 1);
			vec_push(&ret->pids, all.pids.at[i]);
			has_grown = true;
		}
	}
	map_done(&family);
	vec_done(&all.pids);
	return error;
}

uint64_t target_cpu_ns(pid_t pid, pid_t tid)
{
	char path[64];
	unsigned long long user, system;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	CLEANUP(freep) char *stat = target_read_file(path, NULL);
	const char *at = stat ? strrchr(stat, ')') : NULL; /* the name before it may contain anything */
	if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
		return 0;
	return (user + system) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* ---- names ---------------------------------------------------------------------------------- */

char *target_comm(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	char *comm = target_read_file(path, NULL);
	if (!comm)
		return alloc_text("");
	comm[strcspn(comm, "\n")] = 0;
	return comm;
}

char *target_command_line(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = alloc_zero(1, TARGET_COMMAND_MAX + 1);
	ssize_t n = fd < 0 ? 0 : read(fd, text, TARGET_COMMAND_MAX);
	size_t len = n > 0 ? (size_t)n : 0;

	while (len && !text[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			text[i] = ' ';
	return alloc_resize(text, len + 1, 1);
}

/* Lines of "number:controllers:path". */
bool target_cgroups_have(const char *cgroups, const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (const char *line = cgroups; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t n = strcspn(line, "\n");
		const char *at = memchr(line, ':', n);
		at = at ? memchr(at + 1, ':', n - (size_t)(at + 1 - line)) : NULL;
		size_t left = at ? n - (size_t)(++at - line) : 0;
		if (at && left >= len && memcmp(at, path, len) == 0 &&
		    (left == len || at[len] == '/' || len == 1))
			return true;
	}
	return false;
}

bool target_is_in_cgroup(pid_t pid, const char *path)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	CLEANUP(freep) char *cgroups = target_read_file(name, NULL);
	return cgroups && target_cgroups_have(cgroups, path);
}

static const char *target_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool target_is_named(pid_t pid, const char *name)
{
	char path[64], link[4096];

	CLEANUP(freep) char *comm = target_comm(pid, pid);
	if (strcmp(comm, name) == 0)
		return true;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	if (n > 0) {
		link[n] = 0;
		return strcmp(target_base_name(link), name) == 0;
	}
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid); /* of another user: we see only argv[0] */
	CLEANUP(freep) char *argv0 = target_read_file(path, NULL);
	return argv0 && argv0[0] && strcmp(target_base_name(argv0), name) == 0;
}

int target_find(const char *name, struct pid_list *ret)
{
	struct pid_list all = { 0 };
	int error = target_list_numbers("/proc", &all);

	vec_clear(&ret->pids);
	for (size_t i = 0; i < all.pids.n; i++)
		if (all.pids.at[i] != getpid() && target_is_named(all.pids.at[i], name))
			vec_push(&ret->pids, all.pids.at[i]);
	vec_done(&all.pids);
	return error;
}

/* ---- machines ------------------------------------------------------------------------------- */

int target_check_elf(struct bytes head)
{
	struct reader r = reader_of(head);
	struct bytes magic = read_bytes(&r, SELFMAG);

	if (r.failed || memcmp(magic.at, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;

	uint8_t class = read_u8(&r), order = read_u8(&r);
	reader_seek(&r, offsetof(Elf64_Ehdr, e_machine));
	uint16_t machine = read_u16(&r);
	if (r.failed)
		return -ENOEXEC;
	bool is_known = machine == EM_X86_64 || machine == EM_AARCH64;
	return class == ELFCLASS64 && order == ELFDATA2LSB && is_known ? 0 : -ENOTSUP;
}

static int target_check_path(const char *path)
{
	uint8_t head[sizeof(Elf64_Ehdr)];
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	return n < 0 ? -errno : target_check_elf((struct bytes){ head, (size_t)n });
}

int target_check_machine(pid_t pid, struct diag *diag)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (target_check_path(path) != -ENOTSUP)
		return 0; /* if we may not look at it, attaching decides */
	diag_set(diag, -ENOTSUP, "cannot profile process %d", pid);
	diag_why(diag, "it does not run a 64-bit x86-64 or AArch64 program");
	return -ENOTSUP;
}

/* As execvp does; false if there is none. */
bool target_find_command(const char *command, char ret[PATH_MAX])
{
	const char *dirs = getenv("PATH");

	snprintf(ret, PATH_MAX, "%s", command);
	if (strchr(command, '/'))
		return true;
	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");
		snprintf(ret, PATH_MAX, "%.*s/%s", len ? (int)len : 1, len ? dirs : ".", command);
		if (access(ret, X_OK) == 0)
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

int target_check_file(const char *command, struct diag *diag)
{
	char path[PATH_MAX];

	if (!target_find_command(command, path) || target_check_path(path) != -ENOTSUP)
		return 0; /* execvp will report that there is none */
	diag_set(diag, -ENOTSUP, "cannot profile '%s'", command);
	diag_why(diag, "'%s' is not a 64-bit x86-64 or AArch64 program", path);
	return -ENOTSUP;
}

static bool target_gives_rights(const char *path)
{
	struct stat st;
	struct statvfs mount;

	if (stat(path, &st) < 0 || statvfs(path, &mount) < 0 || mount.f_flag & ST_NOSUID ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	       (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
	       (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

bool target_changes_rights(const char *command)
{
	char path[PATH_MAX];

	return target_find_command(command, path) && access(path, X_OK) == 0 &&
	       (access(path, R_OK) < 0 || target_gives_rights(path));
}
