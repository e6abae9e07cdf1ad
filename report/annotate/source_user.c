/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/source_user.h"

#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

/* False if the profile does not know any. Nobody can be more than all of them are. */
static bool source_user_of_processes(const struct profile *profile, struct user *ret)
{
	bool is_known = false;

	*ret = (struct user){ 0 };
	for (size_t i = 0; i < profile->processes.n; i++) {
		const struct profile_process *process = &profile->processes.at[i];
		struct user user = { process->user - 1, process->group };
		is_known |= process->user != 0;
		if (process->user <= 1)
			continue;
		bool is_other = ret->uid && (ret->uid != user.uid || ret->gid != user.gid);
		*ret = is_other ? (struct user){ NOBODY, NOBODY } : user;
		if (is_other)
			break;
	}
	return is_known;
}

bool source_user_find(const struct profile *profile, const char *path, struct user *ret)
{
	struct stat st;

	if (geteuid() != 0)
		return false;
	if (real_user_find(ret) || source_user_of_processes(profile, ret))
		return true;
	if (stat(path, &st) < 0 || st.st_uid == 0)
		return false;
	*ret = (struct user){ st.st_uid, st.st_gid };
	return true;
}
