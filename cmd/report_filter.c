/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "report/label.h"

/* ---- threads and processes ---------------------------------------------------------------------- */

/* By number, or all with a name. */
static bool report_filter_fits(const char *wanted, int32_t id, const char *name)
{
	char *end;
	long number = strtol(wanted, &end, 10);

	if (isdigit((unsigned char)*wanted) && !*end)
		return id == number;
	return strcmp(name, wanted) == 0;
}

static bool report_filter_fits_thread(const struct profile *profile, size_t index, const char *wanted,
				      bool is_process)
{
	const struct profile_thread *thread = &profile->threads.at[index];
	const struct profile_process *process = &profile->processes.at[thread->process];

	return report_filter_fits(wanted, is_process ? process->pid : thread->tid,
				  intern_text(&profile->strings, is_process ? process->comm : thread->comm));
}

/* Removes those that match none of the words. */
static int report_filter_keep(const struct profile *profile, const struct option_list *wanted,
			      bool is_process, bool *is_kept, struct diag *diag)
{
	const char *what = is_process ? "process" : "thread";
	CLEANUP(freep) bool *fits = alloc_zero(profile->threads.n + 1, sizeof(*fits));

	for (size_t i = 0; i < wanted->values.n; i++) {
		bool is_there = false;
		for (size_t thread = 0; thread < profile->threads.n; thread++)
			if (report_filter_fits_thread(profile, thread, wanted->values.at[i], is_process))
				fits[thread] = is_there = true;
		if (is_there)
			continue;
		diag_set(diag, -ENOENT, "this profile has no %s '%s'", what, wanted->values.at[i]);
		diag_why(diag, "--group-by %s lists them all", what);
		return -ENOENT;
	}
	for (size_t thread = 0; wanted->values.n && thread < profile->threads.n; thread++)
		is_kept[thread] &= fits[thread];
	return 0;
}

int report_filter_threads(const struct report_filter *filter, const struct profile *profile, bool **ret,
			  struct diag *diag)
{
	if (!filter->threads.values.n && !filter->processes.values.n)
		return 0;
	CLEANUP(freep) bool *is_kept = alloc_zero(profile->threads.n + 1, sizeof(*is_kept));
	memset(is_kept, true, profile->threads.n);
	int error = report_filter_keep(profile, &filter->threads, false, is_kept, diag);
	if (!error)
		error = report_filter_keep(profile, &filter->processes, true, is_kept, diag);
	if (!error)
		*ret = TAKE(is_kept);
	return error;
}

/* ---- code --------------------------------------------------------------------------------------- */

static bool report_filter_has_module(const struct option_list *modules, const char *name)
{
	for (size_t i = 0; i < modules->values.n; i++)
		if (strcmp(modules->values.at[i], name) == 0)
			return true;
	return modules->values.n == 0;
}

/* By scope, whether samples in it are kept; NULL = all. -EINVAL for a module without code. */
static int report_filter_places(const struct report_filter *filter, const struct profile *profile,
				const struct scope_tree *tree, bool **ret, struct diag *diag)
{
	bool is_found = false;

	if (!filter->modules.values.n && !filter->kernel_only && !filter->user_only)
		return 0;
	*ret = alloc_zero(tree->scopes.n + 1, sizeof(**ret));
	for (uint32_t i = 0; i < tree->scopes.n; i++) {
		image_id image = scope_frame(tree, i)->image;
		bool is_kernel = image < profile->images.n && profile->images.at[image].kind == IMAGE_KERNEL;
		bool fits = image < profile->images.n
				    ? report_filter_has_module(&filter->modules, label_image(profile, image))
				    : filter->modules.values.n == 0;
		is_found |= fits;
		(*ret)[i] = fits && !(filter->kernel_only && !is_kernel) && !(filter->user_only && is_kernel);
	}
	if (is_found)
		return 0;
	diag_set(diag, -EINVAL, "there are no samples in '%s'", filter->modules.values.at[0]);
	diag_why(diag, "--group-by module lists all modules");
	return -EINVAL;
}

int report_filter_apply(const struct report_filter *filter, const struct profile *profile,
			struct scope_tree *tree, struct diag *diag)
{
	CLEANUP(freep) bool *is_focus = NULL;
	CLEANUP(freep) bool *is_hidden = NULL;
	CLEANUP(freep) bool *is_place = NULL;
	struct scope_tree filtered;

	if (report_filter_places(filter, profile, tree, &is_place, diag) < 0)
		return -EINVAL;
	if (!filter->focus && !filter->hide && !is_place)
		return 0;
	if (filter->focus && scope_tree_match(tree, profile, filter->focus, &is_focus, diag) < 0)
		return -EINVAL;
	if (filter->hide && scope_tree_match(tree, profile, filter->hide, &is_hidden, diag) < 0)
		return -EINVAL;
	scope_tree_filter(tree, &(struct filter){ is_focus, is_hidden, is_place }, &filtered);
	scope_tree_done(tree);
	*tree = filtered;
	return 0;
}

/* ---- words -------------------------------------------------------------------------------------- */

static void report_filter_add_list(struct text *text, const char *what, const struct option_list *list)
{
	for (size_t i = 0; i < list->values.n; i++)
		text_printf(text, "%s%s%s", text->len ? ", " : "", i ? "" : what, list->values.at[i]);
}

char *report_filter_describe(const struct report_filter *filter)
{
	struct text text = { 0 };

	report_filter_add_list(&text, "thread ", &filter->threads);
	report_filter_add_list(&text, "process ", &filter->processes);
	report_filter_add_list(&text, "samples in ", &filter->modules);
	if (filter->kernel_only)
		text_printf(&text, "%ssamples in the kernel", text.len ? ", " : "");
	if (filter->user_only)
		text_printf(&text, "%ssamples outside the kernel", text.len ? ", " : "");
	if (filter->focus)
		text_printf(&text, "%sstacks through '%s'", text.len ? ", " : "", filter->focus);
	if (filter->hide)
		text_printf(&text, "%swithout '%s'", text.len ? ", " : "stacks ", filter->hide);
	return text.at;
}

void report_filter_done(struct report_filter *filter)
{
	option_list_done(&filter->threads);
	option_list_done(&filter->processes);
	option_list_done(&filter->modules);
}

int report_filter_say_nothing_left(const char *filter)
{
	fprintf(stderr, "cpprof: no samples match: ");
	cmd_print_name(stderr, filter);
	fprintf(stderr, "\n");
	return EXIT_NO_SAMPLES;
}
