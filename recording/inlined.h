/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlined: the functions that a function without own code was inlined into, from debug information.
 */
#pragma once

#include "base/text.h"
#include "recording/chosen.h"
#include "symbolize/request.h"

/*
 * Adds "a, b and 3 more" to ret: functions of the image into which what the pattern names was inlined. How
 * many there are. A very large image is not looked through: that would take too long.
 */
size_t inlined_find(const struct symbolizer_options *options, struct image *image, const char *pattern,
		    struct text *ret);
