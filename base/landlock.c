/* SPDX-License-Identifier: Apache-2.0 */
#include "base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* From linux/landlock.h, which is not installed everywhere, or is old. */
#define LANDLOCK_CREATE 444
#define LANDLOCK_ADD 445
#define LANDLOCK_RESTRICT 446
#define LANDLOCK_GET_VERSION 1
#define LANDLOCK_BENEATH 1

#define FILE_EXECUTE (1u << 0)
#define FILE_WRITE (1u << 1)
#define FILE_READ (1u << 2)
#define FOLDER_READ (1u << 3)
#define FOLDER_REMOVE_FILE (1u << 5)
#define FOLDER_MAKE_FOLDER (1u << 7)
#define FOLDER_MAKE_FILE (1u << 8)
#define FILE_TRUNCATE (1u << 14)
#define FILES_VERSION_1 0x1fffu /* all rights that the first version has */
#define CONNECTIONS 3u          /* TCP: bind and connect */
#define SCOPES 3u               /* abstract sockets of, and signals to, others */

struct landlock_rights {
	uint64_t files, connections, scopes;
};

struct landlock_beneath {
	uint64_t allowed;
	int32_t folder;
} __attribute__((packed));

/* The rights that this version of Landlock has: each version adds some. */
static struct landlock_rights landlock_known(long version, const struct landlock_files *files)
{
	struct landlock_rights known = { FILES_VERSION_1, 0, 0 };

	if (version >= 3)
		known.files |= FILE_TRUNCATE;
	if (version >= 4 && !files->executes && !files->connects)
		known.connections = CONNECTIONS;
	if (version >= 6 && !files->executes)
		known.scopes = SCOPES;
	if (files->executes)
		known.files &= ~(uint64_t)FILE_EXECUTE;
	if (!files->reads)
		known.files &= ~(uint64_t)(FILE_READ | FOLDER_READ);
	return known;
}

/* A path that does not exist gets no rule: opening it later fails with the right error. False: it exists, and
 * would be refused. */
static bool landlock_allow(int rules, const char *path, uint64_t rights, uint64_t known)
{
	CLEANUP(close_fd) int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return access(path, F_OK) < 0;
	if (!S_ISDIR(st.st_mode))
		rights &= FILE_WRITE | FILE_READ | FILE_TRUNCATE;
	struct landlock_beneath rule = { rights & known, fd };
	/* A pipe outside all folders cannot have a rule, and needs none. */
	return !rule.allowed || syscall(LANDLOCK_ADD, rules, LANDLOCK_BENEATH, &rule, 0) == 0 ||
	       errno == EBADFD;
}

bool landlock_restrict(const struct landlock_files *files)
{
	/* The size tells the version of the structure: the kernel refuses unknown members that are not 0. */
	static const size_t sizes[] = { 8, 8, 8, 8, 16, 16, 24 };
	long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_GET_VERSION);

	if (version < 1)
		return false;
	struct landlock_rights known = landlock_known(version, files);
	CLEANUP(close_fd)
	int rules = (int)syscall(LANDLOCK_CREATE, &known, sizes[version < 6 ? version : 6], 0);
	if (rules < 0)
		return false;
	bool is_made = true;
	for (size_t i = 0; files->reads && i < files->n_reads; i++)
		is_made &= landlock_allow(rules, files->reads[i], FILE_READ | FOLDER_READ, known.files);
	for (size_t i = 0; i < files->n_writes; i++)
		is_made &= landlock_allow(rules, files->writes[i],
					  FILE_WRITE | FILE_READ | FOLDER_READ | FILE_TRUNCATE |
						  FOLDER_MAKE_FILE | FOLDER_MAKE_FOLDER | FOLDER_REMOVE_FILE,
					  known.files);
	return is_made && syscall(LANDLOCK_RESTRICT, rules, 0) == 0;
}
