/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request: the input of the symbolizer, and its options.
 */
#pragma once

#include "base/store.h"
#include "binary/elf/image.h"
#include "binary/elf/perfmap.h"
#include "binary/functions/function.h"
#include "symbolize/files/debugfile.h"
#include "symbolize/source_map.h"

struct symbolizer_options {
	struct debug_search search;
	bool keeps_mangled;  /* --no-demangle */
	unsigned n_threads;  /* 0 = as many as there are CPUs */
	struct store *store; /* results of earlier runs; NULL = neither read nor written */
	bool has_time; /* runs in the background: results that will be needed again are stored in full */
	const char *kallsyms; /* NULL = /proc/kallsyms; "" = none: the kernel was that of another machine */
	bool is_elsewhere;    /* the processes ran on another machine: perf maps on this one are not theirs */
	const struct source_map *source_maps;
	size_t n_source_maps;
	/* Called from time to time in the calling thread, and with done == total at the beginning and at the
	 * end. May be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	void *context;
};

/* The addresses of one image, as in its file, sorted and distinct. */
struct symbolizer_request {
	image_id id; /* stored in the maps; chosen by the caller */
	struct image *image;
	struct jit_process process; /* whose JIT code it is; pid 0 = none */
	const char *jitdump;        /* file that its JIT compiler wrote, or NULL */
	/*
	 * Returns the functions of the image, if the caller needs them as well: called by one thread at a
	 * time, unless the store has every address. Starts of functions may be inferred in them. NULL = they
	 * are created when code without a symbol is found.
	 */
	struct functions *(*functions)(void *context);
	void *context;
	const uint64_t *vaddrs;
	size_t n;
	bool takes_entry; /* if the store has every address, its entry is enough, and no maps are made */
	/* Outcome: */
	char *how;              /* where names came from, as text; free() it */
	uint64_t n_damaged;     /* units that could not be read to their end */
	uint64_t n_by_libdwarf; /* functions of those units that were read by libdwarf */
	bool is_too_much;       /* part of the image or its debug files was left out; see image_take */
	uint64_t identity; /* a hash of the image and its debug files: it changes when their contents do */
	struct bytes
		entry; /* a map_entry, instead of maps; store_release it. Empty: the maps are in the list */
};
