/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split: two source loops that share one header block.
 *
 * `while (a) { while (b) f(); g(); }` may be compiled so that both loops jump back to one block, the test of
 * b: the graph then has one loop. But a cycle that does not execute the test of the outer loop, which is
 * written above it, is a loop of its own.
 */
#pragma once

#include "structure/atoms.h"

/* Adds such inner loops to the forest, after all others, and moves their atoms into them. */
void split_loops(const struct cfg *cfg, struct loop_forest *forest, struct atoms *atoms,
		 const struct contexts *contexts);
