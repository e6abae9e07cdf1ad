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

/* What a format can hold; the table in docs/formats.md is made of these. */
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
	CARRIES_FORMULAS = 512, /* what is worked out from metrics */
};

/* json, ndjson: how much of the profile. Each has less than the one before. */
enum export_detail { DETAIL_TIME, DETAIL_THREADS, DETAIL_LINES, DETAIL_CCT, DETAIL_SUMMARY };

struct export_options {
	uint32_t metric;    /* for formats that hold one; default: the first event's weight */
	uint32_t max_nodes; /* 0 = the format's own default */
	uint32_t limit;     /* top: how many rows; 0 = all */
	enum export_detail detail;
	bool totals;          /* json: inclusive values too */
	bool wide;            /* ndjson: one line a node, names resolved */
	bool pyroscope_names; /* pprof: the type names Pyroscope knows */
	bool annotate;        /* folded: _[k], _[i] suffixes */
	char *const *labels;  /* openmetrics: more labels of every series, NAME=VALUE each */
	size_t n_labels;
	const struct source_search
		*sources; /* html: where source text may be; NULL = where the debug information says */
	const uint64_t
		*interval; /* ndjson: [start, end] in ns of a streamed interval; NULL = the whole run */
	const struct diff
		*diff; /* html: metrics 1 and 2 are its before and after; diff_html has more of them */
	const struct loop_counts *counts; /* html: how often loops went round; NULL = not known */
	char *const *derived;             /* formulas, beside the usual ones: carries CARRIES_FORMULAS */
	size_t n_derived;
	const struct ranks *ranks; /* html: whose metrics the slowest ranks are; NULL = it is not reduced */
};

/* The tree may have taken the profile's CCT: exporters find contexts and values in the tree, never in
 * profile->cct. */
struct export_input {
	const struct profile *profile;
	struct scope_tree *
		tree; /* fused as the exporter asks: see needs_lines and loops; export_profile may prune it */
};

struct exporter {
	const char *name,
		*suffixes; /* suffixes: of output names that mean this format, separated by spaces */
	const char *summary;
	unsigned carries; /* mask of enum carries */
	bool loops_by_default;
	bool needs_lines;     /* the tree must have SCOPE_LINE leaves */
	bool needs_addresses; /* one for each address */
	bool joins;           /* parallel regions stand where they are written, unless that is not wanted */
	bool needs_durations; /* how long calls took */
	bool needs_calls;     /* how many calls were seen, as the tree's last metric: scope_calls_take */
	bool needs_spread;    /* how sure the costs of frames are */
	bool needs_ranks;     /* of a reduced profile, what its slowest ranks spent */
	uint32_t max_nodes;   /* more are folded into "other"; 0 = no limit */
	bool is_binary;       /* not for a terminal */
	int (*write)(const struct export_input *input, const struct export_options *options, FILE *to,
		     struct diag *diag);
};

extern const struct exporter *const exporters[]; /* ended by NULL */
extern const struct exporter exporter_screen;    /* of a trace that runs; not among them */
/* NULL if there is none. */
const struct exporter *exporter_named(const char *name);
/* By the longest suffix of a file name that fits; .gz behind it is no matter. NULL if none does. */
const struct exporter *exporter_for_file(const char *path);

/* The same where a profile is written unless the name asks for an export: "x.prof" asks for nothing else. */
const struct exporter *exporter_instead_of_profile(const char *path);

/* Prunes if necessary, then writes. 0, or -errno with a diag. */
int export_profile(const struct exporter *exporter, const struct export_input *input,
		   const struct export_options *options, FILE *to, struct diag *diag);

extern const struct exporter exporter_json, exporter_ndjson, exporter_rows, exporter_top, exporter_folded,
	exporter_speedscope, exporter_pprof, exporter_otlp, exporter_callgrind, exporter_openmetrics,
	exporter_svg, exporter_firefox, exporter_llvm, exporter_html;
