/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suspect: is what stands at an address a function, seen from its own code? It is analysed as if it were, and
 * its exits tell.
 */
#pragma once

#include "binary/flow/flow.h"
#include "binary/functions/function.h"

/* Nothing of it lies at `end` or behind. flow holds its analysis afterwards. */
bool suspect_is_function(struct functions *functions, struct flow *flow, uint64_t at, uint64_t end);
