/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/export_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/compress.h"
#include "base/fresh_file.h"
#include "recording/output.h"
#include "report/limit.h"
#include "report/tree/frame_spread.h"
#include "report/tree/ranks.h"
#include "structure/fuse.h"

static bool export_ends_in(const char *text, const char *suffix)
{
	size_t len = strlen(text), suffix_len = strlen(suffix);

	return len >= suffix_len && strcmp(text + len - suffix_len, suffix) == 0;
}

/* An error so far means that what was written is not kept. */
static int export_close(FILE *to, struct fresh_file *file, int error, struct diag *diag)
{
	bool failed = ferror(to) != 0;

	errno = 0;
	failed |= fclose(to) != 0;
	int why = failed ? (errno ? -errno : -EIO) : error ? error : fresh_file_keep(file);
	return why < 0 && error == 0 ? diag_set(diag, why, "cannot write '%s'", file->path) : error;
}

/* A name that ends in .gz asks for compression, unless the format is compressed anyway. */
static int export_write(const struct exporter *exporter, const struct export_input *input,
			const struct export_choice *choice, const char *path, bool packs, struct diag *diag)
{
	/* Programs of other users collect it. */
	mode_t mode = !choice->mode && exporter == &exporter_openmetrics ? FRESH_BY_UMASK : choice->mode;
	CLEANUP(fresh_file_done) struct fresh_file file;
	int error = fresh_file_open(&file, path, mode);
	FILE *to = error ? NULL : fresh_file_stream(&file);
	FILE *packed = to && packs ? compress_stream(to, COMPRESS_GZIP) : to;

	if (!packed) {
		error = diag_set(diag, error ? error : -errno, "cannot write '%s'", path);
		if (to)
			fclose(to);
		return error;
	}
	error = export_profile(exporter, input, &choice->options, packed, diag);
	if (error && ferror(packed)) /* the message names the file */
		error = diag_set(diag, error, "cannot write '%s'", path);
	if (packs && fclose(packed) != 0 && error == 0)
		error = diag_set(diag, errno ? -errno : -EIO, "cannot write '%s'", path);
	return export_close(to, &file, error, diag);
}

static void export_note_folded(const struct exporter *exporter, const struct profile *profile,
			       const struct scope_tree *tree, struct text *ret)
{
	limit_note(tree, profile, ret);
	if (ret->len)
		text_printf(ret, "; to keep more: cpprof export -f %s --max-nodes N", exporter->name);
}

int export_find_metric(const struct profile *profile, const char *name)
{
	char *end;

	if (!name)
		return profile->metrics.n > 1 ? 1 : 0;
	unsigned long number = strtoul(name, &end, 10);
	if (isdigit((unsigned char)*name) && !*end && number < profile->metrics.n)
		return (int)number;
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

int export_tree(const struct exporter *exporter, const struct export_input *input,
		const struct export_choice *choice, const char *path, struct text *ret_folded,
		struct diag *diag)
{
	CLEANUP(freep) char *target = NULL;
	int error = output_follow(path ? path : "-", &target, diag);

	if (error)
		return error;
	if (strcmp(target, "-") == 0)
		error = export_profile(exporter, input, &choice->options, stdout, diag);
	else
		error = export_write(exporter, input, choice, target,
				     !exporter->is_binary && export_ends_in(path, ".gz"), diag);
	if (error == 0 && ret_folded)
		export_note_folded(exporter, input->profile, input->tree, ret_folded);
	return error;
}

int export_file(const struct exporter *exporter, struct profile *profile, const struct export_choice *choice,
		const char *path, struct text *ret_folded, struct diag *diag)
{
	struct fuse_options fuse_options = { .calls = FUSE_CALLS_BY_LINE,
					     .no_inlines = choice->no_inlines,
					     .no_loops = choice->no_loops,
					     .lines = exporter->needs_lines,
					     .rounds = exporter->needs_spread,
					     .durations = exporter->needs_durations,
					     .activations = exporter->needs_calls,
					     .addresses = exporter->needs_addresses,
					     .joins = exporter->joins && !choice->no_join };
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	struct export_input input = { profile, &tree };
	struct export_choice chosen = *choice;
	struct ranks ranks = { 0 };

	if (exporter->needs_ranks)
		ranks_extend(profile, &ranks);
	chosen.options.ranks = ranks.n ? &ranks : NULL;
	profile_take_tree(profile, &fuse_options, &tree);
	if (exporter->needs_spread)
		frame_spread_set(&tree);
	return export_tree(exporter, &input, &chosen, path, ret_folded, diag);
}
