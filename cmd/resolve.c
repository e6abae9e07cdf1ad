/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve: adds names, lines and loops to a profile that was recorded without, or looks them up again when
 * debug information has become available.
 */
#include "profile/resolve_apart.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/symbol_options.h"
#include "recording/output.h"

static void images_freep(struct images **images)
{
	images_free(*images);
}

/* Which images have code in the tree: those that were mapped but never sampled need not be read. */
static bool *sampled_images(const struct profile *profile)
{
	bool *is_sampled = alloc_zero(profile->images.n, sizeof(*is_sampled));

	for (size_t i = 0; i < profile->cct.nodes.n; i++)
		if (profile->cct.nodes.at[i].image < profile->images.n)
			is_sampled[profile->cct.nodes.at[i].image] = true;
	return is_sampled;
}

/* The file of a profile's image, if it is still the same. */
static bool open_image(struct images *images, const struct profile_image *wanted, const char *path,
		       image_id *ret)
{
	struct images *alone = images_new(); /* a different file must not get an id */
	image_id id;
	bool is_same = images_open_mapped(alone, path, &id, NULL) == 0 &&
		       (!wanted->build_id.len ||
			build_id_equal(&images_get(alone, id)->build_id, &wanted->build_id));

	images_free(alone);
	return is_same && images_open_mapped(images, path, ret, NULL) == 0;
}

/* Reserves an id in the registry, by name. */
static void add_stand_in(struct images *images, const struct profile_image *wanted, const char *path,
			 image_id id)
{
	bool has_names = wanted->kind == IMAGE_KERNEL || wanted->kind == IMAGE_JIT;
	enum image_kind kind = has_names ? (enum image_kind)wanted->kind : IMAGE_UNKNOWN;
	CLEANUP(freep)
	char *other = alloc_printf("%s#%" PRIu32, path, id); /* in case two have the same name */

	for (unsigned i = 0; i < 2 && images_count(images) == id; i++) {
		const char *name = i == 0 ? path : other;
		if (kind == IMAGE_JIT)
			images_add_jit(images, name, wanted->pid);
		else
			images_add_pseudo(images, kind, name, &wanted->build_id);
	}
}

/* How many of the required files are missing. */
struct tally {
	size_t n_missing, n_wanted;
};

/* Ids in the registry must be those of the profile. */
static struct images *open_images(const struct profile *profile, const char *symfs, struct tally *tally)
{
	struct images *images = images_new();
	CLEANUP(freep) bool *is_sampled = sampled_images(profile);

	for (image_id i = 0; i < profile->images.n; i++) {
		const struct profile_image *wanted = &profile->images.at[i];
		const char *path = intern_text(&profile->strings, wanted->path);
		CLEANUP(freep) char *moved = alloc_printf("%s%s", symfs ? symfs : "", path);
		bool is_wanted = wanted->kind == IMAGE_ELF && is_sampled[i];
		image_id id = IMAGE_NONE;
		tally->n_wanted += is_wanted;
		if (is_wanted && open_image(images, wanted, moved, &id) && id == i)
			continue;
		tally->n_missing += is_wanted;
		add_stand_in(images, wanted, path, i);
	}
	return images;
}

/* Kernel addresses are valid only for the kernel that was sampled, and only until the next boot. */
static bool is_this_boot(const struct profile *profile)
{
	struct utsname here;
	struct timespec now, up;

	if (uname(&here) < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &up) < 0)
		return false;
	/* As written by cpprof, or by perf. */
	CLEANUP(freep) char *kernel = alloc_printf("%s %s", here.sysname, here.release);
	const char *recorded = intern_text(&profile->strings, profile->run.kernel);
	return (strcmp(recorded, kernel) == 0 || strcmp(recorded, here.release) == 0) &&
	       strcmp(intern_text(&profile->strings, profile->run.host), here.nodename) == 0 &&
	       (!profile->run.start_unix_ns ||
		profile->run.start_unix_ns / 1000000000u > (uint64_t)(now.tv_sec - up.tv_sec));
}

static int resolve_cmd_run(const char *path, const char *output, struct symbol_options *symbols,
			   int verbosity, struct diag *diag)
{
	CLEANUP(profile_freep) struct profile *profile = NULL;
	struct tally tally = { 0 };

	int error = profile_read(path, &profile, diag);
	if (error < 0)
		return error;
	CLEANUP(images_freep) struct images *images = open_images(profile, symbols->symfs, &tally);
	struct resolve_options options = { .symbolize = symbol_options_open(symbols, verbosity) };
	options.symbolize.is_elsewhere = !is_this_boot(profile);
	options.symbolize.kallsyms = options.symbolize.is_elsewhere ? "" : NULL;
	error = resolve_apart(profile, images, &options, diag);
	if (error < 0)
		return error;
	if (tally.n_missing && verbosity >= 0)
		fprintf(stderr,
			"cpprof: warning: %zu of %zu files are missing or have changed since the recording\n",
			tally.n_missing, tally.n_wanted);
	CLEANUP(freep) char *target = NULL;
	error = output_follow(output ? output : path, &target, diag);
	return error ? error : profile_write(profile, target, diag);
}

/* A profile that was read from a pipe cannot be replaced. */
static bool can_be_replaced(const char *path)
{
	struct stat st;

	return strcmp(path, "-") == 0 || stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
}

int cmd_resolve(int argc, char **argv)
{
	struct symbol_options symbols = SYMBOL_DEFAULTS;
	const char *output = NULL;
	bool is_quiet = false;
	int verbosity = 0;
	const struct option_spec specs[] = {
		{ 'o', "output", OPTION_TEXT, &output, "FILE", "output file (default: replace the profile)" },
		SYMBOL_SPECS(symbols),
		{ 'q', "quiet", OPTION_FLAG, &is_quiet, NULL, "print errors only" },
		{ 'v', "verbose", OPTION_COUNT, &verbosity, NULL,
		  "print where debug information is looked for" },
		{ 0 },
	};
	struct command_line line = {
		.command = "resolve",
		.usage = "[options] [FILE]",
		.about = "Adds names, source lines, inlined calls and loops to a profile that was\n"
			 "recorded with --no-resolve, or looks them up again. FILE is cpprof.data\n"
			 "by default.",
		.examples = "  cpprof resolve --debug-dir /srv/debug cpprof.data\n"
			    "  DEBUGINFOD_URLS=https://debuginfod.elfutils.org cpprof resolve   debug files "
			    "from a server\n"
			    "  cpprof resolve --source-map /build/src=/usr/src/project\n",
		.specs = specs
	};
	struct diag diag = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code < 0)
		code = symbol_options_check(&symbols, line.command);
	if (code < 0 && line.n_operands > 1)
		code = cmd_usage(line.command, "give only one profile");
	const char *path = line.n_operands ? line.operands[0] : PROFILE_DEFAULT;
	if (code < 0 && !output && !can_be_replaced(path))
		code = cmd_usage(line.command,
				 "'%s' is not a regular file and cannot be replaced; give -o FILE", path);
	if (code < 0) {
		int error = resolve_cmd_run(path, output, &symbols, is_quiet ? -1 : verbosity, &diag);
		code = error < 0 ? cmd_fail(&diag) : EXIT_OK;
	}
	symbol_options_done(&symbols);
	return code;
}
