/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter: the export formats. Every exporter is a pure function of the profile and its scope tree, in one
 * .c file each, listed in one table.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "profile/profile.h"
#include "structure/scope.h"

/* What a format can contain; the table in docs/formats.md is generated from these. */
enum carries {
	CARRIES_INLINES = 1,
	CARRIES_LOOPS = 2,
	CARRIES_THREADS = 4,
	CARRIES_TIME = 8,
	CARRIES_METRICS = 16, /* more than one */
	CARRIES_BUILD_IDS = 32,
	CARRIES_LINES = 64,
	CARRIES_CALL_SITES = 128,
	CARRIES_CONTEXT = 256,  /* whole call paths, not only caller-callee pairs */
	CARRIES_FORMULAS = 512, /* values computed from metrics */
};

/* json, ndjson: how much of the profile is written. Each contains less than the previous one. */
enum export_detail { DETAIL_TIME, DETAIL_THREADS, DETAIL_LINES, DETAIL_CCT, DETAIL_SUMMARY };

struct export_options {
	uint32_t metric;    /* for formats that contain only one; default: the weight of the first event */
	uint32_t max_nodes; /* 0 = the format's default */
	uint32_t limit;     /* top: how many rows; 0 = all */
	enum export_detail detail;
	bool totals;          /* json: also inclusive values */
	bool wide;            /* ndjson: one line per node, with names */
	bool pyroscope_names; /* pprof: the type names of Pyroscope */
	bool annotate;        /* folded: _[k], _[i] suffixes */
	char *const *labels;  /* openmetrics: additional labels of every series, NAME=VALUE each */
	size_t n_labels;
	const struct source_search *sources; /* html: where source files are searched, and as which user; NULL
						= at the paths in the debug information, as the user whose
						processes were profiled */
	const uint64_t
		*interval; /* ndjson: [start, end] in ns of a streamed interval; NULL = the whole run */
	const struct diff
		*diff; /* html: metrics 1 and 2 are its before and after; diff_html has more of them */
	const struct loop_counts *counts; /* html: iteration counts of loops; NULL = not known */
	char *const *derived;             /* formulas, in addition to the usual ones: for CARRIES_FORMULAS */
	size_t n_derived;
	const struct ranks *ranks; /* html: the metrics of the slowest ranks; NULL = none are known */
};

/* The tree may have taken the profile's CCT: exporters find contexts and values in the tree, never in
 * profile->cct. */
struct export_input {
	const struct profile *profile;
	struct scope_tree *tree; /* fused as the exporter requires: see needs_lines and loops; export_profile
				    may prune it */
};

struct exporter {
	const char *name,
		*suffixes; /* suffixes: of output names that select this format, separated by spaces */
	const char *summary;
	unsigned carries; /* mask of enum carries */
	bool loops_by_default;
	bool needs_lines;     /* the tree must have SCOPE_LINE leaves */
	bool needs_addresses; /* one SCOPE_LINE per address */
	bool joins; /* parallel regions are moved to where they are written, unless that is switched off */
	bool needs_durations; /* durations of calls */
	bool needs_calls;     /* numbers of calls, as the tree's last metric: scope_calls_take */
	bool needs_spread;    /* confidence of the costs of frames */
	bool needs_ranks;     /* for a reduced profile: the costs of its slowest ranks */
	bool walks_stacks;    /* visits or writes the whole stack of each value */
	uint32_t max_nodes;   /* more are folded into "other"; 0 = no limit */
	bool is_binary;       /* not for a terminal */
	int (*write)(const struct export_input *input, const struct export_options *options, FILE *to,
		     struct diag *diag);
};

extern const struct exporter *const exporters[]; /* ended by NULL */
extern const struct exporter exporter_screen;    /* for a running trace; not in the list */
/* NULL if there is none. */
const struct exporter *exporter_named(const char *name);
/* By the longest matching suffix of a file name; a trailing .gz is ignored. NULL if none matches. */
const struct exporter *exporter_for_file(const char *path);

/* The same for commands that write a profile unless the name selects an export: "x.prof" is a profile there.
 */
const struct exporter *exporter_instead_of_profile(const char *path);

/* Prunes if necessary, then writes. 0, or -errno with a diag. */
int export_profile(const struct exporter *exporter, const struct export_input *input,
		   const struct export_options *options, FILE *to, struct diag *diag);

extern const struct exporter exporter_json, exporter_ndjson, exporter_rows, exporter_top, exporter_folded,
	exporter_speedscope, exporter_pprof, exporter_otlp, exporter_callgrind, exporter_openmetrics,
	exporter_svg, exporter_firefox, exporter_llvm, exporter_html;
