/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback: units that our reader refuses, because of an unknown version, form or abbreviation, are read by
 * libdwarf. The results are valid only for the requested addresses, so they are not cached for later runs.
 */
#pragma once

#include "symbolize/subject.h"

/*
 * Completes the maps of the subject's refused addresses that have only a symbol: adds inlined calls, and
 * missing lines and names. Reports this in the subject's `how` and as a note. Does nothing if cpprof was
 * built without libdwarf.
 */
void fallback_complete(struct subject *subject, const struct symbolizer_options *options,
		       struct intern *strings, function_maps *maps);
