/* SPDX-License-Identifier: Apache-2.0 */
/*
 * way_lines: the source lines along an execution path through a function.
 */
#pragma once

#include "base/vec.h"
#include "profile/profile.h"

typedef VEC(uint32_t) way_lines;

/* The lines of the function's own file at which these blocks begin, each once, in order. */
void way_lines_find(const struct function_map *map, const uint64_t *blocks, size_t n, way_lines *ret);
/* The line at which one block begins; 0 = in another file, or not known. */
uint32_t way_line(const struct function_map *map, uint64_t block);
