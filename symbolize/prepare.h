/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare: symbols are read and sections are unpacked, of many images side by side.
 */
#pragma once

#include "symbolize/subject.h"

/* Only subjects that have addresses to look up. */
void subjects_prepare(struct subject *subjects, size_t n, const struct symbolizer_options *options,
		      const struct kallsyms *kernel, unsigned n_workers);
