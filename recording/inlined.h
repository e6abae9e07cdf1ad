/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlined: the functions into which a function without code of its own was inlined, from debug information.
 */
#pragma once

#include "base/text.h"
#include "recording/chosen.h"
#include "symbolize/request.h"

/*
 * Adds "a, b and 3 more" to ret: functions of the image into which functions that match the pattern were
 * inlined. Returns their number. A very large image is not searched: that would take too long.
 */
size_t inlined_find(const struct symbolizer_options *options, struct image *image, const char *pattern,
		    struct text *ret);
