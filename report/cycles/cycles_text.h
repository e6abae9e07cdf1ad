/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycles_text: loops and blocks of a function with their cycles, as text and as JSON.
 */
#pragma once

#include <stdio.h>

#include "report/cycles/cycles.h"
#include "report/style.h"

struct cycles_show {
	const struct profile *profile;
	const struct function_map *map;
	uint32_t metric;
	double clock_ghz;        /* 0 = the metric counts cycles */
	const struct mca *mca;   /* NULL = none */
	const char *mca_cpu;     /* the processor that it simulates */
	const char *counts_path; /* NULL = none */
	const struct cycles_counts *counts;
	bool all; /* also low confidence, and blocks with a small share */
	struct style style;
};

void cycles_text(const struct cycles *cycles, const struct cycles_show *show, struct text *ret);
int cycles_json(const struct cycles *cycles, const struct cycles_show *show, FILE *to);
