/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suspect: whether there is a function at an address without a stated start. The code is analysed as if it
 * were a function, and judged by its exits.
 */
#pragma once

#include "binary/flow/flow.h"
#include "binary/functions/function.h"

/* The function would end before `end`. flow contains its analysis afterwards. */
bool suspect_is_function(struct functions *functions, struct flow *flow, uint64_t at, uint64_t end);
