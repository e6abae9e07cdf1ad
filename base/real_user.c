/* SPDX-License-Identifier: Apache-2.0 */
#include "base/real_user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

static bool real_user_number(const char *name, unsigned *ret)
{
	const char *text = getenv(name);
	char *end;

	if (!text || !text[0])
		return false;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	if (errno || *end || value >= UINT_MAX)
		return false;
	*ret = (unsigned)value;
	return true;
}

bool real_user_find(struct user *ret)
{
	return geteuid() == 0 && real_user_number("SUDO_UID", &ret->uid) &&
	       real_user_number("SUDO_GID", &ret->gid);
}

static bool real_user_has_become;
static uid_t real_user_was;

bool real_user_is_ours(uid_t uid)
{
	uid_t own = real_user_has_become ? real_user_was : geteuid();
	unsigned caller;

	return uid == 0 || uid == own || (own == 0 && real_user_number("SUDO_UID", &caller) && uid == caller);
}

bool real_user_become(const struct user *user)
{
	if (!user || geteuid() != 0 || user->uid == 0)
		return true;
	real_user_was = geteuid();
	real_user_has_become = true;
	return setgroups(0, NULL) == 0 && setresgid(user->gid, user->gid, user->gid) == 0 &&
	       setresuid(user->uid, user->uid, user->uid) == 0;
}

/* The C library's setgroups would change all threads. */
static int real_user_set_groups(size_t n, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, n, groups);
}

int real_user_open_by(const struct user *user, int (*open_file)(const char *path, int flags),
		      const char *path, int flags)
{
	if (!user || geteuid() != 0 || user->uid == 0)
		return open_file(path, flags);

	int n = getgroups(0, NULL);
	CLEANUP(freep) gid_t *groups = alloc_zero((size_t)(n < 0 ? 0 : n) + 1, sizeof(*groups));
	if (n < 0 || (n > 0 && getgroups(n, groups) < 0) || real_user_set_groups(1, &user->gid) < 0)
		return -1;
	int own_gid = setfsgid(user->gid), own_uid = setfsuid(user->uid);
	/* Neither call reports failure: calling them again returns the IDs now in effect. */
	bool is_taken = (uid_t)setfsuid((uid_t)-1) == user->uid && (gid_t)setfsgid((gid_t)-1) == user->gid;
	int fd = is_taken ? open_file(path, flags) : -1, error = is_taken ? errno : EPERM;
	setfsuid((uid_t)own_uid);
	setfsgid((gid_t)own_gid);
	if (real_user_set_groups((size_t)n, groups) < 0)
		abort(); /* cannot happen: we may set groups, and these were ours */
	errno = error;
	return fd;
}

static int real_user_open_plainly(const char *path, int flags)
{
	return open(path, flags);
}

int real_user_open(const struct user *user, const char *path, int flags)
{
	return real_user_open_by(user, real_user_open_plainly, path, flags);
}

/* With another file system user, capabilities that concern files are no longer in effect, but still
 * permitted.
 */
static void real_user_keep_capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, sets) != 0)
		return;
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		sets[i].effective = sets[i].permitted;
	syscall(SYS_capset, &header, sets);
}

bool real_user_own_files(const struct user *user, struct user *ret_before)
{
	*ret_before = (struct user){ .gid = (gid_t)setfsgid(user->gid), .uid = (uid_t)setfsuid(user->uid) };
	bool is_done = (uid_t)setfsuid((uid_t)-1) == user->uid && (gid_t)setfsgid((gid_t)-1) == user->gid;
	if (!is_done) {
		setfsuid(ret_before->uid);
		setfsgid(ret_before->gid);
	}
	real_user_keep_capabilities();
	return is_done;
}
