/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/source_user.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void source_user_add(struct source_search *search, struct user user)
{
	if (search->has_user && search->user.uid && user.uid && search->user.uid != user.uid)
		search->user = (struct user){ USER_NOBODY, USER_NOBODY };
	else if (!search->has_user || !search->user.uid)
		search->user = user;
	search->has_user = true;
}

static bool source_user_of_file(const char *path, struct user *ret)
{
	struct stat st;

	if (!path || (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st)) < 0)
		return false;
	/* Who wrote what comes through a pipe is not known. */
	*ret = S_ISREG(st.st_mode) ? (struct user){ st.st_uid, st.st_gid }
				   : (struct user){ USER_NOBODY, USER_NOBODY };
	return true;
}

void source_user_limit(struct source_search *search, const struct profile *profile, const char *path)
{
	struct user user;

	if (geteuid() != 0)
		return;
	if (real_user_find(&user)) {
		source_user_add(search, user);
		return;
	}
	bool is_known = profile_user(profile, &user);
	if (is_known)
		source_user_add(search, user);
	if (source_user_of_file(path, &user))
		source_user_add(search, user);
	else if (!is_known)
		source_user_add(search, (struct user){ USER_NOBODY, USER_NOBODY });
}
