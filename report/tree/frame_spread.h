/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_spread: how sure the costs of each function, inlined call and loop are, wherever it stands: for
 * exporters, whose trees have no rounds.
 */
#pragma once

#include "structure/scope.h"

#define FRAME_SPREAD_UNIT 16 /* in scope_frame: this is 1 */

/* Sets the spreads of the tree's frames by its rounds (report/spread.h), and takes those out of its metrics.
 */
void frame_spread_set(struct scope_tree *tree);
