/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/export_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compress.h"
#include "recording/output.h"
#include "report/limit.h"
#include "structure/fuse.h"

static bool export_ends_in(const char *text, const char *suffix)
{
	size_t len = strlen(text), suffix_len = strlen(suffix);

	return len >= suffix_len && strcmp(text + len - suffix_len, suffix) == 0;
}

/*
 * A file is written beside path and renamed, so that a reader never sees half of it; pipes and devices (the
 * temporary stays NULL) are written through: /dev/null must not become a file, nor what /dev/stdout stands
 * for.
 */
static FILE *export_open(const char *path, char **ret_temporary)
{
	struct stat st;

	if (strncmp(path, "/dev/", 5) == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
		return fopen(path, "we");
	*ret_temporary = alloc_printf("%s.%d.tmp", path, getpid());
	return fopen(*ret_temporary, "we");
}

/* The error so far decides whether what was written is kept. */
static int export_close(FILE *to, const char *path, const char *temporary, int error, struct diag *diag)
{
	bool failed = ferror(to) != 0;

	errno = 0;
	failed |= fclose(to) != 0;
	if (error == 0 && !failed && temporary && rename(temporary, path) < 0)
		failed = true;
	if (failed)
		error = diag_set(diag, error ? error : errno ? -errno : -EIO, "cannot write '%s'", path);
	if (error < 0 && temporary)
		unlink(temporary);
	return error;
}

static int export_write_plain(const struct exporter *exporter, const struct export_input *input,
			      const struct export_options *options, const char *path, struct diag *diag)
{
	CLEANUP(freep) char *temporary = NULL;
	FILE *to = export_open(path, &temporary);

	if (!to)
		return diag_set(diag, -errno, "cannot write '%s'", path);
	int error = export_profile(exporter, input, options, to, diag);
	return export_close(to, path, temporary, error, diag);
}

/* A name that ends in .gz asks for compression, unless the format is compressed anyway. */
static int export_write_gzip(const struct exporter *exporter, const struct export_input *input,
			     const struct export_options *options, const char *path, struct diag *diag)
{
	CLEANUP(freep) char *temporary = NULL;
	FILE *to = export_open(path, &temporary), *packed = to ? compress_stream(to, COMPRESS_GZIP) : NULL;

	if (!packed)
		return diag_set(diag, -errno, "cannot write '%s'", path);
	int error = export_profile(exporter, input, options, packed, diag);
	if (fclose(packed) != 0 && error == 0)
		error = diag_set(diag, errno ? -errno : -EIO, "cannot write '%s'", path);
	return export_close(to, path, temporary, error, diag);
}

static void export_note_folded(const struct exporter *exporter, const struct profile *profile,
			       const struct scope_tree *tree, struct text *ret)
{
	limit_note(tree, profile, ret);
	if (ret->len)
		text_printf(ret, "; more stays with: cpprof export -f %s --max-nodes N", exporter->name);
}

int export_find_metric(const struct profile *profile, const char *name)
{
	if (!name)
		return profile->metrics.n > 1 ? 1 : 0;
	for (size_t i = 0; i < profile->metrics.n; i++)
		if (strcmp(intern_text(&profile->strings, profile->metrics.at[i].name), name) == 0)
			return (int)i;
	return -ENOENT;
}

struct export_choice export_choose(const struct exporter *exporter, const struct profile *profile)
{
	return (struct export_choice){ .options = { .totals = true,
						    .metric = (uint32_t)export_find_metric(profile, NULL) },
				       .no_loops = !exporter->loops_by_default };
}

int export_file(const struct exporter *exporter, struct profile *profile, const struct export_choice *choice,
		const char *path, struct text *ret_folded, struct diag *diag)
{
	struct fuse_options fuse_options = { .calls = FUSE_CALLS_BY_LINE,
					     .no_inlines = choice->no_inlines,
					     .no_loops = choice->no_loops,
					     .lines = exporter->needs_lines,
					     .addresses = exporter->needs_addresses };
	struct scope_tree tree = { 0 };
	struct export_input input = { profile, &tree };
	CLEANUP(freep) char *target = output_follow(path ? path : "-");
	int error;

	profile_take_tree(profile, &fuse_options, &tree);
	if (strcmp(target, "-") == 0)
		error = export_profile(exporter, &input, &choice->options, stdout, diag);
	else if (!exporter->is_binary && export_ends_in(path, ".gz"))
		error = export_write_gzip(exporter, &input, &choice->options, target, diag);
	else
		error = export_write_plain(exporter, &input, &choice->options, target, diag);
	if (error == 0 && ret_folded)
		export_note_folded(exporter, profile, &tree, ret_folded);
	scope_tree_done(&tree);
	return error;
}
