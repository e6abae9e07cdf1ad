/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_cycles: annotate --cycles: reads the function's code again, and gets best cases and counts.
 */
#pragma once

#include "report/annotate/annotate.h"
#include "report/style.h"

struct annotate_cycles {
	bool asked, all;
	const char *counts; /* a file of `cpprof paths --format json`; NULL = none */
	const char *cpu;    /* LLVM's name; NULL = the recorded one */
	uint64_t clock_mhz; /* 0 = as recorded */
	int format;         /* 0 = text, 1 = JSON */
	uint32_t metric;    /* a time, or cycles */
	struct style style;
};

/* The first metric that is a time or counts cycles; 0 = none. */
uint32_t annotate_cycles_metric(const struct profile *profile);
/* Returns an exit code. */
int annotate_cycles_show(const struct profile *profile, const struct annotation *annotation,
			 const struct annotate_cycles *options);
