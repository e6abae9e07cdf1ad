/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request: the input of the symbolizer, and its options.
 */
#pragma once

#include "base/store.h"
#include "binary/elf/image.h"
#include "binary/functions/function.h"
#include "symbolize/files/debugfile.h"
#include "symbolize/source_map.h"

struct symbolizer_options {
	struct debug_search search;
	bool keeps_mangled;  /* --no-demangle */
	unsigned n_threads;  /* 0 = as many as there are CPUs */
	struct store *store; /* what earlier runs found; NULL = neither read nor written */
	bool has_time; /* runs in the background: results that will be needed again are stored in full */
	const char *kallsyms; /* NULL = /proc/kallsyms; "" = none: the kernel is another machine's */
	bool is_elsewhere;    /* the processes ran on another machine: no perf map here is theirs */
	const struct source_map *source_maps;
	size_t n_source_maps;
	/* Called now and then by the calling thread; done == total: before anything is looked for, and at the
	 * end. May be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	void *context;
};

/* The addresses of one image, in its own numbering, sorted, no two alike. */
struct symbolizer_request {
	image_id id; /* goes into the maps; any number of the caller's */
	struct image *image;
	pid_t pid;           /* whose JIT code it is; 0 = no matter */
	const char *jitdump; /* file that its JIT compiler wrote, or NULL */
	/*
	 * The functions of the image, if the caller needs them as well: asked for by one thread at a time,
	 * unless the store knows every address. Starts may be inferred in them. NULL = made when code without
	 * a symbol is met.
	 */
	struct functions *(*functions)(void *context);
	void *context;
	const uint64_t *vaddrs;
	size_t n;
	bool takes_entry; /* where the store knows every address, its entry will do, and no maps are made */
	/* Outcome: */
	char *how;              /* where names came from, in words; free() it */
	uint64_t n_damaged;     /* units that could not be read to their end */
	uint64_t n_by_libdwarf; /* functions of those units that libdwarf was asked for */
	bool is_too_much;       /* something of the image or its debug files was left out; see image_take */
	uint64_t identity; /* a hash of the image and its debug files: it changes when their contents do */
	struct bytes
		entry; /* of map_entry, in place of maps; store_release it. Empty: the maps are in the list */
};
