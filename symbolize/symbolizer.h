/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolizer: function maps for the sampled addresses of many images, all at once.
 *
 * Only units that an address falls into are read, each once, spread over threads.
 */
#pragma once

#include "base/intern.h"
#include "base/store.h"
#include "binary/elf/image.h"
#include "binary/functions/function.h"
#include "symbolize/files/debugfile.h"
#include "symbolize/function_map.h"
#include "symbolize/source_map.h"

struct symbolizer_options {
	struct debug_search search;
	bool keeps_mangled;   /* --no-demangle */
	unsigned n_threads;   /* 0 = as many as there are CPUs */
	struct store *store;  /* what earlier runs found; NULL = asks nobody and leaves nothing */
	bool has_time;        /* nobody waits: what will be asked for again is kept in full */
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
	uint64_t identity;      /* of the image and the debug files found: other contents, another number */
	struct bytes
		entry; /* of map_entry, in place of maps; store_release it. Empty: the maps are in the list */
};

/*
 * Appends maps that cover every address, sorted by (id, vaddr), none overlapping inside an image.
 * Never faults: where nothing is known the map has a made-up name. Strings are added in the order of the
 * maps: the result is the same however many threads there are and whatever the store knew.
 */
void symbolize(const struct symbolizer_options *options, struct symbolizer_request *requests, size_t n,
	       struct intern *strings, function_maps *ret);
