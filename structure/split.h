/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split: two loops of the source that go back to one block.
 *
 * `while (a) { while (b) f(); g(); }` may be left with one block, the test of b, that both loops go back to:
 * the graph has one loop. But a way round that never asks the test of the outer loop, which is written above
 * it, is a loop of its own.
 */
#pragma once

#include "structure/atoms.h"

/* Adds such inner loops to the forest, behind all others, and puts their atoms into them. */
void split_loops(const struct cfg *cfg, struct loop_forest *forest, struct atoms *atoms,
		 const struct contexts *contexts);
