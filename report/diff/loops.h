/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops: which loops of several profiles are one: by their order among the loops around which stand the same
 * function, inlined calls and loops.
 */
#pragma once

#include "report/diff/functions.h"
#include "report/diff/order.h"

/* A loop as it is known, among its siblings. */
struct loop_known {
	struct order_place place;
	uint32_t loop;
};

struct loops {
	struct functions *functions;
	VEC(struct scope_frame) all;                      /* as the first profile shows it */
	struct numbering paths;                           /* what stands around a loop */
	VEC(struct { VEC(struct loop_known) at; }) lists; /* by path: the loops right in it */
	struct numbering places;                          /* loops of which no structure is known */
	VEC(uint32_t) at_place;
};

void loops_init(struct loops *loops, struct functions *functions);
void loops_done(struct loops *loops);
/* functions: by frame, as functions_add gave them; ret: by frame the loop, UINT32_MAX for others. */
void loops_add(struct loops *loops, const struct functions_from *from, const struct scope_tree *tree,
	       const uint32_t *functions, uint32_t *ret);
