/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare: reads the symbols and unpacks the sections of many images in parallel.
 */
#pragma once

#include "symbolize/subject.h"

/* Only subjects that have addresses to look up. */
void subjects_prepare(struct subject *subjects, size_t n, const struct symbolizer_options *options,
		      const struct kallsyms *kernel, unsigned n_workers);
