/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_spread: the confidence of the costs of each function, inlined call and loop in all contexts: for
 * exporters, whose trees have no rounds.
 */
#pragma once

#include "structure/scope.h"

#define FRAME_SPREAD_UNIT 16 /* in scope_frame: this is 1 */

/* Computes the spreads of the tree's frames from its rounds (report/spread.h), and removes those from its
 * metrics. */
void frame_spread_set(struct scope_tree *tree);
