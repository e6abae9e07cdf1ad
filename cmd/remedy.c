/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/remedy.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "report/label.h"
#include "report/number.h"
#include "structure/fuse.h"

#define MIN_PERCENT 5                            /* of the total: less is not worth a sentence */
#define SERVER "https://debuginfod.elfutils.org" /* it forwards to the servers of the distributions */

/* ---- code without names -------------------------------------------------------------------------- */

static bool remedy_is_nameless(const struct scope_tree *tree, uint32_t scope)
{
	while (scope && (scope_kind(tree, scope) == SCOPE_LOOP || scope_kind(tree, scope) == SCOPE_LINE))
		scope = tree->scopes.at[scope].parent;
	return scope && (scope_kind(tree, scope) == SCOPE_UNKNOWN ||
			 (scope_frame(tree, scope)->flags & SCOPE_RECOVERED_NAME));
}

/* By image, the cost of its code without names. */
static uint64_t *remedy_sum(const struct profile *profile, const struct scope_tree *tree,
			    const struct costs *costs, uint32_t metric)
{
	uint64_t *sums = alloc_zero(profile->images.n + 1, sizeof(*sums));

	for (uint32_t scope = 1; scope < tree->scopes.n; scope++) {
		image_id image = scope_frame(tree, scope)->image;
		if (image < profile->images.n && costs_self(costs, scope, metric) &&
		    remedy_is_nameless(tree, scope))
			sums[image] += costs_self(costs, scope, metric);
	}
	return sums;
}

/* ---- the package of a file ----------------------------------------------------------------------- */

/* Does the list contain the file? Lists from before the merge of / and /usr have it without /usr. */
static bool remedy_lists(const char *list, const char *path)
{
	const char *short_path = strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
	FILE *from = fopen(list, "re");
	CLEANUP(freep) char *line = NULL;
	bool is_found = false;
	size_t size = 0;

	while (from && !is_found && getline(&line, &size, from) > 0) {
		line[strcspn(line, "\n")] = '\0';
		is_found = strcmp(line, path) == 0 || strcmp(line, short_path) == 0;
	}
	if (from)
		fclose(from);
	return is_found;
}

/* The Debian package that a file belongs to; NULL if it is not known. */
static char *remedy_package(const char *path)
{
	DIR *folder = access(path, F_OK) == 0 ? opendir(REMEDY_PACKAGES) : NULL;
	char *package = NULL;
	struct dirent *entry;

	while (folder && !package && (entry = readdir(folder))) {
		size_t len = strlen(entry->d_name);
		if (len < 6 || strcmp(entry->d_name + len - 5, ".list") != 0)
			continue;
		CLEANUP(freep) char *list = alloc_printf("%s/%s", REMEDY_PACKAGES, entry->d_name);
		if (remedy_lists(list, path))
			package = alloc_text_n(entry->d_name, strcspn(entry->d_name, ":") < len
								      ? strcspn(entry->d_name, ":")
								      : len - 5);
	}
	if (folder)
		closedir(folder);
	return package;
}

/* ---- what to do -------------------------------------------------------------------------------- */

static void remedy_of_file(const char *path, const char *file, struct text *ret)
{
	CLEANUP(freep) char *package = remedy_package(path);

	if (package)
		text_printf(ret, "install %s-dbgsym", package);
	else
		text_printf(ret, "build it with -g and do not strip it");
	text_printf(ret, ", or set DEBUGINFOD_URLS=" SERVER "; then: cpprof resolve %s", file);
}

void remedy_find(const struct profile *profile, const struct scope_tree *tree, const struct costs *costs,
		 uint32_t metric, const char *file, struct text *ret)
{
	if (costs->n_metrics == 0 || !profile->run.is_resolved)
		return;
	CLEANUP(freep) uint64_t *sums = remedy_sum(profile, tree, costs, metric);
	uint64_t all = costs_inclusive(costs, 0, metric);
	char share[NUMBER_MAX];
	uint32_t most = 0;

	for (uint32_t i = 1; i < profile->images.n; i++)
		if (sums[i] > sums[most])
			most = i;
	if (!profile->images.n || number_share(sums[most], all) < MIN_PERCENT)
		return;
	text_printf(ret, "%s is in code of %s that has no symbols: ",
		    number_percent(number_share(sums[most], all), share), label_image(profile, most));
	switch (profile->images.at[most].kind) {
	case IMAGE_KERNEL:
		text_printf(ret, "record as root, or first run: sysctl kernel.kptr_restrict=0");
		return;
	case IMAGE_ELF:
		remedy_of_file(intern_text(&profile->strings, profile->images.at[most].path), file, ret);
		return;
	default:
		text_printf(ret, "it was generated at run time; many runtimes can write its symbols (node "
				 "--perf-basic-prof, java -XX:+DumpPerfMapAtExit, python -X perf)");
	}
}
