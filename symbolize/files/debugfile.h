/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugfile: finds the debug information of an image.
 *
 * In this order: the image itself; a separate file by build-id, then by debug link, under /usr/lib/debug, the
 * directories given, the symfs and the target's own root; debuginfod, if the user has set DEBUGINFOD_URLS. A
 * separate file may refer to a second one (dwz), and units may be in .dwo files or a .dwp package. A file
 * with a different build-id is refused, with a note.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "symbolize/dwarf/dwarf.h"

struct debug_search {
	const char *const *directories; /* as --debug-dir gave them */
	size_t n_directories;
	const char *symfs;       /* prefix of every path of the target; NULL = none */
	const char *target_root; /* "/proc/PID/root"; NULL = none */
	bool asks_debuginfod;    /* only if DEBUGINFOD_URLS is set as well */
	/* Replaces debuginfod_find in a process that may not open connections; NULL = debuginfod_find. */
	int (*fetch)(void *context, const struct build_id *build_id, const char *image, char **ret);
	void *fetch_context;
	/* Reports each step, for -v, and each refusal; may be NULL. Called by one thread at a time. */
	void (*note)(void *context, bool is_warning, const char *text);
	/* Called repeatedly while the debug file of an image is downloaded; total 0 = not known yet; may be
	 * NULL. */
	void (*fetching)(void *context, const char *image, uint64_t done, uint64_t total);
	void *context;
};

/* A unit whose entries are in another file. */
struct split_file {
	const struct unit *skeleton;
	struct dwarf dwarf;
	const struct unit *unit; /* NULL: not found */
};

struct debugfile {
	struct image *image;     /* the code */
	struct image *debug;     /* where its DWARF is: the image, another file, or NULL */
	struct image *alt_image; /* the dwz file that it refers to, or NULL */
	struct dwarf dwarf;      /* without units until debugfile_load */
	struct dwarf alt;
	struct dwarf_rest rest; /* of dwarf */
	char *how; /* where it was found: "in the image", "/usr/lib/debug/...", "no debug information" */
	uint64_t identity; /* a hash over all files it came from: it changes when their contents do */
	/* Split DWARF, opened by split_find when a unit needs it. */
	const struct debug_search *search;
	struct images *images; /* every file except the image itself */
	atomic_uint *ids;      /* next dwarf.id */
	struct image *package;
	bool looked_for_package;
	VEC(struct split_file *) splits;
	pthread_mutex_t lock;
};

/* Finds the files. Never faults. image, search and ids must outlive it. */
void debugfile_open(struct debugfile *file, struct image *image, const struct debug_search *search,
		    atomic_uint *ids);
/*
 * Decompresses sections and finds the units: expensive, and unnecessary if the store has the results. Reads
 * only the first info_end bytes of .debug_info, which are enough according to debugfile_reach.
 */
void debugfile_load(struct debugfile *file, uint64_t info_end);
/* Undoes debugfile_load, so that more can be loaded. */
void debugfile_unload(struct debugfile *file);
/* How many bytes of .debug_info are needed for these addresses (sorted); UINT64_MAX: all, or it need not be
 * decompressed. */
uint64_t debugfile_reach(struct debugfile *file, const uint64_t *vaddrs, size_t n);
void debugfile_done(struct debugfile *file);
