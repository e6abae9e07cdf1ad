/* SPDX-License-Identifier: Apache-2.0 */
#include "report/merge_threads.h"

#include <errno.h>
#include <regex.h>

#include "base/cleanup.h"
#include "base/hash.h"

/* The new name of a thread; NULL = its name does not match. */
static char *merge_name(const regex_t *regex, const char *pattern, const char *comm)
{
	regmatch_t match[2];

	if (regexec(regex, comm, 2, match, 0) != 0)
		return NULL;
	if (regex->re_nsub && match[1].rm_so >= 0)
		return alloc_text_n(comm + match[1].rm_so, (size_t)(match[1].rm_eo - match[1].rm_so));
	return alloc_text(pattern);
}

/* By thread: the one it is merged into, which may be itself. */
static uint32_t *merge_choose(struct profile *profile, const regex_t *regex, const char *pattern)
{
	uint32_t *into = alloc_zero(profile->threads.n + 1, sizeof(*into));
	CLEANUP(map_done) struct map first = { 0 }; /* process << 32 | name -> thread */

	for (uint32_t i = 0; i < profile->threads.n; i++) {
		struct profile_thread *thread = &profile->threads.at[i];
		CLEANUP(freep)
		char *name = merge_name(regex, pattern, intern_text(&profile->strings, thread->comm));
		into[i] = i;
		if (!name)
			continue;
		uint32_t text = intern_add(&profile->strings, name);
		uint64_t key = (uint64_t)thread->process << 32 | text;
		uint32_t found = map_find(&first, key);
		if (found == MAP_NONE) {
			map_put(&first, key, i);
			thread->comm = text;
		} else {
			into[i] = found;
		}
	}
	return into;
}

int threads_merge(struct profile *profile, const char *pattern, struct diag *diag)
{
	char why[128];
	regex_t regex;
	int error = regcomp(&regex, pattern, REG_EXTENDED);

	if (error) {
		regerror(error, &regex, why, sizeof(why));
		diag_set(diag, -EINVAL, "'%s' is not a regular expression", pattern);
		diag_why(diag, "%s", why);
		return -EINVAL;
	}
	CLEANUP(freep) uint32_t *into = merge_choose(profile, &regex, pattern);
	regfree(&regex);
	for (size_t i = 0; i < profile->cct.values.n; i++)
		profile->cct.values.at[i].thread = into[profile->cct.values.at[i].thread];
	return 0;
}
