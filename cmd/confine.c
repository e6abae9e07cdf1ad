/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/confine.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fence.h"
#include "base/fresh_file.h"
#include "base/landlock.h"
#include "base/store.h"
#include "base/vec.h"
#include "cmd/database.h"

/* A file is first written under a temporary name in its directory, so that must be writable. A device is
 * opened directly. */
static char *confine_output(const char *path)
{
	CLEANUP(freep) char *place = NULL;
	struct stat st;

	if (!path || strcmp(path, "-") == 0 || fresh_file_follow(path, &place) < 0)
		return NULL;
	if (fresh_file_is_descriptor(place) || (stat(place, &st) == 0 && S_ISCHR(st.st_mode)))
		return alloc_text(place);
	char *end = strrchr(place, '/');
	return !end ? alloc_text(".") : alloc_text_n(place, end > place ? (size_t)(end - place) : 1);
}

/* For dates; and the process's own state, which the leak checker of a sanitizer build reads. */
static const char *const always_read[] = { "/etc/localtime", "/usr/share/zoneinfo", "/proc/self" };

static void confine_files(const struct confine_options *options)
{
	CLEANUP(freep) char *folder = confine_output(options->output);
	const char *writes[2];
	size_t n_writes = 0;
	VEC(char *) reads = { 0 };

	for (size_t i = 0; i < options->n_inputs; i++)
		vec_push(&reads, database_place(options->inputs[i]));
	for (size_t i = 0; i < sizeof(always_read) / sizeof(always_read[0]); i++)
		vec_push(&reads, alloc_text(always_read[i]));
	if (folder)
		writes[n_writes++] = folder;
	if (options->store)
		writes[n_writes++] = options->store;
	landlock_restrict(
		&(struct landlock_files){ .reads = options->reads_all ? NULL : (const char *const *)reads.at,
					  .n_reads = reads.n,
					  .writes = writes,
					  .n_writes = n_writes });
	for (size_t i = 0; i < reads.n; i++)
		free(reads.at[i]);
	vec_done(&reads);
}

#define CAPABILITY(number) (UINT64_C(1) << (number))

/* What root still needs: to read files of others, as their users, and to write in their folders. A child as
 * another user is also killed; and the addresses of the kernel's functions can be read. */
static uint64_t confine_capabilities(const struct confine_options *options)
{
	uint64_t kept = CAPABILITY(CAP_DAC_READ_SEARCH);

	if (options->output || options->store)
		kept |= CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_FOWNER);
	if (options->output || options->reads_all || options->has_children)
		kept |= CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID);
	if (options->has_children)
		kept |= CAPABILITY(CAP_KILL) | CAPABILITY(CAP_SYSLOG);
	return kept;
}

static void confine_drop_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, sets) != 0)
		return;
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		sets[i].permitted &= (uint32_t)(kept >> (32 * i));
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, sets);
}

void confine(const struct confine_options *options)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return;
	if (!options->runs_programs) /* which need files of their own */
		confine_files(options);
	confine_drop_capabilities(confine_capabilities(options));
	fence_refuse(&(struct fence_needs){ .children = options->has_children,
					    .programs = options->runs_programs });
}

void confine_to_code(struct store *store, const char *output)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	CLEANUP(freep) char *folder = store ? alloc_printf("/proc/self/fd/%d", store_directory(store)) : NULL;

	confine(&(struct confine_options){ .reads_all = true,
					   .output = output,
					   .store = folder,
					   .has_children = true,
					   .runs_programs = urls && *urls });
}
