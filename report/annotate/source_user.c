/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/source_user.h"

#include <sys/stat.h>
#include <unistd.h>

bool source_user_find(const struct profile *profile, const char *path, struct user *ret)
{
	struct stat st;

	if (geteuid() != 0)
		return false;
	if (real_user_find(ret) || profile_user(profile, ret))
		return true;
	if (stat(path, &st) < 0 || st.st_uid == 0)
		return false;
	*ret = (struct user){ st.st_uid, st.st_gid };
	return true;
}
