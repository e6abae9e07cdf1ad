/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_options: the options of `daemon`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cmd/options.h"
#include "cmd/symbol_options.h"

struct daemon_options {
	const char *database, *cgroup;
	const char *metrics;          /* a text file for Prometheus; NULL = none */
	const char *listen;           /* address where Prometheus can read the same; NULL = none */
	const char *push, *push_otlp; /* URLs of servers that accept profiles; NULL = none */
	struct option_list push_headers;
	uint64_t push_queue; /* maximum size in bytes */
	const char *file;    /* a recording instead of the machine, for tests; NULL = the machine */
	struct option_list allow, deny, events;
	bool with_commands, all_user, is_quiet;
	uint64_t frequency, stack_size, deep_bytes, ring_bytes, n_workers;
	uint64_t max_memory;                  /* of the tree, bytes */
	uint64_t database_size, epoch_size;   /* bytes; 0 = no limit */
	double epoch, checkpoint, duration;   /* seconds; duration 0 = no limit */
	double keep, hours_after, days_after; /* seconds; 0 = never */
	struct symbol_options symbols;
	int verbosity;
};

/* Negative: continue. Otherwise the exit code; the error has been printed. */
int daemon_options_parse(struct daemon_options *options, int argc, char **argv);
void daemon_options_done(struct daemon_options *options);
