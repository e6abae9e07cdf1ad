/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolizer: function maps for the sampled addresses of many images, all at once.
 *
 * Only units that an address falls into are read, each once, spread over threads.
 */
#pragma once

#include "base/intern.h"
#include "symbolize/function_map.h"
#include "symbolize/request.h"

/*
 * Appends maps that cover every address, sorted by (id, vaddr), without overlaps in an image. Never faults:
 * if nothing is known, the map has a synthetic name. Strings are added in the order of the maps, so the
 * result depends neither on the number of threads nor on the contents of the store.
 */
void symbolize(const struct symbolizer_options *options, struct symbolizer_request *requests, size_t n,
	       struct intern *strings, function_maps *ret);
