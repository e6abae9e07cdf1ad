/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback: units that our reader refuses, because of an unknown version, form or abbreviation, are read by
 * libdwarf. The results are valid only for the requested addresses, so they are not cached for later runs.
 */
#pragma once

#include "symbolize/subject.h"

/*
 * Completes the maps of the subject's refused addresses that have nothing but a symbol: inlined calls, and
 * lines and names where there are none. Says so in the subject's `how` and as a note. Nothing happens where
 * cpprof was built without libdwarf.
 */
void fallback_complete(struct subject *subject, const struct symbolizer_options *options,
		       struct intern *strings, function_maps *maps);
