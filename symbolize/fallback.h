/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback: code of units that our reader refused, because of a version, a form or an abbreviation that it
 * does not know, as libdwarf reads it. What comes of it holds at the addresses that were asked for and
 * nowhere else, so it is not kept for later runs.
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
